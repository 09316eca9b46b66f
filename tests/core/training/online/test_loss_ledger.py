"""Training losses over rolling windows: best, mean and trend."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.events import Trend
from core.training.online.loss_ledger import LossLedger


def test_the_best_loss_is_that_of_a_window_not_of_a_single_step() -> None:
    losses = LossLedger()
    for index in range(60):
        losses.add(0.001 if index == 5 else 1.0)
    assert losses.best is not None and losses.best > 0.9
    assert losses.summary().current == pytest.approx(1.0)


def test_a_non_finite_loss_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        LossLedger().add(float("nan"))


@pytest.mark.parametrize(("slope", "trend"), [(-0.01, Trend.IMPROVING), (0.01, Trend.WORSENING), (0.0, Trend.FLAT)])
def test_trend(slope: float, trend: Trend) -> None:
    losses = LossLedger()
    noise = np.random.default_rng(0).normal(0.0, 0.05, 100)
    assert losses.summary().trend is Trend.UNKNOWN
    for index, error in enumerate(noise):
        losses.add(2.0 + slope * index + float(error))
    assert losses.summary().trend is trend


def test_spikes_that_leave_a_window_are_no_improvement() -> None:
    losses, noise = LossLedger(), np.random.default_rng(3).normal(0.0, 0.05, 100)
    for index, error in enumerate(noise):
        losses.add(30.0 if index % 8 == 0 and index < 50 else 2.0 + float(error))
    assert losses.summary().trend is Trend.FLAT


def test_losses_of_another_line_are_excluded_from_mean_and_trend() -> None:
    losses = LossLedger()
    for _ in range(100):
        losses.add(5.0)
    losses.begin_line()
    assert losses.windowed is losses.summary().current is None and losses.best == 5.0
    for number in range(1, 100):
        losses.add(1.0)
        assert losses.summary().current == 1.0 and losses.summary().trend is Trend.UNKNOWN
        assert (losses.windowed is None) is (number < 50)
    losses.add(1.0)
    assert losses.summary().trend is Trend.FLAT
    again = LossLedger()
    again.restore(losses.best, losses.newest, losses.of_line)
    assert again.summary() == losses.summary() and len(losses.newest) == 100, "spikes are detected from all of them"


def test_the_current_loss_is_a_mean_and_never_below_the_best_of_full_windows() -> None:
    generator = np.random.default_rng(2)
    ledger = LossLedger()
    for number in range(400):
        ledger.add(1.0 + 0.3 * float(generator.random()))
        summary = ledger.summary()
        assert summary.current is not None
        if number >= 49:
            assert summary.best is not None and summary.current >= summary.best - 1e-12


@settings(max_examples=20)
@given(losses=st.lists(st.floats(0.0, 9.0), max_size=240))
def test_all_losses_at_once_equal_one_by_one(losses: list[float]) -> None:
    one, all_ = LossLedger(), LossLedger()
    for loss in losses:
        one.add(loss)
    all_.extend(np.array(losses, dtype=np.float64))
    assert all_.newest == one.newest and (all_.best or 0.0) == pytest.approx(one.best or 0.0, rel=1e-12)
    assert (all_.best is None) == (one.best is None)
