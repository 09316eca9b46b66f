"""Sample paths: each quantity as in its band, all of them in the order of the past, and nothing of the future."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from core.domain.quantities import BAND_50, LEVELS, QUANTITIES, FloatArray, Quantity
from core.forecast.paths import FEWEST_TEMPLATES, MOST_TEMPLATES, NEEDED_CANDLES, PastOutcomes, has_trend, sample_paths
from tests.core.forecast.paths import HORIZONS, drawn, past, spread_quantiles
from tests.support.candles import MINUTE, START_MS

KOLMOGOROV_AT_1_PERCENT = 1.628 / np.sqrt(MOST_TEMPLATES)
NATURAL = arrays(np.float64, (HORIZONS, QUANTITIES, len(LEVELS)), elements=st.floats(1e-6, 0.02))


@given(NATURAL)
def test_each_close_has_the_distribution_of_its_band(steps: FloatArray) -> None:
    natural = np.cumsum(steps, axis=-1) - 0.03
    paths = drawn(natural)
    for horizon in range(HORIZONS):
        shares = (paths.close[:, horizon, None] <= natural[horizon, Quantity.CLOSE]).mean(axis=0)
        assert np.abs(shares - LEVELS).max() <= 1.0 / len(paths.close) + 1e-12 < KOLMOGOROV_AT_1_PERCENT


def test_ranges_have_the_distribution_of_their_band_where_no_body_is_longer() -> None:
    natural = spread_quantiles()
    natural[:, Quantity.RANGE] += 2.0
    paths = drawn(natural)
    ranges = np.log(paths.high - paths.low)
    for horizon in range(HORIZONS):
        shares = (ranges[:, horizon, None] <= natural[horizon, Quantity.RANGE]).mean(axis=0)
        assert np.abs(shares - LEVELS).max() < KOLMOGOROV_AT_1_PERCENT


def test_beyond_the_outermost_quantiles_the_tail_is_exponential() -> None:
    natural = spread_quantiles()
    paths = drawn(natural)
    inner, outer = natural[0, Quantity.CLOSE, -2:]
    for times in (1, 2, 3):  # from 90 to 95 % the tail was halved, and is halved again with each such step
        beyond = (paths.close[:, 0] > outer + times * (outer - inner)).mean()
        assert beyond == pytest.approx(0.05 / 2**times, abs=1.5 / len(paths.close))
        assert (paths.close[:, 0] < -outer - times * (outer - inner)).mean() == pytest.approx(
            beyond, abs=1.5 / len(paths.close)
        )


@given(NATURAL)
def test_every_candle_of_a_path_is_valid(steps: FloatArray) -> None:
    paths = drawn(np.cumsum(steps, axis=-1) - 0.03)
    top, bottom = np.maximum(paths.open, paths.close), np.minimum(paths.open, paths.close)
    assert (paths.high >= top).all() and (paths.low <= bottom).all()
    assert np.abs(paths.open[:, 0]).max() < 1e-12 and (paths.open[:, 1:] == paths.close[:, :-1]).all()


@pytest.mark.parametrize("memory", [-0.5, 0.0, 0.5])
def test_closes_follow_each_other_as_in_the_past(memory: float) -> None:
    close = np.log(past(2059, memory)[1][3])
    known = rank_correlation(close[1:-7] - close[:-8], close[8:] - close[:-8])
    paths = drawn(memory=memory, count=2059)
    assert rank_correlation(paths.close[:, 0], paths.close[:, -1]) == pytest.approx(known, abs=0.06)


def rank_correlation(one: FloatArray, other: FloatArray) -> float:
    return float(np.corrcoef(one.argsort().argsort(), other.argsort().argsort())[0, 1])


def test_the_same_record_gives_the_same_paths_and_older_candles_change_nothing() -> None:
    times, prices = past(NEEDED_CANDLES + 500)
    altered = prices.copy()
    altered[:, :500] *= 2.0
    first, again = (sample_paths(spread_quantiles(), times, each, MINUTE) for each in (prices, altered))
    assert first is not None and again is not None
    for name in ("open", "high", "low", "close"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    one_later = sample_paths(spread_quantiles(), times[:-1], prices[:, :-1], MINUTE)
    assert one_later is not None and not np.array_equal(one_later.high, first.high)


def test_without_quantiles_or_enough_of_a_past_there_are_none() -> None:
    thinned = spread_quantiles()
    thinned[:, Quantity.RANGE, 0] = np.nan
    assert sample_paths(thinned, *past(1200), MINUTE) is None
    fewest = FEWEST_TEMPLATES + 59 + HORIZONS
    assert sample_paths(spread_quantiles(), *past(fewest), MINUTE) is not None
    assert sample_paths(spread_quantiles(), *past(fewest - 1), MINUTE) is None
    assert sample_paths(spread_quantiles(), *past(5), MINUTE) is None


def test_no_template_reaches_over_a_hole() -> None:
    times, prices = past(fewest := FEWEST_TEMPLATES + 59 + HORIZONS)
    times[fewest - 4 :] += MINUTE.duration_ms
    assert sample_paths(spread_quantiles(), times, prices, MINUTE) is None


def test_there_is_a_path_for_each_of_whole_hundreds_of_half_of_the_past() -> None:
    assert len(drawn(count=FEWEST_TEMPLATES + 59 + HORIZONS).close) == FEWEST_TEMPLATES
    assert len(drawn(count=5 * FEWEST_TEMPLATES + 59 + HORIZONS).close) == 2 * FEWEST_TEMPLATES
    assert len(drawn(count=NEEDED_CANDLES).close) == MOST_TEMPLATES


def test_one_forecast_has_the_same_paths_alone_and_among_others() -> None:
    times, prices = past(NEEDED_CANDLES + 300)
    together = PastOutcomes(times, prices, MINUTE, HORIZONS)
    for row in (400, NEEDED_CANDLES + 50, NEEDED_CANDLES + 299):
        alone = sample_paths(spread_quantiles(), times[: row + 1], prices[:, : row + 1], MINUTE)
        among = together.paths(spread_quantiles(), row)
        assert alone is not None and among is not None
        for name in ("open", "high", "low", "close"):
            assert np.array_equal(getattr(alone, name), getattr(among, name))


@pytest.mark.parametrize(("tick", "scale"), [(0.05, 1.0), (0.01, 1.0), (0.25, 1.0), (1e-8, 1e-6), (5.0, 1e5)])
def test_the_tick_is_the_step_of_the_newest_prices(tick: float, scale: float) -> None:
    times, prices = past(NEEDED_CANDLES + 500)
    on_grid = np.round(prices * scale / tick) * tick
    on_grid[:, :499] += tick / 2.0  # on another grid, too long ago
    alone = sample_paths(spread_quantiles(), times, on_grid, MINUTE)
    among = PastOutcomes(times, on_grid, MINUTE, HORIZONS)
    at_end, earlier = (among.paths(spread_quantiles(), row) for row in (len(times) - 1, len(times) - 3))
    assert alone is not None and at_end is not None and earlier is not None
    assert alone.tick == at_end.tick == pytest.approx(tick / on_grid[3, -1])
    assert earlier.tick == pytest.approx(tick / 2.0 / on_grid[3, -3])


def test_computed_prices_have_no_tick() -> None:
    assert drawn().tick == 0.0


def test_equal_outcomes_are_in_an_order_that_ties_no_candles_together() -> None:
    """A market in which nothing moved: any order is as good as another, so candles are independent."""
    times, prices = past(NEEDED_CANDLES)
    paths = sample_paths(spread_quantiles(), times, np.ones_like(prices), MINUTE)
    assert paths is not None
    assert abs(rank_correlation(paths.close[:, 0], paths.close[:, 7])) < 0.06
    assert abs(rank_correlation(paths.close[:, 0], paths.high[:, 0] - np.maximum(paths.close[:, 0], 0.0))) < 0.1


def of_bid_and_ask(count: int, spread: float = 2e-3) -> tuple[NDArray[np.int64], FloatArray]:
    """Opening times and prices of candles around a constant price: trades alternate at random between bid and
    ask, so the first trade of a candle is often not at the price of the last one."""
    trades = np.random.default_rng(3).integers(0, 2, (count, 12)) * spread
    prices = np.stack([trades[:, 0], trades.max(axis=1), trades.min(axis=1), trades[:, -1]])
    return START_MS + MINUTE.duration_ms * np.arange(count), 100.0 * np.exp(prices)


def test_templates_follow_candles_that_closed_where_the_origin_did_in_its_range() -> None:
    times, prices = of_bid_and_ask(NEEDED_CANDLES)
    low, close = prices[2:]
    natural = spread_quantiles()
    natural[:, Quantity.CLOSE] += 1e-3  # what is known after a close at the bid
    row = int(np.flatnonzero((close == low) & (prices[1] > low))[-1])
    paths = sample_paths(natural, times[: row + 1], prices[:, : row + 1], MINUTE)
    assert paths is not None
    unit = np.log(prices[1] / low)[row - 59 : row + 1].mean()
    opened_apart = paths.open[:, 0] / unit
    assert (opened_apart < -0.1).mean() < 0.05, "hardly one template closed at the ask"
    assert 0.3 < (opened_apart > 0.5).mean() < 0.7, "half of all candles open at the ask"


def test_a_gap_makes_no_candle_taller_than_its_range() -> None:
    natural = spread_quantiles()
    natural[:, Quantity.CLOSE] *= 0.1
    natural[:, Quantity.RANGE] = np.log(2e-4)  # a tenth of bid to ask
    paths = sample_paths(natural, *of_bid_and_ask(600), MINUTE)
    assert paths is not None
    first = paths.high[:, 0] - paths.low[:, 0]
    assert first == pytest.approx(np.maximum(np.abs(paths.close[:, 0]), 2e-4))
    assert np.abs(paths.open[:, 0]).max() > 1e-4


def test_a_trend_is_shown_by_a_path_that_ends_on_its_side_and_only_if_it_is_far_enough() -> None:
    natural = spread_quantiles()
    usual_move = natural[0, Quantity.CLOSE, BAND_50[1]]
    for share, last, is_shown in ((0.6, 1.0, True), (-0.6, -1.0, True), (0.4, 1.0, False), (0.6, -1.0, False)):
        moved = natural.copy()
        moved[-1, Quantity.CLOSE] += share * usual_move
        path = np.linspace(0.0, last * usual_move, len(natural))
        assert has_trend(moved, path) is is_shown
    assert not has_trend(natural, np.zeros(len(natural)))
