"""The series behind the figures of `evaluate`, over time, for its report. No torch."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.evaluation.judged_scores import JUDGED_QUANTITIES, JudgedScores, QuantityLosses, judged, judged_from
from core.forecast.score import mean
from core.storage.record_reader import RecordReader
from core.storage.runs import Run


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often the close was at or below each quantile shown `horizon` candles before, level by level."""

    horizon: int
    observed: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The judged forecasts of a run, one candle ahead, in time order: n of them.

    target_open_time_ms, inside_90: [n]. losses: by "close" and "range".
    """

    target_open_time_ms: NDArray[np.int64]
    inside_90: NDArray[np.bool_]
    losses: dict[str, QuantityLosses]
    reliability: tuple[Reliability, ...]
    """Of the nearest and the farthest horizon."""


def timeline_of(db: Database, run: Run, horizons: int) -> Timeline:
    """Of the scores that `evaluate_run` judges. Raises StorageError."""
    reader = RecordReader(db, run.run_id)
    opened, closes, _ = reader.origins()
    by_horizon = {horizon: judged(reader, run, horizon, judged_from(opened)) for horizon in sorted({1, horizons})}
    first = by_horizon[1]
    return Timeline(
        target_open_time_ms=first.target_open_time_ms,
        inside_90=np.array([score.inside_90 for score in first.scores], dtype=np.bool_),
        losses={name: first.of(quantity) for name, quantity in JUDGED_QUANTITIES.items()},
        reliability=tuple(
            Reliability(horizon, _observed(reader, horizon, those, opened, closes))
            for horizon, those in by_horizon.items()
        ),
    )


def _observed(
    reader: RecordReader, horizon: int, those: JudgedScores, opened: NDArray[np.int64], closes: FloatArray
) -> tuple[Estimate, ...]:
    """A target's close is that of the forecast made from it, so the newest target has one too."""
    rows = reader.past_forecasts(horizon, 0, sys.maxsize, sys.maxsize)
    counts = np.isin(rows.target_open_time_ms, those.target_open_time_ms) & np.isin(rows.target_open_time_ms, opened)
    actual = closes[np.searchsorted(opened, rows.target_open_time_ms[counts])]
    outcome = np.log(actual / rows.origin_close[counts])
    below = outcome[:, None] <= rows.quantiles[counts][:, Quantity.CLOSE]
    return tuple(mean(column, horizon) for column in below.astype(np.float64).T)
