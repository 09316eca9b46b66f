"""A data folder that a version before 1.0.0 left on 23 November 2026."""

from __future__ import annotations

import tarfile
from pathlib import Path

from core.storage.folder import DataFolder

_ARCHIVE = Path(__file__).parents[1] / "desktop/app/data/folder-2026-11-23.tar.xz"


def unpack(into: Path) -> DataFolder:
    with tarfile.open(_ARCHIVE) as archive:
        # Debian 12 has Python 3.11.2, which knows no filters: https://docs.python.org/3/library/tarfile.html
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        archive.extractall(into)
    return DataFolder(into)
