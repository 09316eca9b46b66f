"""Records to rows and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from operator import attrgetter
from typing import Any

import numpy as np

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import DriftFound, Incident, Severity, StepDone
from core.domain.incident_kinds import IncidentKind
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import Quantiles
from core.storage.packing import (
    MODE_OF,
    MODES,
    digest_of,
    pack_drawn,
    pack_exact,
    pack_losses_of,
    unpack_drawn,
    unpack_exact,
    unpack_gradients,
)
from core.storage.record_tables import FORECASTS, STEPS
from core.storage.records import StoredForecast, StoredScore

Row = tuple[Any, ...]

_OWN = "~"
"""Replaces the run's id at the start of a checkpoint's id."""
REGIME_COLUMNS = tuple(field.name for field in fields(RegimeProbabilities))
NEXT_REGIME_COLUMNS = tuple(f"next_{name}" for name in REGIME_COLUMNS)
CONDITION_COLUMNS = ("origin_open_time_ms", *REGIME_COLUMNS, *NEXT_REGIME_COLUMNS)
_STEP_COLUMNS = tuple(name for name, _ in STEPS.columns if name != "run")
INCIDENT_COLUMNS = tuple(field.name for field in fields(Incident))
DRIFT_COLUMNS = tuple(field.name for field in fields(DriftFound))[1:]
MARK_COLUMNS = ("is_pinned", "note", "name", "tags", "verified_at_ms", "fault")
"""The window's marks of a checkpoint, in the order of `checkpoint_marks`."""
GAIN_COLUMNS = ("gain_low", "gain_high", "gain_candles")
"""In the order of `checkpoint_gains`."""
_NOT_STORED = ("is_best", "is_in_use", *GAIN_COLUMNS, *MARK_COLUMNS)
CHECKPOINT_COLUMNS = tuple(field.name for field in fields(CheckpointInfo) if field.name not in _NOT_STORED)

step_values = attrgetter(*_STEP_COLUMNS)
"""The values of a row of the table `steps`, after the run."""
incident_row = attrgetter(*INCIDENT_COLUMNS)
drift_row = attrgetter(*DRIFT_COLUMNS)
checkpoint_row = attrgetter(*CHECKPOINT_COLUMNS)
gain_row = attrgetter("checkpoint_id", *GAIN_COLUMNS)


def score_values(run: int, scores: Sequence[StoredScore], packed: bytes) -> tuple[Row, bytes | None]:
    """The scores of one target as a row, without its checksum, and the experts' losses if there are any. packed: the
    scores as `packed_scores` returns them. Raises ValueError as `pack_losses_of` does."""
    first = scores[0]
    values = (
        run,
        first.target_open_time_ms,
        first.version,
        MODES[first.mode],
        first.after_gap,
        first.scored_at_ms,
        packed,
    )
    return values, pack_losses_of(scores) or None


def forecast_values(run_id: str, run: int, of: StoredForecast) -> tuple[Row, bytes]:
    """One forecast: the row of the table `forecasts`, and its exact arrays. Raises ValueError if they do not fit each
    other."""
    shown, experts = of.quantiles.shown, of.quantiles.experts
    if shown.ndim != 3 or experts.ndim != 4 or experts.shape[1:] != shown.shape:
        raise ValueError(
            f"experts are [expert, horizon, quantity, level] and quantiles [horizon, quantity, level], "
            f"were {experts.shape} and {shown.shape}"
        )
    checkpoint_id = of.checkpoint_id
    if checkpoint_id is not None and checkpoint_id.startswith(run_id):
        checkpoint_id = f"{_OWN}{checkpoint_id.removeprefix(run_id)}"
    values = (
        run,
        of.origin_open_time_ms,
        of.inputs_until_ms,
        of.made_at_ms,
        MODES[of.mode],
        of.step,
        checkpoint_id,
        of.origin_close,
        of.scale,
        *shown.shape,
        pack_drawn(shown),
        digest_of(of.origin_open_time_ms, of.origin_close, of.scale, shown, experts),
    )
    return values, pack_exact(shown, experts)


def to_forecast(run_id: str, row: Row, exact: bytes | None) -> StoredForecast:
    """The inverse of `forecast_values`, for a row of FORECASTS. Without the exact arrays there are no experts, and the
    quantiles not drawn are NaN."""
    of = dict(zip(FORECASTS.names, row, strict=True))
    shape = of["horizons"], of["quantities"], of["levels"]
    if exact is None:
        quantiles = Quantiles(unpack_drawn(of["drawn"], *shape[1:]), np.empty((0, *shape)))
    else:
        quantiles = Quantiles(*unpack_exact(exact, shape))
    return StoredForecast(
        of["origin_open_time_ms"],
        of["inputs_until_ms"],
        of["made_at_ms"],
        MODE_OF[of["mode"]],
        of["step"],
        to_checkpoint_id(run_id, of["checkpoint_id"]),
        of["origin_close"],
        of["scale"],
        quantiles,
    )


def to_checkpoint_id(run_id: str, stored: str | None) -> str | None:
    """The full id, from its short form in the table `forecasts`."""
    return run_id + stored.removeprefix(_OWN) if stored is not None and stored.startswith(_OWN) else stored


def condition_row(
    origin_open_time_ms: int, conditions: RegimeProbabilities, next_regime: RegimeProbabilities | None = None
) -> Row:
    following = (None, None, None) if next_regime is None else astuple(next_regime)
    return (origin_open_time_ms, *astuple(conditions), *following)


def to_conditions(row: Row) -> tuple[RegimeProbabilities, RegimeProbabilities | None]:
    """The inverse, without the time."""
    _, *now, first, second, third = row
    return RegimeProbabilities(*now), None if first is None else RegimeProbabilities(first, second, third)


def to_step(run_id: str, row: Row, gradients: bytes | None) -> StepDone:
    """The step of a row of STEPS, and its detail if stored."""
    values = dict(zip(_STEP_COLUMNS, row[2:-1], strict=True))
    values |= {"clipped": bool(values["clipped"]), "gradients": unpack_gradients(gradients)}
    return StepDone(run_id=run_id, **values)


def to_incident(row: Row) -> Incident:
    run_id, at_ms, severity, kind, *sentences = row
    return Incident(run_id, at_ms, Severity(severity), IncidentKind(kind), *sentences)


def to_checkpoint(row: Row) -> CheckpointInfo:
    """Columns of CHECKPOINT_COLUMNS, GAIN_COLUMNS, MARK_COLUMNS. `is_best` and `is_in_use` are not known here."""
    values = dict(zip((*CHECKPOINT_COLUMNS, *GAIN_COLUMNS, *MARK_COLUMNS), row, strict=True))
    values |= {name: bool(values[name]) for name in ("is_pinned", "is_known_good")}
    values["tags"] = tuple(tag for tag in values["tags"].split(",") if tag)
    return CheckpointInfo(**values)
