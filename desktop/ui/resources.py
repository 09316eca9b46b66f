"""Paths of the shipped files, in a checkout and in the frozen program."""

from __future__ import annotations

import sys
from pathlib import Path

import resources


def icon_path() -> Path:
    return Path(resources.__file__).parent / "icon.svg"


def font_paths() -> tuple[Path, ...]:
    """Golden Sans, regular and bold: a part of DejaVu Sans, whose digits all have one width."""
    return tuple(sorted((Path(resources.__file__).parent / "fonts").glob("*.ttf")))


def docs_folder() -> Path | None:
    """The pages for people: beside the packages in a checkout and in the frozen program, else in the wheel's place.
    None if they are missing."""
    places = (Path(resources.__file__).parent.parent / "docs", Path(sys.prefix) / "share" / "ghostcandle" / "docs")
    return next((place for place in places if (place / "index.md").is_file()), None)
