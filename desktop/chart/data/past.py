"""A forecast whose target has closed: a row of a NumPy table, and its conversions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.events import QUANTILE_LEVELS, ForecastMode, ForecastScored, Ghost
from core.forecast.ghosts import GhostColumns, ghost_columns
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
"""step: -1 if unknown. checkpoint: see `Names`. hit: 1, 0, or -1 if not counted."""

Past = NDArray[np.void]
"""Of dtype `PAST`."""

MODES = tuple(ForecastMode)
_BAND = {
    name: QUANTILE_LEVELS.index(level)
    for name, level in (("low_90", 0.05), ("low_50", 0.25), ("high_50", 0.75), ("high_90", 0.95))
}
_PRICES = ("open", "high", "low", "close", *_BAND)
IS_LATER = np.array([mode not in (ForecastMode.LIVE, ForecastMode.SIMULATED) for mode in MODES])
"""By mode: catch-up, replay and recovery forecasts are made after the market moved on."""

Names = dict[str | None, int]
"""Checkpoint ids as numbers, to fit a table; none is 0."""


@dataclass(frozen=True, slots=True)
class PastForecast:
    """A forecast for a closed candle, and its outcome."""

    horizon: int
    origin_ms: int
    """The opening time of the candle it was made from."""
    mode: ForecastMode
    made_at_ms: int | None
    """None if only the score is known."""
    step: int | None
    checkpoint_id: str | None
    close: float
    actual_close: float
    inside_50: bool
    inside_90: bool
    direction_hit: bool | None
    after_gap: bool

    @property
    def error(self) -> float:
        """The relative error of the forecast close."""
        return self.actual_close / self.close - 1.0


def from_rows(rows: PastRows, names: Names) -> Past:
    """Stored rows as a table."""
    if not len(rows):  # the number of quantile levels is unknown without rows
        return np.zeros(0, PAST)
    drawn = ghost_columns(rows.quantiles, rows.before, rows.origin_close)
    table = _table(len(rows), rows, drawn, drawn.close_quantiles)
    table["made_at_ms"], table["step"], table["hit"] = rows.made_at_ms, rows.step, rows.direction_hit
    table["mode"] = [MODES.index(mode) for mode in rows.mode]
    table["checkpoint"] = [_number(each, names) for each in rows.checkpoint_id]
    return table


def from_event(scored: ForecastScored, names: Names) -> Past:
    """One row from the trainer's event."""
    ghost = scored.ghost
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return np.zeros(1, PAST)
    row = _table(1, scored, ghost, np.array([ghost.close_quantiles]))
    row["made_at_ms"], row["step"] = scored.made_at_ms or 0, -1 if scored.step is None else scored.step
    row["hit"] = -1 if scored.direction_hit is None else scored.direction_hit
    row["mode"], row["checkpoint"] = MODES.index(scored.mode), _number(scored.checkpoint_id, names)
    return row


def _table(
    count: int, facts: PastRows | ForecastScored, drawn: GhostColumns | Ghost, quantiles: NDArray[np.float64]
) -> Past:
    """The columns both sources share. Values that cannot be drawn (not finite) count as unknown."""
    table = np.zeros(count, PAST)
    for name in ("open", "high", "low", "close"):
        table[name] = getattr(drawn, name)
    for name, level in _BAND.items():
        table[name] = quantiles[:, level]
    for name in ("inside_50", "inside_90", "after_gap"):
        table[name] = getattr(facts, name)
    table["origin_ms"] = facts.origin_open_time_ms
    table["is_known"] = np.logical_and.reduce([np.isfinite(table[name]) for name in _PRICES])
    return table


def _number(name: str | None, names: Names) -> int:
    return names.setdefault(name, len(names))


def to_forecast(row: Past, horizon: int, actual_close: float, names: Names) -> PastForecast:
    """A table row (a single record) with names and units for display."""
    found = {name: row[name].item() for name in PAST.names or ()}
    is_made_known = found["step"] >= 0
    return PastForecast(
        horizon=horizon,
        mode=MODES[found["mode"]],
        made_at_ms=found["made_at_ms"] if is_made_known else None,
        step=found["step"] if is_made_known else None,
        checkpoint_id=list(names)[found["checkpoint"]],
        actual_close=actual_close,
        direction_hit=None if found["hit"] < 0 else bool(found["hit"]),
        **{name: found[name] for name in ("origin_ms", "close", "inside_50", "inside_90", "after_gap")},
    )
