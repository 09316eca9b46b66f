from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain.candle import Candle, Inside
from core.domain.quantities import SMALLEST_RANGE, Quantity
from core.forecast.history import History
from core.forecast.panel import FEATURES, Panel
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk, without


def filled(candles: list[Candle], capacity: int = 64, horizons: int = 4) -> History:
    history = History.alone(MINUTE, capacity, horizons)
    for candle in candles:
        history.append(candle)
    return history


def test_targets_are_the_candles_after_the_origin() -> None:
    candles = random_walk(30)
    natural, closed, usable = filled(candles).targets(np.array([10]))
    assert closed.all() and usable.all()
    for horizon in range(1, 5):
        came = candles[10 + horizon]
        values = natural[0, horizon - 1]
        assert values[Quantity.CLOSE] == pytest.approx(math.log(came.close / candles[10].close), abs=1e-12)
        assert values[Quantity.BODY] == pytest.approx(math.log(came.close / came.open), abs=1e-12)
        assert values[Quantity.UPPER_WICK] == pytest.approx(math.log(came.high / max(came.open, came.close)))
        assert values[Quantity.LOWER_WICK] == pytest.approx(math.log(min(came.open, came.close) / came.low))
        assert values[Quantity.RANGE] == pytest.approx(math.log(math.log(came.high / came.low)))
        assert values[Quantity.VOLUME] == pytest.approx(math.log(came.volume), abs=0.7)


def test_an_open_target_is_not_closed() -> None:
    _, closed, _ = filled(random_walk(12)).targets(np.array([9]))
    assert closed.tolist() == [[True, True, False, False]]


def test_a_target_beyond_a_gap_is_not_usable() -> None:
    history = filled(without(random_walk(13), 11))
    _, closed, usable = history.targets(np.array([9]))
    assert closed.tolist() == [[True, True, False, False]]
    assert usable.tolist() == [[True, False, False, False]]


def test_a_feature_is_scaled_by_earlier_candles_only() -> None:
    """So a candle of twice the size has twice the feature, and twice the volume adds the logarithm of two."""
    *past, last = random_walk(40)
    last = dataclasses.replace(last, open=100.0, high=100.02, low=99.98, close=100.01)
    last = dataclasses.replace(last, volume=past[-1].volume)
    double = dataclasses.replace(last, high=100.02**2 / 100.0, low=99.98**2 / 100.0, close=100.01**2 / 100.0)
    double = dataclasses.replace(double, volume=2.0 * last.volume)
    once, twice = (filled([*past, candle]).features[-1].astype(float) for candle in (last, double))
    np.testing.assert_allclose(twice[1:4], 2.0 * once[1:4], rtol=1e-5)
    np.testing.assert_allclose(twice[4:6] - once[4:6], math.log(2.0), rtol=1e-5)


def test_features_are_bounded_and_finite_for_wild_candles() -> None:
    candles = random_walk(5)
    last = candles[-1].open_time_ms
    for index, price in enumerate((1e-8, 1e9, 1e-8, 5.0, 5.0, 5.0), start=1):
        candles.append(Candle(last + index * 60_000, price, price, price, price, 0.0))
    features = filled(candles).features
    assert features.shape == (11, FEATURES)
    assert np.isfinite(features).all() and np.abs(features).max() <= 6.0


def test_an_inside_changes_no_feature() -> None:
    def features(inside: Inside | None, *, reads_inside: bool) -> NDArray[np.float32]:
        panel = Panel(MINUTE, 1, 64, 2, reads_inside=reads_inside)
        for candle in random_walk(20):
            panel.append(ALONE, [dataclasses.replace(candle, inside=inside)])
        return panel.features(ALONE, np.array([19]))[0]

    plain = features(None, reads_inside=False)
    inside = Inside(5, 4e-6, 3e-6, 1e-6, 0.8e-6, 0.0, 0.0)
    for known in (inside, None):
        np.testing.assert_array_equal(features(known, reads_inside=True), plain)


def test_a_flat_market_has_a_scale_and_a_range() -> None:
    flat = [Candle(60_000 * index, 5.0, 5.0, 5.0, 5.0, 0.0) for index in range(30)]
    history = filled(flat)
    assert (history.column("scale") > 0.0).all()
    assert history.column("log_range")[-1] == pytest.approx(math.log(SMALLEST_RANGE))


def test_an_old_candle_is_refused() -> None:
    history = filled(random_walk(3))
    with pytest.raises(ValueError, match="does not come after"):
        history.append(random_walk(1)[0])


@pytest.mark.parametrize("stop", [1, 7, 50, 64, 100, 128, 150])
def test_a_restored_history_continues_bit_for_bit(stop: int) -> None:
    candles = random_walk(200)
    whole = filled(candles)
    resumed = History.alone(MINUTE, 64, 4)
    resumed.restore(filled(candles[:stop]).state())
    for candle in candles[stop:]:
        resumed.append(candle)
    assert whole.panel.observed == resumed.panel.observed == [200]
    for name in ("scale", "log_close", "volume_level"):
        np.testing.assert_array_equal(whole.column(name)[-64:], resumed.column(name)[-64:])
    np.testing.assert_array_equal(whole.features[-64:], resumed.features[-64:])


def test_windows_are_padded_on_the_left() -> None:
    history = filled(random_walk(3))
    features, is_real = history.windows(np.array([2]), 5)
    assert is_real.tolist() == [[False, False, True, True, True]]
    np.testing.assert_array_equal(features[0, 2:], history.features)
    assert (features[0, :2] == 0.0).all()
