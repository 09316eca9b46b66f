from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle, Inside, Interval
from core.domain.quantities import LEVELS, MEDIAN, QUANTITIES, FloatArray, Quantity
from core.forecast import reference_forecast
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.experts import EWMA, EXPERTS, FORECASTS, HAR, LAGS, MODEL, REFERENCE, REPEAT, REVERSE, SEASONAL
from core.forecast.history import History
from core.forecast.panel import Panel
from core.forecast.reference_forecast import REFERENCE_WINDOW
from core.forecast.score import pinball
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, START_MS, random_walk

HOUR = Interval.parse("1h")


class Watched:
    """A history and its baselines, fed candle by candle."""

    def __init__(
        self, horizons: int = 2, capacity: int = 2048, interval: Interval = MINUTE, *, reads_inside: bool = False
    ) -> None:
        self.history = History(Panel(interval, 1, capacity, horizons, reads_inside=reads_inside), 0)
        self.baselines = BaselineExperts(self.history.panel)

    def feed(self, candles: list[Candle]) -> None:
        for candle in candles:
            self.history.append(candle)
            self.baselines.observe(ALONE, None)

    def quantiles(self) -> FloatArray:
        """[E, H, Q, L]"""
        return np.moveaxis(self.baselines.quantiles(ALONE)[0], 1, 0)


def market(returns: FloatArray, widths: FloatArray, volumes: FloatArray, interval: Interval = MINUTE) -> list[Candle]:
    """Candles with these log returns, wicks in proportion to the widths, and volumes."""
    generator = np.random.default_rng(0)
    closes = 100.0 * np.exp(np.cumsum(returns))
    opens = np.concatenate([[100.0], closes[:-1]])
    wicks = np.exp(np.abs(generator.normal(0.0, 0.5, (2, returns.size))) * widths)
    top, bottom = np.maximum(opens, closes) * wicks[0], np.minimum(opens, closes) / wicks[1]
    return [
        Candle(START_MS + row * interval.duration_ms, *(float(column[row]) for column in columns))
        for columns in ((opens, top, bottom, closes, volumes),)
        for row in range(returns.size)
    ]


def losses(candles: list[Candle], skip: int, interval: Interval = MINUTE, *, reads_inside: bool = False) -> FloatArray:
    """Each expert's mean loss one step ahead, after the first `skip` candles, over the reference's: [E, Q]."""
    watched = Watched(1, interval=interval, reads_inside=reads_inside)
    total, forecasts = np.zeros((len(EXPERTS), QUANTITIES)), None
    for row, candle in enumerate(candles):
        watched.feed([candle])
        if forecasts is not None and row > skip:
            origin = np.array([len(watched.history) - 2])
            natural, _, _ = watched.history.targets(origin)
            factor, offset = watched.history.units(origin)
            outcome = np.broadcast_to(((natural - offset) / factor)[0, 0], total.shape)
            total += pinball(outcome, forecasts[:, 0]) * factor[0, 0]
        forecasts = watched.quantiles() if row >= skip else None
    with np.errstate(invalid="ignore"):  # a volume that never changes costs nobody anything
        return total / total[REFERENCE]


def test_a_12_lag_regression_and_repeat_last_find_momentum() -> None:
    generator = np.random.default_rng(1)
    noise = generator.normal(0.0, 1e-3, 500)
    returns = np.zeros(500)
    for row in range(1, 500):
        returns[row] = 0.6 * returns[row - 1] + noise[row]
    lost = losses(market(returns, np.full(500, 1e-3), np.ones(500)), 250)[:, Quantity.CLOSE]
    assert lost[LAGS] < 0.95
    assert lost[REPEAT] < lost[REVERSE]


def test_har_and_ewma_find_clustered_volatility_of_range_and_close() -> None:
    generator = np.random.default_rng(2)
    log_width = np.zeros(700)
    for row in range(1, 700):
        log_width[row] = 0.93 * log_width[row - 1] + generator.normal(0.0, 0.25)
    widths = 1e-3 * np.exp(log_width)
    lost = losses(market(generator.normal(0.0, 1.0, 700) * widths, widths, np.ones(700)), 400)
    close, spread = lost[:, Quantity.CLOSE], lost[:, Quantity.RANGE]
    assert close[HAR] < 0.98 and close[EWMA] < 1.0
    assert spread[HAR] < 0.93 and spread[EWMA] < 0.96 and spread[HAR] < spread[REPEAT]


def test_har_reads_the_variance_inside_candles_where_it_knows_it() -> None:
    """The next height follows from the variance inside, of which the candle's own height tells little."""
    generator = np.random.default_rng(5)
    log_width = np.zeros(900)
    for row in range(1, 900):
        log_width[row] = 0.95 * log_width[row - 1] + generator.normal(0.0, 0.3)
    widths = 1e-3 * np.exp(log_width)
    candles = market(generator.normal(0.0, 1.0, 900) * widths, widths, np.ones(900))
    variances = (4.0 * widths**2).tolist()
    insides = [Inside(5, each, each / 2, each / 2, each / 5, 0.0, 0.0) for each in variances]
    known = [dataclasses.replace(candle, inside=of) for candle, of in zip(candles, insides, strict=True)]
    sometimes = [candle if row % 3 else each for row, (candle, each) in enumerate(zip(known, candles, strict=True))]
    lost = [losses(each, 500, reads_inside=True)[HAR, Quantity.RANGE] for each in (known, sometimes, candles)]
    assert lost[0] < lost[1] < lost[2]


def test_seasonal_expert_finds_a_busy_hour() -> None:
    generator = np.random.default_rng(3)
    hour = np.arange(480) % 24
    volumes = np.exp(np.where(hour % 6 == 0, 1.5, 0.0) + generator.normal(0.0, 0.3, 480))
    candles = market(generator.normal(0.0, 1e-3, 480), np.full(480, 1e-3), volumes, HOUR)
    assert losses(candles, 300, HOUR)[SEASONAL, Quantity.VOLUME] < 0.7


def test_ewma_equals_its_definition() -> None:
    candles = random_walk(REFERENCE_WINDOW + 20, seed=5)
    watched = Watched()
    watched.feed(candles)
    spread = pd.Series([math.log(math.log(candle.high / candle.low)) for candle in candles])
    centre = spread.ewm(span=10).mean()
    errors = (spread - centre.shift(1)).iloc[-REFERENCE_WINDOW:]
    level = float(watched.history.column("range_level")[-1])
    expected = centre.iloc[-1] - level + np.quantile(errors, LEVELS)
    np.testing.assert_allclose(watched.quantiles()[EWMA, 0, Quantity.RANGE], expected, atol=1e-5)


def test_repeat_and_reverse_last_move_the_reference_by_the_newest_return() -> None:
    candles = random_walk(200, seed=6)
    watched = Watched(horizons=3)
    watched.feed(candles)
    forecasts = watched.quantiles()[:, :, Quantity.CLOSE, MEDIAN]
    scale = float(watched.history.column("scale")[-1])
    step = math.log(candles[-1].close / candles[-2].close) / scale
    root = np.sqrt([1.0, 2.0, 3.0])
    np.testing.assert_allclose((forecasts[REPEAT] - forecasts[REFERENCE]) * root, step * np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(
        (forecasts[REVERSE] - forecasts[REFERENCE]) * root, -step * np.array([1.0, 0.0, 1.0]), atol=1e-12
    )


@pytest.mark.parametrize("count", [1, 2, 5, 29, 31, 60])
def test_experts_forecast_from_the_first_candle(count: int) -> None:
    watched = Watched(horizons=8)
    watched.feed(random_walk(count))
    forecasts = watched.quantiles()
    assert np.isfinite(forecasts).all()
    assert (np.diff(forecasts, axis=-1) >= 0.0).all()
    silent = ~np.broadcast_to(FORECASTS[:, None, :, None], forecasts.shape)
    np.testing.assert_array_equal(forecasts[silent], np.broadcast_to(forecasts[REFERENCE], forecasts.shape)[silent])


def test_flat_candles_without_volume_are_accepted() -> None:
    flat = [
        dataclasses.replace(candle, open=7.0, high=7.0, low=7.0, close=7.0, volume=0.0) for candle in random_walk(90)
    ]
    watched = Watched()
    watched.feed(flat)
    forecasts = watched.quantiles()
    assert np.isfinite(forecasts).all() and (np.diff(forecasts, axis=-1) >= 0.0).all()


def test_a_jump_across_a_gap_is_not_learned_from() -> None:
    candles = random_walk(160, seed=8)
    raised = {name: 1.3 * getattr(candles[150], name) for name in ("open", "high", "low", "close")}
    jump = [dataclasses.replace(candles[150], **raised)]
    watched, without = Watched(), Watched()
    watched.feed(candles[:140])
    before = watched.quantiles()
    watched.feed(jump)
    without.feed(candles[:140])
    without.feed([candles[150]])
    assert np.abs(watched.quantiles()[LAGS, 0, Quantity.CLOSE] - before[LAGS, 0, Quantity.CLOSE]).max() < 0.3
    np.testing.assert_allclose(watched.quantiles()[:, :, :4], without.quantiles()[:, :, :4])


def test_a_restored_state_gives_the_same_forecasts() -> None:
    candles = random_walk(160, seed=9)
    whole, first = Watched(), Watched()
    whole.feed(candles)
    first.feed(candles[:120])
    second = Watched()
    second.history.restore(first.history.state())
    second.baselines.restore(first.baselines.state(0), 0)
    second.feed(candles[120:])
    np.testing.assert_array_equal(second.quantiles(), whole.quantiles())


@settings(max_examples=2, deadline=None)
@given(moment=st.integers(40, 110), seed=st.integers(0, 50))
def test_later_candles_change_no_expert_forecast(moment: int, seed: int) -> None:
    """The market changes after a moment and starts with a gap. The forecasts are compared again at the very end."""
    candles, other = random_walk(120, seed), random_walk(120, seed + 100)
    later = [dataclasses.replace(candle, volume=50.0 * candle.volume) for candle in other[moment + 3 :]]
    first, forecasts = forecasts_of_all(candles)
    _, of_another_market = forecasts_of_all([*candles[: moment + 1], *later])
    np.testing.assert_array_equal(forecasts, first)
    np.testing.assert_array_equal(of_another_market[: moment + 1], forecasts[: moment + 1])
    for expert in range(len(EXPERTS)):
        if expert not in (MODEL, REFERENCE):
            quantity = int(FORECASTS[expert].argmax())
            assert (of_another_market[-1][expert, :, quantity] != forecasts[-1][expert, :, quantity]).any(), EXPERTS[
                expert
            ]


def forecasts_of_all(candles: list[Candle]) -> tuple[FloatArray, FloatArray]:
    """Forecasts of all experts at each candle [n, E, H, Q, L]: copied at once, and the original arrays at the end."""
    watched = Watched()
    copies, arrays = [], []
    for candle in candles:
        watched.feed([candle])
        arrays.append(watched.quantiles())
        copies.append(arrays[-1].copy())
    return np.stack(copies), np.stack(arrays)


def test_a_trimmed_history_gives_the_same_forecasts_as_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_forecast, "REFERENCE_WINDOW", 100)  # the reference reads the furthest back
    candles = random_walk(300, seed=10)
    small, large = Watched(capacity=102), Watched()
    small.feed(candles)
    large.feed(candles)
    assert len(small.history) < len(large.history) == 300
    np.testing.assert_array_equal(small.quantiles(), large.quantiles())
