"""Runs with and without challengers, and what is the same in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from core.domain.candle import Candle
from core.domain.events import Incident
from core.domain.quantities import FloatArray
from core.forecast.experts import LOSS_ROWS, unpack_losses
from core.settings.tree import Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.hosting.service import TrainingService
from core.training.online.snapshot import pack
from tests.core.training import rigs

CANDLES = rigs.CANDLES[:41]


def settings_with(*challengers: str) -> Settings:
    return replace(rigs.SMALL, model=replace(rigs.SMALL.model, challengers=challengers))


@dataclass(frozen=True)
class Result:
    """What must be equal in two runs. losses: at horizon 1, [n, rows, Q]."""

    losses: FloatArray
    shown: list[float]
    digest: str
    model: Mapping[str, Tensor]
    scalars: Mapping[str, Any]
    """Of the checkpoint, without those of challengers: schedule, drift, generator and the rest."""
    incidents: list[str]


def run_over(root: Path, settings: Settings, candles: list[Candle] = CANDLES) -> Result:
    session = rigs.service(root, settings)
    events = rigs.feed(session, candles)
    return result_of(root, session, [event.what_happened for event in events if isinstance(event, Incident)])


def result_of(root: Path, session: TrainingService, incidents: list[str] | None = None) -> Result:
    """Ends the session."""
    tensors, scalars = pack(session._session, rigs.SMALL.model)
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    run_id = session.status().run_id
    session.close()
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        scores = list(RecordReader(db, run_id).scores())
    finally:
        db.close()
    losses = [unpack_losses(score.expert_losses) for score in scores]
    assert all(each is not None for each in losses)
    stacked = np.stack([each for each in losses if each is not None])
    digest = rigs.digest(root, run_id)
    scalars.pop("challengers", None)
    return Result(stacked, [score.loss for score in scores], digest, tensors, scalars, incidents or [])


def is_unchanged(result: Result, alone: Result) -> bool:
    """Whether all of a run is in the other, except for what is of its challengers."""
    np.testing.assert_array_equal(result.losses[:, : len(LOSS_ROWS)], alone.losses)
    np.testing.assert_array_equal(result.losses[:, -1, 0], alone.shown)
    assert result.scalars == alone.scalars
    of_each_expert = ("m000.past.forecasts", "m000.open_hits.hits")
    return all(
        bool((result.model[name][:, : tensor.shape[1]] == tensor).all())
        if name in of_each_expert
        else bool((result.model[name] == tensor).all())
        for name, tensor in alone.model.items()
    )
