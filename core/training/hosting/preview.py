"""The forecast of a stored checkpoint for the newest candle of a market, without changing the model in training."""

from __future__ import annotations

import numpy as np

from core.domain.events import CheckpointForecast
from core.settings.tree import Settings
from core.storage.weights import CheckpointError
from core.training.hosting.checkpoint_writer import CheckpointWriter
from core.training.hosting.opening import build_engine
from core.training.online.market_session import MarketSession
from core.training.online.session import TrainingSession
from core.training.online.snapshot import (
    as_checkpoint_errors,
    learned_of,
    require_finite,
    require_sound_learning,
    require_sound_weights,
)

_SEED = 0
"""Irrelevant: everything drawn with it is replaced by the checkpoint's weights."""


def preview(
    session: TrainingSession, market: MarketSession, writer: CheckpointWriter, settings: Settings, checkpoint_id: str
) -> CheckpointForecast:
    """Its ghosts after the newest candle, or a sentence with the reason for their absence."""
    try:
        tensors, metadata, learned_until_ms = writer.load(checkpoint_id)
        engine = build_engine(settings, session.engine.device, _SEED, has_others=session.forecaster.panel.has_others)
        require_sound_weights(engine, tensors)
        require_sound_learning(session, tensors, metadata)
        with as_checkpoint_errors():
            require_finite(metadata["engine"])
            engine.restore(tensors, metadata["engine"])
    except CheckpointError as error:
        return CheckpointForecast(session.run_id, checkpoint_id, None, str(error))
    newest = market.newest_forecast
    if newest is None:
        return CheckpointForecast(session.run_id, checkpoint_id, None, "There is no candle to forecast from yet.")
    corrections = engine.corrections(*market.forecaster.inputs(np.array([market.place])))[0]
    quantiles = market.forecaster.with_learned(market.place, corrections, learned_of(market, tensors, metadata))
    made = market.issue_beside(quantiles, newest, int(metadata["step"]), checkpoint_id, learned_until_ms)
    return CheckpointForecast(session.run_id, checkpoint_id, made.event(session.run_id))
