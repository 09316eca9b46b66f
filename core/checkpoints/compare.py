"""Checkpoints side by side: which is the best by a metric, and the settings in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting, by its path, in each checkpoint; None if the checkpoint's settings are unknown."""

    path: str
    values: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        return len({value for value in self.values if value is not None}) > 1


_BETTER = {"adds": 1.0, "loss": -1.0, "direction": 1.0}
_RIGHT_COVERAGE = 0.9


def best_index(name: str, values: Sequence[float | None]) -> int | None:
    """The index of the best value; None for a single one, for equal ones, and for a metric without a better direction.

    name: the metric. values: None if unknown.
    """
    if name == "coverage":
        merits = [None if value is None else -abs(value - _RIGHT_COVERAGE) for value in values]
    elif name in _BETTER:
        merits = [None if value is None else value * _BETTER[name] for value in values]
    else:
        return None
    known = [merit for merit in merits if merit is not None]
    is_clear = len(known) > 1 and known.count(max(known)) == 1
    return merits.index(max(known)) if is_clear else None


def settings_side_by_side(settings: Sequence[Mapping[str, Any] | None]) -> list[SettingRow]:
    """All settings of any of them, by path: ``training.learning_rate``."""
    flat = [None if each is None else dict(_flattened(each)) for each in settings]
    paths = dict.fromkeys(path for each in flat if each is not None for path in each)
    return [SettingRow(path, tuple(None if each is None else each.get(path) for each in flat)) for path in paths]


def _flattened(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value) or "none"
    return "not set" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
