from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from desktop.chart.data.ghosts import band
from desktop.chart.data.model import ChartModel
from tests.desktop.chart.support import (
    MINUTE_MS,
    START_MS,
    candle,
    forecast_after,
    forming_after,
    ghost,
    outcome_of,
    random_series,
)

HOLED = random_series(120, skip=frozenset({10, 50, 51, 52, 119}))


def model_of(series: object = HOLED) -> ChartModel:
    model = ChartModel()
    model.set_series(series, "test")  # type: ignore[arg-type]
    return model


@given(st.integers(0, 200), st.booleans())
def test_times_and_indices_are_each_others_inverse(index: int, with_forming: bool) -> None:
    model = model_of()
    if with_forming:
        # The venue skipped two candles before the forming one.
        model.set_forming(replace(forming_after(HOLED), open_time_ms=HOLED[-1].open_time_ms + 3 * MINUTE_MS))
    time = model.time_at(index)
    assert time is not None
    assert model.index_of(time) == index


@given(st.integers(START_MS - 5 * MINUTE_MS, START_MS + 300 * MINUTE_MS))
def test_the_first_candle_at_or_after_a_time(time_ms: int) -> None:
    model = model_of()
    expected = next(index for index in range(1_000) if (model.time_at(index) or 0) >= time_ms)
    assert model.index_from(time_ms) == expected


def test_a_missing_candle_has_no_index() -> None:
    assert model_of().index_of(START_MS + 51 * MINUTE_MS) is None


def test_ghosts_are_after_the_newest_candle() -> None:
    model = model_of()
    model.set_forecast(forecast_after(HOLED, horizon=5))
    count = len(HOLED)
    assert [(placed.index, placed.ahead) for placed in model.ghosts()] == [(count + k, k + 1) for k in range(5)]


def test_a_ghost_whose_candle_has_closed_goes() -> None:
    series = random_series(20)
    model = model_of(series)
    model.set_forecast(forecast_after(series, horizon=4))
    series.add(candle(20, 20_000.0))
    assert [(placed.index, placed.ahead) for placed in model.ghosts()] == [(21, 2), (22, 3), (23, 4)]
    for index in range(21, 25):
        series.add(candle(index, 20_000.0))
    assert model.ghosts() == ()


def test_a_ghost_that_is_no_candle_is_not_drawn() -> None:
    series = random_series(20)
    forecast = forecast_after(series, horizon=3)
    broken = replace(forecast.ghosts[1], high=float("nan"))
    model = model_of(series)
    model.set_forecast(replace(forecast, ghosts=(forecast.ghosts[0], broken, forecast.ghosts[2])))
    assert [placed.ahead for placed in model.ghosts()] == [1, 3]


def test_bands_are_the_quantiles_of_their_levels() -> None:
    one = replace(ghost(0, 1.0, 2.0), close_quantiles=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0))
    assert band(one, 50) == (3.0, 5.0)
    assert band(one, 90) == (1.0, 7.0)
    assert band(replace(one, close_quantiles=(1.0, 2.0)), 50) is None
    assert band(replace(one, close_quantiles=(float("nan"), 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)), 90) is None


def test_a_forming_candle_that_has_closed_goes() -> None:
    series = random_series(20)
    model = model_of(series)
    model.set_forming(forming_after(series))
    series.add(candle(20, 20_000.0))
    model.follow()
    assert model.forming is None
    model.set_forming(candle(5, 20_000.0))
    assert model.forming is None


def test_a_forming_candle_without_numbers_is_not_taken() -> None:
    series = random_series(20)
    model = model_of(series)
    good = forming_after(series)
    model.set_forming(good)
    model.set_forming(Candle(good.open_time_ms, float("nan"), 1.0, 1.0, 1.0, 1.0))
    assert model.forming == good


def test_decimals_only_grow_within_a_market() -> None:
    series = random_series(20)
    model = model_of(series)
    assert model.decimals() == 2
    series.add(candle(20, 20_000.125))
    assert model.decimals() == 3
    for index in range(21, 400):
        series.add(candle(index, 20_000.0))
    assert model.decimals() == 3


def test_the_first_report_of_an_outcome_stays() -> None:
    series = random_series(20)
    model = model_of(series)
    model.past.add(outcome_of(series[3]))
    model.past.add(outcome_of(series[3], horizon=2, origin_open_time_ms=series[1].open_time_ms, inside_50=True))
    model.past.add(outcome_of(series[3], inside_90=False))
    found = model.past_forecast(3)
    assert found is not None and found.horizon == 1 and found.inside_90 and not found.inside_50
    assert model.past_forecast(4) is None


def test_at_a_coarser_interval_ghosts_are_joined_and_past_forecasts_are_not_shown() -> None:
    series = random_series(20)
    model = model_of(series)
    model.past.begin(None, MINUTE_MS)
    forecast = forecast_after(series)
    model.set_forecast(forecast)
    assert model.other_interval is None and model.ghosts()
    coarser = CandleSeries(Interval.parse("5m"))
    coarser.extend(series[index] for index in range(0, 20, 5))
    model.set_series(coarser, "five minutes")
    model.set_forecast(forecast)
    model.past.add(outcome_of(series[5]))
    assert str(model.other_interval) == "1m"
    (whole,) = model.ghosts()
    assert whole.index == 4 and whole.ghost.close == forecast.ghosts[4].close, "the next three make no whole candle"
    assert model.past_forecast(1) is None
    model.set_series(series, "one minute")
    model.set_forecast(forecast)
    assert model.other_interval is None and len(model.ghosts()) == 8


def test_at_a_finer_interval_there_are_no_ghosts() -> None:
    series = random_series(20)
    model = model_of(series)
    model.past.begin(None, 5 * MINUTE_MS)
    model.set_forecast(forecast_after(series))
    assert str(model.other_interval) == "5m" and model.ghosts() == ()


def test_another_series_lets_go_of_the_former_markets_things() -> None:
    series = random_series(20)
    model = model_of(series)
    model.set_forecast(forecast_after(series))
    model.set_forming(forming_after(series))
    model.past.add(outcome_of(series[3]))
    model.set_series(random_series(20), "other")
    assert model.forming is None and model.forecast is None
    assert model.past_forecast(3) is None


def test_missing_candles_are_counted() -> None:
    model = model_of()
    missing = np.array([model.missing_before(index) for index in range(1, len(HOLED))])
    assert missing.sum() == 4
    assert sorted(missing[missing > 0].tolist()) == [1, 3]
