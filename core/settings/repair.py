"""Settings that were edited, damaged or written by another version: invalid ones are dropped with a warning."""

from __future__ import annotations

import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from core.settings.faults import sentence_of

_LONGEST_NAME = 80

T = TypeVar("T")


def back_up(path: Path) -> Path | None:
    """Copy a file that cannot be used as it is, before it is overwritten. None if the copy fails."""
    copy = path.with_name(f"{path.name}.bak")
    try:
        shutil.copy2(path, copy)
    except OSError:
        return None
    return copy


def validated(adapter: TypeAdapter[T], data: dict[str, Any], default: T) -> tuple[T, tuple[str, ...]]:
    """Build the tree without the invalid data. Returns it with a warning for each dropped value."""
    remaining, warnings = deepcopy(data), list[str]()
    while True:
        try:
            return adapter.validate_python(remaining), tuple(reversed(warnings))
        except ValidationError as error:
            problem = error.errors()[-1]  # dropping an entry of a list moves those after it
            if not _drop(remaining, problem["loc"]):
                return default, (f"The settings cannot be used ({sentence_of(problem)}); defaults are used.",)
            # A name from a file, made safe for a log and a terminal.
            letters = (letter if letter.isprintable() else "?" for letter in ".".join(map(str, problem["loc"])))
            name = "".join(letters)[:_LONGEST_NAME]
            warnings.append(f"Setting '{name}' was dropped: {sentence_of(problem)}.")


def _drop(node: Any, path: tuple[str | int, ...]) -> bool:
    """Remove the deepest existing key on `path`. False if there is none."""
    if not path or not (
        path[0] in node if isinstance(node, dict) else isinstance(node, list) and isinstance(path[0], int)
    ):
        return False
    if not _drop(node[path[0]], path[1:]):
        del node[path[0]]
    return True
