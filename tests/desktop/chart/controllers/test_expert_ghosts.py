"""Ghosts of single experts on the chart."""

from __future__ import annotations

from core.domain.candle_series import CandleSeries
from core.settings.tree import Settings
from core.settings.window import ChartSettings
from desktop.chart.controllers.composition import ExpertGhosts
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.colour_choice import preview_colour
from tests.desktop import scenario
from tests.desktop.chart.conftest import ShowChart, settle
from tests.support.candles import MARKET


def test_ticked_experts_are_drawn_from_the_newest_forecast(show_chart: ShowChart, state: RunState) -> None:
    candles = scenario.market(60)
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart = show_chart(series)
    scenario.watch(state, market=MARKET)
    settings = SettingsStore(Settings(chart=ChartSettings(expert_ghosts=("GARCH", "HAR"))))
    ghosts = ExpertGhosts(chart, state, settings, chart)
    assert ghosts.layer.shown == (), "there is no forecast yet"
    made = scenario.forecast(candles)
    state.apply(made)
    settle(chart)
    (drawn,) = ghosts.layer.shown
    assert ghosts.layer.colour(chart.frame, 0) == preview_colour(chart.frame.palette, 1), "GARCH keeps the first colour"
    assert drawn.label == "HAR" and drawn.forecast.ghosts[-1].close > drawn.forecast.ghosts[0].open == made.origin_close
    settings.change_chart(expert_ghosts=())
    assert ghosts.layer.shown == ()
