"""The series behind the figures of `evaluate`, over time, for its report. No torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.domain.events import Estimate
from core.evaluation.assess import shares_below
from core.evaluation.columns import Origins
from core.evaluation.judged_scores import JUDGED_QUANTITIES, QuantityLosses, judged, judged_from_nth, read_columns
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
    origins, (from_ms, _) = Origins(*reader.origins()[:2]), judged_from_nth(reader.nth_origin)
    columns = read_columns(reader, run, sorted({1, horizons}))
    by_horizon = {horizon: judged(those, from_ms) for horizon, those in columns.items()}
    first = by_horizon[1]
    return Timeline(
        target_open_time_ms=first["target_open_time_ms"],
        inside_90=first["inside_90"],
        losses={name: first.of(quantity) for name, quantity in JUDGED_QUANTITIES.items()},
        reliability=tuple(
            Reliability(horizon, shares_below(those, origins, horizon)) for horizon, those in by_horizon.items()
        ),
    )
