"""Records to rows and back. Arrays go as little-endian float64 in C order, so that their bytes come back the same."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.events import CheckpointInfo, DriftFound, ForecastMode, Incident, Severity, StepDone
from core.regimes import MarketConditions, RegimeProbabilities
from core.storage.gradients import pack_gradients, unpack_gradients
from core.storage.records import StoredForecast, StoredScore

Row = tuple[Any, ...]

FLOAT = np.dtype("<f8")
_PLAIN_FORECAST = tuple(field.name for field in fields(StoredForecast))[:-2]
FORECAST_COLUMNS = (*_PLAIN_FORECAST, "expert_count", "quantity_count", "level_count", "quantiles", "experts")
SCORE_COLUMNS = tuple(field.name for field in fields(StoredScore) if field.name != "regime")
REGIME_COLUMNS = tuple(field.name for field in fields(RegimeProbabilities))
CONDITION_COLUMNS = ("origin_open_time_ms", *REGIME_COLUMNS, "novelty", "oddity")
_PLAIN_STEP = tuple(field.name for field in fields(StepDone))[1:-1]
STEP_COLUMNS = (*_PLAIN_STEP, "gradients")
INCIDENT_COLUMNS = tuple(field.name for field in fields(Incident))
DRIFT_COLUMNS = tuple(field.name for field in fields(DriftFound))[1:]
MARK_COLUMNS = ("is_pinned", "note", "name", "tags", "verified_at_ms", "fault")
"""What the window says of a checkpoint, in the order of `checkpoint_marks`."""
_NOT_STORED = ("is_best", "is_in_use", *MARK_COLUMNS)
CHECKPOINT_COLUMNS = tuple(field.name for field in fields(CheckpointInfo) if field.name not in _NOT_STORED)

_plain_forecast = attrgetter(*_PLAIN_FORECAST)
score_row = attrgetter(*SCORE_COLUMNS)
_plain_step = attrgetter(*_PLAIN_STEP)
incident_row = attrgetter(*INCIDENT_COLUMNS)
drift_row = attrgetter(*DRIFT_COLUMNS)
checkpoint_row = attrgetter(*CHECKPOINT_COLUMNS)


def forecast_row(forecast: StoredForecast) -> Row:
    """Columns in the order of FORECAST_COLUMNS. Raises ValueError where the arrays do not fit each other."""
    shape = forecast.experts.shape
    if len(shape) != 3 or forecast.quantiles.shape != shape[1:]:
        raise ValueError(
            f"experts are [expert, quantity, level] and quantiles [quantity, level], "
            f"were {shape} and {forecast.quantiles.shape}"
        )
    return (*_plain_forecast(forecast), *shape, _bytes(forecast.quantiles), _bytes(forecast.experts))


def to_forecast(row: Row) -> StoredForecast:
    """The inverse of `forecast_row`."""
    origin, horizon, inputs_until, made_at, mode, step, checkpoint_id, close, scale, *shape, quantiles, experts = row
    return StoredForecast(
        origin,
        horizon,
        inputs_until,
        made_at,
        ForecastMode(mode),
        step,
        checkpoint_id,
        close,
        scale,
        np.frombuffer(quantiles, FLOAT).reshape(shape[1:]),
        np.frombuffer(experts, FLOAT).reshape(shape),
    )


def to_score(row: Row) -> StoredScore:
    """The inverse of `score_row`; the columns of the regime follow, NULL where there is none."""
    values = dict(zip(SCORE_COLUMNS, row, strict=False))
    regime = row[len(SCORE_COLUMNS) :]
    for name in ("after_gap", "inside_50", "inside_90"):
        values[name] = bool(values[name])
    hit = values["direction_hit"]
    values |= {"mode": ForecastMode(values["mode"]), "direction_hit": None if hit is None else bool(hit)}
    return StoredScore(**values, regime=None if regime[0] is None else RegimeProbabilities(*regime))


def condition_row(origin_open_time_ms: int, conditions: MarketConditions) -> Row:
    """Columns in the order of CONDITION_COLUMNS."""
    regime = conditions.regime
    return (origin_open_time_ms, *attrgetter(*REGIME_COLUMNS)(regime), conditions.novelty, conditions.oddity)


def to_conditions(row: Row) -> MarketConditions:
    """The inverse of `condition_row`."""
    _, *regime, novelty, oddity = row
    return MarketConditions(RegimeProbabilities(*regime), novelty, oddity)


def step_row(step: StepDone) -> Row:
    """Columns in the order of STEP_COLUMNS; the run is not among them."""
    return (*_plain_step(step), pack_gradients(step.gradients))


def to_step(run_id: str, row: Row) -> StepDone:
    """The inverse of `step_row`."""
    values = dict(zip(STEP_COLUMNS, row, strict=True))
    values |= {"clipped": bool(values["clipped"]), "gradients": unpack_gradients(values["gradients"])}
    return StepDone(run_id=run_id, **values)


def to_incident(row: Row) -> Incident:
    """The inverse of `incident_row`."""
    run_id, at_ms, severity, *sentences = row
    return Incident(run_id, at_ms, Severity(severity), *sentences)


def to_checkpoint(row: Row) -> CheckpointInfo:
    """Columns of CHECKPOINT_COLUMNS, then MARK_COLUMNS. `is_best` and `is_in_use` are not known here."""
    values = dict(zip((*CHECKPOINT_COLUMNS, *MARK_COLUMNS), row, strict=True))
    values |= {name: bool(values[name]) for name in ("is_pinned", "is_known_good")}
    values["tags"] = to_tags(values["tags"])
    return CheckpointInfo(**values)


def to_tags(stored: str) -> tuple[str, ...]:
    """Tags as they are stored, joined by commas."""
    return tuple(tag for tag in stored.split(",") if tag)


def _bytes(array: NDArray[np.float64]) -> bytes:
    return np.ascontiguousarray(array, dtype=FLOAT).tobytes()
