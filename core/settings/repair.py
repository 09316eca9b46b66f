"""Reads settings that may be edited, damaged or from another version: invalid ones are dropped with a warning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from core.files.durable import write_durably
from core.settings.faults import UNKNOWN, sentence_of

LARGEST_BYTES = 1_000_000
"""A settings file with all settings has a few thousand."""
_MOST_KEPT_BYTES = 16_000_000
_MOST_WARNINGS = 50
_LONGEST_NAME = 80
_DEPTH_OF_A_SETTING = 2
"""The group's name and the setting's."""

T = TypeVar("T")


def read_json(path: Path) -> object:
    """The content of the file. Raises FileNotFoundError, and ValueError with a description of the fault."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise ValueError("it is larger than any settings can be")
        text = path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
        if not text.strip():
            raise ValueError("it is empty")
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is truncated or not JSON: line {error.lineno}, column {error.colno}") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ValueError("it is not text") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def keep_copy(path: Path, folder: Path) -> Path | None:
    """Copy an invalid file, once per content. None if the copy fails."""
    try:
        data = path.read_bytes()[:_MOST_KEPT_BYTES]
        kept = folder / f"{path.stem}-{hashlib.sha256(data).hexdigest()[:8]}{path.suffix}"
        if not kept.exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_durably(kept, data)
    except OSError:
        return None
    return kept


def validated(adapter: TypeAdapter[T], data: dict[str, Any], default: T) -> tuple[T, tuple[str, ...]]:
    """Build the tree without the invalid data. Returns it with a warning for each dropped key."""
    try:
        text = json.dumps(data, ensure_ascii=False)
        remaining: dict[str, Any] = json.loads(text.encode("utf-8", errors="replace"))  # no lone surrogates
    except (ValueError, TypeError, RecursionError):
        return default, ("The settings are nested too deeply, or hold what no file can; defaults are used.",)
    warnings: list[str] = []
    while True:
        try:
            return adapter.validate_python(remaining), _bounded(warnings)
        except ValidationError as error:
            dropped = _without(remaining, error)
            if not dropped:
                return default, (f"The settings cannot be used ({sentence_of(error.errors()[0])}); defaults are used.",)
            warnings += dropped


def _without(remaining: dict[str, Any], error: ValidationError) -> list[str]:
    """Drop everything that pydantic rejects, last first, as dropping a list entry moves those after it."""
    warnings = []
    for problem in reversed(error.errors()):
        path = [str(part) for part in problem["loc"]]
        if problem["type"] == "too_long" and (count := _shorten(remaining, path, problem["ctx"]["max_length"])):
            most = f"{problem['ctx']['max_length']:,}"
            warnings.append(
                f"Setting '{shown_name(path)}' has {count:,} entries, and may have {most}: the first {most} are used."
            )
        elif _drop(remaining, path):
            warnings.append(
                f"Setting '{shown_name(path)}' was dropped: {sentence_of(problem)}{_instead(path, problem)}."
            )
    return warnings[::-1]


def _instead(path: list[str], problem: Mapping[str, Any]) -> str:
    """The part of the warning about the default; empty for list entries and unknown settings."""
    if problem["type"] in UNKNOWN or len(path) > _DEPTH_OF_A_SETTING:
        return ""
    return "; its default is used" if len(path) == _DEPTH_OF_A_SETTING else "; its defaults are used"


def _bounded(warnings: list[str]) -> tuple[str, ...]:
    if len(warnings) <= _MOST_WARNINGS:
        return tuple(warnings)
    return (*warnings[:_MOST_WARNINGS], f"{len(warnings) - _MOST_WARNINGS:,} more settings were dropped.")


def shown_name(path: list[str]) -> str:
    """A name from a file, made safe for a sentence, a log and a terminal."""
    name = ".".join(path).encode("utf-8", errors="replace").decode()
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _drop(tree: dict[str, Any], path: list[str]) -> bool:
    """Remove the deepest existing key on `path`. False when another problem removed it already."""
    steps = _walked(tree, path)
    if not steps:
        return False
    parent, place = steps[-1]
    del parent[place]
    return True


def _shorten(tree: dict[str, Any], path: list[str], most: int) -> int:
    """Keep the first entries of a list. Returns how many it had; 0 where it is no list, or is gone."""
    steps = _walked(tree, path)
    entries = steps[-1][0][steps[-1][1]] if steps and len(steps) == len(path) else None
    if not isinstance(entries, list):
        return 0
    count = len(entries)
    del entries[most:]
    return count


def _walked(tree: dict[str, Any], path: list[str]) -> list[tuple[Any, str | int]]:
    """Each existing part of `path`: what holds it, and its key or number there."""
    node: Any = tree
    steps: list[tuple[Any, str | int]] = []
    for part in path:
        place: str | int = int(part) if isinstance(node, list) and part.isdigit() else part
        if not _has(node, place):
            break
        steps.append((node, place))
        node = node[place]
    return steps


def _has(node: object, place: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(place, int) and place < len(node)
    return isinstance(node, dict) and place in node
