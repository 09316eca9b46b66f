"""Where the shipped files lie, in a checkout and in the frozen program alike."""

from __future__ import annotations

from pathlib import Path

import resources


def icon_path() -> Path:
    """The window's icon."""
    return Path(resources.__file__).parent / "icon.svg"
