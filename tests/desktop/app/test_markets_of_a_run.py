"""The Markets panel over a run of several simulated markets, in the whole window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.panels.markets.model import Column
from desktop.state.markets import CANDLES_KEPT
from tests.desktop.app.three_markets import FIRST, MARKETS, SECOND, THIRD, simulated
from tests.desktop.whole_window import CATCH_UP, CandleGate, IdleWorker, run_window, until

_TICKS = 24
"""Of a simulated candle."""


def click(application: Application, row: int, column: Column) -> None:
    panel = application.window.panels.markets
    place = panel.table.visualRect(panel.model.index(row, column)).center()
    modifiers = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, modifiers, place)


def test_rows_follow_the_run_and_its_switches_change_it(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(application: Application) -> None:
        known = application.state.markets
        panel = application.window.panels.markets
        application.window.resize(1400, 900)  # a narrow panel hides the switches
        application.window.show_dock(ActionId.SHOW_MARKETS)
        await until(lambda: known.row(FIRST).accuracy is not None, "scores of the first")
        assert [row.is_in_run for row in known.rows()] == [True, True, False]
        assert known.row(SECOND).is_opened and not known.row(FIRST).is_opened
        gate.release(2 * 2 * _TICKS)

        def reaches_the_newest() -> bool:
            """The feed's state comes by itself: on a busy machine later than the ghosts."""
            row = known.row(FIRST)
            is_newest = row.forecast is not None and row.forecast.origin_open_time_ms == row.candles[-1].open_time_ms
            panel.refresh()
            return is_newest and panel.model.rows[0].state_words == "simulated"

        await until(reaches_the_newest, "ghosts ahead of the first one's newest candle, and its feed's state")
        first = panel.model.rows[0]
        newest = first.known.newest
        assert newest is not None and first.last == newest.close
        click(application, 0, Column.MARKET)
        assert application.state.market == FIRST, "on the chart, without another run"
        assert known.universe == (FIRST, SECOND)
        click(application, 2, Column.LEARNED)
        await until(lambda: known.row(THIRD).accuracy is not None, "the third one's scores")
        assert known.universe == MARKETS and panel.model.rows[2].is_learned

    async def again(application: Application) -> None:
        """Small charts with ghosts, and what these were worth, are there before the trainer is; no candle comes."""
        known, counts, stored = application.state.markets, list[int](), set[Market]()

        def note(market: Market) -> None:
            row = known.row(market)
            if row.forecast is not None and row.accuracy is not None:
                stored.update({market} if row.accuracy.scored else ())

        known.changed.connect(note)
        application.watched.universe_changed.connect(lambda universe: counts.append(len(known.row(FIRST).candles)))
        await until(lambda: bool(counts) and stored == {FIRST, SECOND}, "what the ghosts of both were worth")
        assert counts[0] >= min(CATCH_UP, CANDLES_KEPT)
        assert application.state.trainer is None

    chosen = simulated(tmp_path, FIRST, opened=SECOND, speed=None, catch_up_candles=CATCH_UP)
    run_window(qapp, chosen, story)
    monkeypatch.setattr("desktop.services.trainer.TrainingWorker", IdleWorker)
    run_window(qapp, chosen, again)
