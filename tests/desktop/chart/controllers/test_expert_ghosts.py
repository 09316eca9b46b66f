"""Ghosts of single experts on the chart."""

from __future__ import annotations

from core.domain.candle_series import CandleSeries
from desktop.chart.controllers.expert_ghosts import ExpertGhosts
from desktop.state.run_state import RunState
from tests.desktop import scenario
from tests.desktop.chart.conftest import ShowChart, settle
from tests.support.candles import MARKET


def test_ticked_experts_are_drawn_from_the_newest_forecast(show_chart: ShowChart, state: RunState) -> None:
    candles = scenario.market(60)
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart = show_chart(series)
    state.begin(scenario.RUN, 60_000, market=MARKET)
    ghosts = ExpertGhosts(chart, state, chart)
    ghosts.show(("HAR", "GARCH"))
    assert ghosts.layer.shown == (), "there is no forecast yet"
    made = scenario.forecast(candles)
    state.apply(made)
    settle(chart)
    (drawn,) = ghosts.layer.shown
    assert drawn.label == "HAR" and drawn.forecast.ghosts[-1].close > drawn.forecast.ghosts[0].open == made.origin_close
    ghosts.show(())
    assert ghosts.layer.shown == ()
