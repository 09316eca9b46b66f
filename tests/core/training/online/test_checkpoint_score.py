"""The score saved with a checkpoint: that of its model; a diverged model does not keep an old score."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from core.domain.events import ForecastMode
from core.storage.records import StoredScore
from core.training.hosting.service import TrainingService
from core.training.online.score_ledger import ScoreLedger
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter

SCORE = StoredScore(0, 1, 0, ForecastMode.LIVE, False, 0.9, 0.8, 1.0, 0.9, 0.8, 1.0, True, True, True, 0.5, 0.5, 0)
CANDLES = 121


def multiply_weights(session: TrainingService, factor: float) -> None:
    with torch.no_grad():
        for weights in session._session.engine.model.parameters():
            weights.mul_(factor)


def test_the_score_is_the_models_and_separate_from_the_shown_forecast() -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(dataclasses.replace(SCORE, target_open_time_ms=number) for number in range(150))
    found = ledger.checkpoint_scores()
    assert found.model.value == pytest.approx(0.2) and found.shown == pytest.approx(0.1)


def test_a_diverged_model_never_ranks_above_its_former_self(tmp_path: Path, session_after: SessionAfter) -> None:
    """Nothing was scored since it diverged, so the ledger still has the scores of the healthy model."""
    session = session_after(tmp_path, CANDLES)
    healthy = rigs.saved_now(session)
    session._session.step += 1  # another state, as far as the writer is concerned
    multiply_weights(session, 30.0)
    wreck = rigs.saved_now(session)
    session.close()
    assert healthy.skill is not None and wreck.skill is not None
    assert wreck.skill < healthy.skill - 0.1 and not wreck.is_best


def test_weights_with_non_finite_forecasts_have_no_score(tmp_path: Path, session_after: SessionAfter) -> None:
    """They are finite, so they may be saved; what they forecast is not."""
    session = session_after(tmp_path, CANDLES)
    healthy = rigs.saved_now(session)
    session._session.step += 1
    multiply_weights(session, 1e30)
    wreck = rigs.saved_now(session)
    session.close()
    assert healthy.skill is not None and wreck.skill is None and not wreck.is_best
