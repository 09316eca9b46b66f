"""The measured candles: valid, and with the same end in every size."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.chart import scenario


def test_the_newest_candles_are_the_same_in_every_size() -> None:
    small, large = scenario.columns(1_000), scenario.columns(20_000)
    assert np.array_equal(small.open_time_ms, large.open_time_ms[-1_000:])
    assert np.array_equal(small.values, large.values[:, -1_000:])


def test_every_candle_would_be_accepted_from_a_feed() -> None:
    made = list(scenario.series(3_000))
    after = [scenario.following(made[-1], one) for one in made[:300]]
    for one in (*made, *after, *scenario.forming_path(made[-1], 200)):
        assert 0 < one.low <= min(one.open, one.close) <= max(one.open, one.close) <= one.high
        assert one.volume >= 0
    steps = np.diff([one.open_time_ms for one in made])
    assert (steps == scenario.MINUTE.duration_ms).all()


def test_each_tick_changes_the_candle_and_the_forecast_starts_after_it() -> None:
    newest = scenario.series(500)[-1]
    path, forecast = scenario.forming_path(newest, 100), scenario.forecast_after(newest)
    assert len(set(path)) == 100
    assert {one.open_time_ms for one in path} == {forecast.ghosts[0].open_time_ms}
    assert all(list(ghost.close_quantiles) == sorted(ghost.close_quantiles) for ghost in forecast.ghosts)
