"""The score saved with a checkpoint: that of its model; a diverged model does not keep an old score."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.events import Estimate, ForecastMode
from core.domain.quantities import QUANTITIES
from core.forecast.experts import NO_CHALLENGERS, pack_losses
from core.storage.records import StoredScore
from core.training.hosting.service import TrainingService
from core.training.online import checkpoint_score
from core.training.online.score_ledger import CheckpointScores, ScoreLedger
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


def ledger_of(n: int, gain: float) -> ScoreLedger:
    """Scores of n candles, a minute apart, with noise and this gain of the model."""
    ledger = ScoreLedger(ForecastMode.LIVE)
    for number, lost in enumerate(np.random.default_rng(7).gamma(4.0, 0.25, n)):
        without = np.full((len(NO_CHALLENGERS.loss_rows), QUANTITIES), lost)
        ledger.add(
            dataclasses.replace(
                SCORE,
                origin_open_time_ms=number * 60_000,
                target_open_time_ms=(number + 1) * 60_000,
                loss=lost * (1.0 - gain),
                range_loss=lost * (1.0 - gain),
                reference_loss=lost,
                range_reference_loss=lost,
                expert_losses=pack_losses(without),
            )
        )
    return ledger


def test_what_a_checkpoint_adds_is_the_runs_figure_while_there_is_one_line_of_weights() -> None:
    found = ledger_of(1_030, 0.1)
    adds = found.checkpoint_scores().gain
    assert adds == found.own_summary(1, 1, None).model_gain[0]  # type: ignore[index]
    assert adds.low is not None and adds.low > 0.0 and adds.value == pytest.approx(0.1)
    assert ledger_of(700, 0.1).checkpoint_scores().gain.low is None, "too few candles for a proof"


def test_candles_of_another_line_count_for_nothing_that_a_checkpoint_adds() -> None:
    """A block that has some of both is left out."""
    found = ledger_of(1_030, 0.1)
    found.begin_line(220 * 60_000)
    adds = found.checkpoint_scores().gain
    assert adds.n == (1_000 - 250 + 30) // 50 * 50 and adds.low is not None
    found.begin_line(1_010 * 60_000)
    assert found.checkpoint_scores().gain.n == 1_030 - 1_011


def test_several_markets_add_the_mean_of_those_with_an_interval(
    tmp_path: Path, session_after: SessionAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    gains = iter([Estimate(0.02, 0.01, 0.03, 900), Estimate(0.04, -0.01, 0.05, 800), Estimate(0.9, None, None, 40)])
    found = [CheckpointScores(Estimate(None, None, None, 0), None, gain) for gain in gains]
    monkeypatch.setattr(checkpoint_score, "score_checkpoint", lambda *_: found.pop(0))
    markets = [(ScoreLedger(ForecastMode.LIVE), None)] * 3
    adds = checkpoint_score.score_together(markets, None, 0).gain  # type: ignore[arg-type]
    assert (adds.value, adds.low, adds.high, adds.n) == pytest.approx((0.03, 0.0, 0.04, 900))


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
