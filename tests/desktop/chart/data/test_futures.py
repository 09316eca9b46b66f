"""Sample paths and chances are those of the shown forecast, from the candles up to its origin, computed once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade
from core.domain.quantities import MEDIAN, Quantity
from core.forecast.chance import WITHIN, Chances, nothing_learned
from core.forecast.paths import Paths, most_central, sample_paths
from desktop.chart.data.ghosts import SHOWN_PATHS, Found, Futures
from tests.core.forecast.paths import spread_quantiles
from tests.desktop.chart.support import candle, forecast_after, forecast_with_paths, random_series

SERIES = random_series(400)
MADE = forecast_with_paths(SERIES)


def computed(made: ForecastMade = MADE, series: CandleSeries = SERIES) -> Futures:
    futures = Futures()
    make = futures.begin(made, series)
    assert make is not None
    make()
    return futures


def result() -> Found:
    found = computed().of(MADE, SERIES)
    assert found is not None
    return found


def wanted() -> Paths:
    found = sample_paths(spread_quantiles(), SERIES.open_time_ms, SERIES.values[:4], SERIES.interval)
    assert found is not None
    return found


@pytest.mark.parametrize("share", [-0.002, 0.0, 0.001])
def test_chances_are_those_of_the_forecasts_paths(share: float) -> None:
    price = MADE.origin_close * np.exp(share)
    found, chances = computed().at(price, MADE, SERIES), Chances(wanted())
    assert tuple(each.within for each in found) == WITHIN
    for each in found:
        move = np.array([np.log(price / MADE.origin_close)])
        assert each.touched == chances.touched(move, each.within)[0]
        assert each.closed_beyond == chances.closed_beyond(move, each.within)[0]


def test_they_are_stretched_by_what_was_learned_for_this_forecast() -> None:
    futures, learned = Futures(), replace(nothing_learned(8), stretch=np.full(8, 1.5))
    futures.learned_of = lambda made: learned if made is MADE else None
    make = futures.begin(MADE, SERIES)
    assert make is not None
    make()
    wider = futures.at(MADE.origin_close * np.exp(0.0015), MADE, SERIES)
    assert wider == computed().at(MADE.origin_close * np.exp(0.001), MADE, SERIES)


def test_candles_after_the_origin_change_nothing() -> None:
    later = random_series(400)
    later.add(candle(400, 25_000.0))
    price = MADE.origin_close * 1.001
    assert computed(series=later).at(price, MADE, later) == computed().at(price, MADE, SERIES)


def test_the_lines_are_paths_from_all_of_the_past() -> None:
    lines, paths = result().lines, wanted()
    assert len(lines) == SHOWN_PATHS
    assert np.array_equal(lines[0], paths.close[0]) and np.array_equal(lines[-1], paths.close[-1])
    assert len({tuple(line) for line in lines.tolist()}) == SHOWN_PATHS


def test_the_most_central_path_is_that_of_the_ghosts_bodies_but_the_first() -> None:
    central, paths = result().central, wanted()
    ranks = paths.close.argsort(axis=0).argsort(axis=0)
    away = np.abs(ranks - (len(ranks) - 1) / 2).mean(axis=1)
    assert away[most_central(paths)] == away.min()
    assert central.count == len(paths.close)
    first, *later = central.ghosts
    assert first == MADE.ghosts[0], "it is drawn as it is scored"
    moves = np.log([ghost.close / MADE.origin_close for ghost in later])
    assert moves == pytest.approx(paths.close[away.argmin(), 1:])
    assert all(one.close == other.open for one, other in pairwise(later))


def test_ghosts_along_a_path_have_the_bands_and_the_median_height_of_the_forecast() -> None:
    central, natural = result().central, spread_quantiles()
    for ahead, ghost in enumerate(central.ghosts[1:], start=1):
        bands = MADE.origin_close * np.exp(natural[ahead, Quantity.CLOSE])
        assert ghost.close_quantiles == pytest.approx(tuple(bands))
        body = abs(np.log(ghost.close / ghost.open))
        tall = max(np.exp(natural[ahead, Quantity.RANGE, MEDIAN]), body)
        assert np.log(ghost.high / ghost.low) == pytest.approx(tall)


@pytest.mark.parametrize(("drift", "has_trend"), [(0.0, False), (3e-5, False), (1e-4, True), (-1e-4, True)])
def test_a_trend_is_shown_if_the_median_moves_half_as_far_as_a_candle_usually_does(
    drift: float, has_trend: bool
) -> None:
    """A candle of `spread_quantiles` usually moves by 0.674 thousandths."""
    made = forecast_with_paths(SERIES, drift)
    found = computed(made).of(made, SERIES)
    assert found is not None and found.central.has_trend is has_trend
    if has_trend:
        last = found.central.ghosts[-1]
        assert np.sign(last.close - made.origin_close) == np.sign(drift), "the path goes there too"


def test_until_it_is_computed_and_for_another_forecast_there_is_nothing() -> None:
    futures, price = Futures(), MADE.origin_close
    make = futures.begin(MADE, SERIES)
    assert make is not None and futures.begin(MADE, SERIES) is None, "it is running"
    assert futures.is_waiting(MADE, SERIES) and futures.at(price, MADE, SERIES) == ()
    make()
    other = replace(MADE, origin_open_time_ms=int(SERIES.open_time_ms[-2]))
    assert not futures.is_waiting(MADE, SERIES) and futures.at(price, MADE, SERIES)
    assert futures.is_waiting(other, SERIES) and futures.at(price, other, SERIES) == ()
    assert futures.of(other, SERIES) is None


@pytest.mark.parametrize("made", [forecast_after(SERIES), forecast_with_paths(random_series(500))])
def test_without_quantiles_or_the_origins_candle_there_are_none(made: ForecastMade) -> None:
    futures = computed(made)
    assert not futures.is_waiting(made, SERIES), "it is not tried again"
    assert futures.of(made, SERIES) is None
    assert futures.at(made.origin_close, made, SERIES) == ()


def test_no_price_and_no_forecast_have_no_chance() -> None:
    assert computed().at(0.0, MADE, SERIES) == () == computed().at(1.0, None, SERIES)
    assert not Futures().is_waiting(None, SERIES) and Futures().begin(None, SERIES) is None
