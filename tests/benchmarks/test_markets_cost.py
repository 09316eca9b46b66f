"""The work of the Markets panel, counted and never timed: one market's news must not cost more with more markets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import SIMULATED_VENUE, Market
from core.domain.clock import ManualClock
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import scenario, watch_scenario
from tests.desktop.conftest import shown_panel
from tests.support.counted import calls_of

FEW, MANY = 5, 50
TURNS = 10


def panel_of(qtbot: QtBot, count: int) -> tuple[MarketsPanel, RunState]:
    state = RunState(ManualClock(scenario.NOW_MS))
    markets = [Market(SIMULATED_VENUE, f"SIM-{100 + number}", scenario.MINUTE) for number in range(count)]
    watch_scenario.run_universe(state, markets)
    panel = MarketsPanel(state, Theme("dark"), ())
    shown_panel(qtbot, panel, 1_000, 40 * MANY + 200)
    QApplication.processEvents()
    return panel, state


def work_of(panel: MarketsPanel, state: RunState) -> Counter[str]:
    """The calls of some ticks of the third market, each painted."""
    market = state.markets.universe[2]
    forming = watch_scenario.candles_of(2)[-1]

    def tick(turn: int) -> None:
        state.markets.set_forming(market, replace(forming, close=forming.low + 0.01 * turn))
        panel.refresh_if_seen()
        QApplication.processEvents()

    for turn in range(TURNS):
        tick(turn)
    return calls_of(lambda: [tick(TURNS + turn) for turn in range(TURNS)])


def test_a_tick_of_one_market_repaints_its_row_whatever_the_others(qtbot: QtBot) -> None:
    few, many = (work_of(*panel_of(qtbot, count)) for count in (FEW, MANY))
    cells = 2
    assert few["PaintedCell.paint"] == many["PaintedCell.paint"] == cells * TURNS, "its chart and its price"
    assert few["RowReader.row"] == many["RowReader.row"] == TURNS
    assert sum(many.values()) <= 1.1 * sum(few.values())


def test_a_close_of_many_markets_remakes_some_rows_at_a_time(qtbot: QtBot) -> None:
    panel, state = panel_of(qtbot, MANY)

    def tick_all(turn: int) -> None:
        for number, market in enumerate(state.markets.universe):
            forming = watch_scenario.candles_of(number)[-1]
            state.markets.set_forming(market, replace(forming, close=forming.low + 0.01 * turn))

    tick_all(1)
    with qtbot.waitSignal(panel.became_stale):  # the next refresh is asked for
        assert calls_of(panel.tick)["RowReader.row"] == 0
        assert calls_of(panel.refresh_if_seen)["RowReader.row"] == 5
    others = [calls_of(panel.refresh_if_seen)["RowReader.row"] for _ in range(MANY // 5)]
    assert others == [5] * (MANY // 5 - 1) + [0]
    tick_all(2)
    panel.tick()
    assert calls_of(panel.tick)["RowReader.row"] == MANY, "put off once"


def test_no_row_has_a_timer(qtbot: QtBot) -> None:
    timers = [len(panel_of(qtbot, count)[0].findChildren(QTimer)) for count in (FEW, MANY)]
    assert timers[0] == timers[1]


@pytest.mark.parametrize("count", [FEW, MANY])
def test_news_of_a_hidden_panel_cost_no_row(qtbot: QtBot, count: int) -> None:
    panel, state = panel_of(qtbot, count)
    panel.hide()
    assert work_of(panel, state)["RowReader.row"] == 0
