from __future__ import annotations

from functools import partial
from statistics import NormalDist

import numpy as np
import pytest

from core.domain.quantities import BAND_50, BAND_90, LEVELS, QUANTITIES
from core.forecast.calibrate import AdaptiveCalibration
from core.forecast.score import pinball
from tests.core.forecast.alone import ALONE, at_horizon

NORMAL = np.array([-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645])

_slow = partial(pytest.param, marks=pytest.mark.slow)


def applied(calibration: AdaptiveCalibration, quantiles: np.ndarray) -> np.ndarray:
    """[H, Q, L] in and out."""
    return calibration.apply(ALONE, quantiles[None])[0]


def update(
    calibration: AdaptiveCalibration, horizon: int, shown: np.ndarray, outcome: np.ndarray, horizons: int = 1
) -> None:
    """One outcome [Q] of one horizon; shown: [Q, L]."""
    all_shown, outcomes = (np.broadcast_to(each, (1, horizons, *each.shape)) for each in (shown, outcome))
    calibration.update(ALONE, all_shown, outcomes, at_horizon(horizon, horizons))


def fast() -> AdaptiveCalibration:
    """Four times as fast as by default, for a result after a quarter of the candles."""
    return AdaptiveCalibration(1, 1, rate=0.004, bias_rate=0.001)


def coverage(scale: np.ndarray, seed: int, calibration: AdaptiveCalibration) -> tuple[np.ndarray, np.ndarray]:
    """Whether each outcome lay in the 50 % and the 90 % band; the true scale is `scale` times the assumed one."""
    generator = np.random.default_rng(seed)
    believed = np.tile(NORMAL, (1, QUANTITIES, 1))
    inside = np.zeros((2, len(scale)), dtype=bool)
    for index, factor in enumerate(scale):
        shown = applied(calibration, believed)[0]
        outcome = generator.normal(0.0, factor, QUANTITIES)
        for row, band in enumerate((BAND_50, BAND_90)):
            inside[row, index] = shown[0, band[0]] <= outcome[0] <= shown[0, band[1]]
        update(calibration, 1, shown, outcome)
    return inside[0], inside[1]


@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
def test_calibrated_bands_have_their_coverage_for_any_input_quantiles(factor: float) -> None:
    inside_50, inside_90 = coverage(np.full(3000, factor), 1, fast())
    assert inside_50[1000:].mean() == pytest.approx(0.5, abs=0.03)
    assert inside_90[1000:].mean() == pytest.approx(0.9, abs=0.02)


def test_coverage_stays_close_in_every_window_of_500_under_drift() -> None:
    """Volatility scaling removes the jumps; a slow error of the scale is left for calibration."""
    scale = np.exp(0.2 * np.sin(np.linspace(0.0, 4.0 * np.pi, 2000)))
    _, inside_90 = coverage(scale, 2, AdaptiveCalibration(1, 1))
    windows = np.convolve(inside_90, np.ones(500) / 500, mode="valid")
    assert windows.min() >= 0.84 and windows.max() <= 0.97


def test_a_bias_is_removed_without_widening_the_bands() -> None:
    generator, calibration = np.random.default_rng(4), fast()
    believed = np.tile(NORMAL, (1, QUANTITIES, 1))
    for _ in range(2500):
        update(calibration, 1, applied(calibration, believed)[0], generator.normal(0.3, 1.0, QUANTITIES))
    shown = applied(calibration, believed)[0]
    np.testing.assert_allclose(shown[:, 3], 0.3, atol=0.12)
    width = shown[:, BAND_90[1]] - shown[:, BAND_90[0]]
    assert width.mean() < 1.05 * (NORMAL[-1] - NORMAL[0])


@pytest.mark.parametrize("flat", [_slow(0.3), 0.7, 0.95])
def test_a_correct_band_stays_correct_with_many_unchanged_closes(flat: float) -> None:
    """Of the others, a standard normal share: the true quantiles of the mixture are known, and are what is believed."""
    generator, calibration = np.random.default_rng(11), AdaptiveCalibration(1, 1)
    believed = np.tile(flat_quantiles(flat), (1, QUANTITIES, 1))
    inside = []
    for _ in range(4_500):
        shown = applied(calibration, believed)[0]
        outcome = generator.normal(size=QUANTITIES) * (generator.random(QUANTITIES) >= flat)
        inside.append((shown[:, BAND_90[0]] <= outcome) & (outcome <= shown[:, BAND_90[1]]))
        update(calibration, 1, shown, outcome)
    wanted = max(0.9, flat)
    assert np.mean(inside[2_000:]) == pytest.approx(wanted, abs=0.012)


@pytest.mark.parametrize("none", [0.0, _slow(0.4), 0.55, _slow(0.63), 0.9])
def test_correct_wick_quantiles_are_kept_with_many_wickless_candles(none: float) -> None:
    """The outcome is never below 0, so on a market that often has no wick there is nothing on the other side of a tie
    to hold the median down: it was lifted off 0, and then every candle without a wick lay below all lower levels."""
    generator, calibration = np.random.default_rng(12), AdaptiveCalibration(1, 1)
    right = wick_quantiles(none)
    log_size, lost = 0.0, []
    for _ in range(4_000):
        log_size = 0.98 * log_size + 0.2 * generator.normal()
        believed = np.tile(np.exp(log_size) * right, (1, QUANTITIES, 1))
        shown = applied(calibration, believed)[0]
        wick = np.abs(generator.normal(size=QUANTITIES)) * (generator.random(QUANTITIES) >= none)
        outcome = np.exp(log_size) * wick
        lost.append((pinball(outcome, shown).sum(), pinball(outcome, believed[0]).sum()))
        update(calibration, 1, shown, outcome)
    of_shown, of_right = np.array(lost)[1_000:].sum(axis=0)
    assert of_shown < 1.01 * of_right


def wick_quantiles(none: float) -> np.ndarray:
    """Of 0 with this probability, else the size of a standard normal number: [level]."""
    shares = np.maximum(LEVELS - none, 0.0) / (1.0 - none)
    return np.array([NormalDist().inv_cdf(0.5 + 0.5 * share) for share in shares])


def flat_quantiles(flat: float) -> np.ndarray:
    """Of 0 with this probability, else a standard normal number: [level]."""
    moving = 1.0 - flat
    below = np.where(LEVELS < 0.5, LEVELS, 1.0 - LEVELS) / moving
    sizes = [-NormalDist().inv_cdf(share) if share < 0.5 else 0.0 for share in below]
    return np.sign(LEVELS - 0.5) * sizes


def test_quantiles_never_cross() -> None:
    calibration = AdaptiveCalibration(1, 1)
    generator = np.random.default_rng(3)
    believed = np.tile(NORMAL, (1, QUANTITIES, 1))
    for _ in range(300):
        shown = applied(calibration, believed)[0]
        assert (np.diff(shown, axis=-1) >= 0.0).all()
        assert shown.shape == (QUANTITIES, len(LEVELS))
        update(calibration, 1, shown, generator.standard_t(1.5, QUANTITIES))


def test_horizons_are_calibrated_separately() -> None:
    calibration = AdaptiveCalibration(3, 1)
    believed = np.tile(NORMAL, (3, QUANTITIES, 1))
    for _ in range(50):
        update(calibration, 2, applied(calibration, believed)[1], np.full(QUANTITIES, 3.0), horizons=3)
    shown = applied(calibration, believed)
    np.testing.assert_array_equal(shown[[0, 2]], believed[[0, 2]])
    assert (shown[1] > believed[1])[:, 3:].all()


def test_outcomes_of_several_horizons_at_once_teach_what_they_teach_one_by_one() -> None:
    generator = np.random.default_rng(7)
    together, one_by_one = AdaptiveCalibration(8, 1), AdaptiveCalibration(8, 1)
    believed = np.tile(NORMAL, (8, QUANTITIES, 1))
    for horizons in ([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 5], [8]) * 20:
        shown = applied(together, believed)
        outcomes = generator.normal(size=(8, QUANTITIES)) * generator.integers(0, 2)  # with ties
        together.update(ALONE, shown[None], outcomes[None], np.isin(np.arange(1, 9), horizons)[None])
        for horizon in horizons:
            update(one_by_one, horizon, shown[horizon - 1], outcomes[horizon - 1], horizons=8)
    np.testing.assert_array_equal(applied(together, believed), applied(one_by_one, believed))
