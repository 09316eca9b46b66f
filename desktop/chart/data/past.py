"""One forecast whose target has closed, as it is kept: a row of a NumPy table, and its translations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.events import QUANTILE_LEVELS, ForecastMade, ForecastMode, ForecastScored
from core.forecast.ghosts import ghost_columns
from core.storage.records import PastRows

PAST = np.dtype(
    [
        ("is_known", "?"),
        ("origin_ms", "i8"),
        ("made_at_ms", "i8"),
        ("step", "i8"),
        ("checkpoint", "i4"),
        ("mode", "i1"),
        ("open", "f8"),
        ("high", "f8"),
        ("low", "f8"),
        ("close", "f8"),
        ("low_90", "f8"),
        ("low_50", "f8"),
        ("high_50", "f8"),
        ("high_90", "f8"),
        ("inside_50", "?"),
        ("inside_90", "?"),
        ("after_gap", "?"),
        ("hit", "i1"),
    ]
)
"""step and checkpoint: -1 where not known (a checkpoint: or none was saved yet). hit: 1, 0, or -1 where not counted."""

Past = NDArray[np.void]
"""Of dtype `PAST`."""

MODES = tuple(ForecastMode)
_BAND = {
    name: QUANTILE_LEVELS.index(level)
    for name, level in (("low_90", 0.05), ("low_50", 0.25), ("high_50", 0.75), ("high_90", 0.95))
}
_PRICES = ("open", "high", "low", "close", *_BAND)
_MADE_WHILE_WATCHING = frozenset({ForecastMode.LIVE, ForecastMode.SIMULATED})
LATER_MODES = tuple(MODES.index(mode) for mode in MODES if mode not in _MADE_WHILE_WATCHING)
"""Catch-up, replay, recovery: what was forecast after the market had gone on."""
_IS_LATER = np.array([number in LATER_MODES for number in range(len(MODES))])


def are_later(rows: Past) -> NDArray[np.bool_]:
    """Which were made in one of `LATER_MODES`."""
    return np.asarray(_IS_LATER[rows["mode"]], dtype=np.bool_)


class Names:
    """Checkpoint ids as numbers, so that they fit a table; None is -1."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def number(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]

    def name(self, number: int) -> str | None:
        return None if number < 0 else self._names[number]


@dataclass(frozen=True, slots=True)
class PastForecast:
    """What was forecast for one closed candle, and how it came out."""

    horizon: int
    origin_ms: int
    """The opening time of the candle that it was made from."""
    mode: ForecastMode
    made_at_ms: int | None
    """None where only the score is known yet."""
    step: int | None
    checkpoint_id: str | None
    close: float
    band_50: tuple[float, float]
    band_90: tuple[float, float]
    actual_close: float
    inside_50: bool
    inside_90: bool
    direction_hit: bool | None
    after_gap: bool
    kept: tuple[int, str] | None = None
    """Step and id of the checkpoint nearest to it that is kept: its own where that is. None: none is, or not known."""

    @property
    def error(self) -> float:
        """By which share the close missed the forecast."""
        return self.actual_close / self.close - 1.0


def from_rows(rows: PastRows, names: Names) -> Past:
    """Rows of the record as a table. What cannot be drawn (a number that is not finite) is not known."""
    table = np.zeros(len(rows), PAST)
    if not len(rows):
        return table
    drawn = ghost_columns(rows.quantiles, rows.before, rows.origin_close)
    for name in ("open", "high", "low", "close"):
        table[name] = getattr(drawn, name)
    for name, level in _BAND.items():
        table[name] = drawn.close_quantiles[:, level]
    for name in ("made_at_ms", "step", "inside_50", "inside_90", "after_gap"):
        table[name] = getattr(rows, name)
    table["origin_ms"], table["hit"] = rows.origin_open_time_ms, rows.direction_hit
    table["mode"] = [MODES.index(mode) for mode in rows.mode]
    table["checkpoint"] = [names.number(each) for each in rows.checkpoint_id]
    table["is_known"] = np.logical_and.reduce([np.isfinite(table[name]) for name in _PRICES])
    return table


def from_event(scored: ForecastScored, made: ForecastMade | None, names: Names) -> Past | None:
    """One row of what the trainer told; None for a forecast that cannot be drawn."""
    ghost = scored.ghost
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return None
    row = np.zeros(1, PAST)
    for name in ("open", "high", "low", "close"):
        row[name] = getattr(ghost, name)
    for name, level in _BAND.items():
        row[name] = ghost.close_quantiles[level]
    for name in ("inside_50", "inside_90", "after_gap"):
        row[name] = getattr(scored, name)
    row["origin_ms"], row["mode"] = scored.origin_open_time_ms, MODES.index(scored.mode)
    row["hit"] = -1 if scored.direction_hit is None else int(scored.direction_hit)
    row["step"], row["checkpoint"] = -1, -1
    if made is not None:
        row["step"], row["made_at_ms"] = made.step, made.made_at_ms
        row["checkpoint"] = names.number(made.checkpoint_id)
    row["is_known"] = all(math.isfinite(row[name][0]) for name in _PRICES)
    return row if row["is_known"][0] else None


def take_maker(row: Past, before: Past) -> None:
    """Let a later version of a score keep what was known of who made the forecast. row: one row; before: a record."""
    for name in ("made_at_ms", "step", "checkpoint"):
        row[name] = before[name]


def to_forecast(row: Past, horizon: int, actual_close: float, names: Names) -> PastForecast:
    """A row of the table, for people. row: a single record."""
    step, hit = int(row["step"]), int(row["hit"])
    return PastForecast(
        horizon=horizon,
        origin_ms=int(row["origin_ms"]),
        mode=MODES[int(row["mode"])],
        made_at_ms=None if step < 0 else int(row["made_at_ms"]),
        step=None if step < 0 else step,
        checkpoint_id=names.name(int(row["checkpoint"])),
        close=float(row["close"]),
        band_50=(float(row["low_50"]), float(row["high_50"])),
        band_90=(float(row["low_90"]), float(row["high_90"])),
        actual_close=actual_close,
        inside_50=bool(row["inside_50"]),
        inside_90=bool(row["inside_90"]),
        direction_hit=None if hit < 0 else bool(hit),
        after_gap=bool(row["after_gap"]),
    )
