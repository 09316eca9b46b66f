"""What decides the bytes of a forecast besides the plan: the program and torch. Runs on workers too."""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path

_SOURCES = ("core", "models")


@functools.cache
def program_version() -> str:
    """The version, and a digest of the sources where there are any: ``1.0.0+1f0a63c2b9d4``."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    sources = sorted(path for package in _SOURCES for path in (root / package).rglob("*.py"))
    for path in sources:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{_version('ghostcandle')}+{digest.hexdigest()[:12]}" if sources else _version("ghostcandle")


def torch_version() -> str:
    """Without an import of it, and without the build: a CPU worker and a CUDA worker may share a release."""
    return _version("torch").partition("+")[0]


def versions() -> tuple[str, str]:
    """Of the program and of torch."""
    return program_version(), torch_version()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
