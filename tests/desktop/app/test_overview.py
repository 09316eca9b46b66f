"""The Overview of the whole window, over simulated markets that one model learns."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.overview.tile import Tile
from tests.desktop.app.three_markets import FIRST, MARKETS, SECOND, THIRD, has_caught_up, simulated
from tests.desktop.whole_window import CATCH_UP, CandleGate, run_window, until

_TICKS = 24
"""Of a simulated candle."""


def tiles(application: Application) -> dict[Market, Tile]:
    return {tile.row.market: tile for tile in application.overview.tiles if tile.row is not None}


def counts(application: Application) -> list[int]:
    return [tiles(application)[market].chart.model.count for market in MARKETS]


def test_each_market_of_the_run_has_its_candles_and_ghosts_and_a_click_puts_it_on_the_chart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        overview = application.overview
        await until(lambda: has_caught_up(application), "the catch-up of all three")
        application.window.shell.actions[ActionId.OVERVIEW].trigger()
        await until(lambda: set(tiles(application)) == set(MARKETS), "a chart of each")
        assert tiles(application)[SECOND].heading.is_on_chart
        await until(lambda: all(tile.chart.model.ghosts() for tile in tiles(application).values()), "all ghosts")
        before = counts(application)
        assert min(before) >= CATCH_UP
        gate.release(_TICKS)
        await until(lambda: counts(application) == [count + 1 for count in before], "a candle in each")
        for tile in tiles(application).values():
            made = tile.chart.model.forecast
            assert tile.row is not None and made is not None and made.run_id == tile.row.run_id
            assert len({text for text in tile.heading.texts() if text}) >= 3
        worker = application.trainer.worker
        QTest.mouseClick(tiles(application)[FIRST], Qt.MouseButton.LeftButton)
        assert not overview.isVisible() and application.chart.isVisible()
        assert application.state.market == FIRST and application.chart.model.title.startswith(FIRST.symbol)
        assert application.trainer.worker is worker, "training continues"
        application.window.shell.actions[ActionId.OVERVIEW].trigger()
        overview.flush()
        assert tiles(application)[FIRST].heading.is_on_chart and not tiles(application)[SECOND].heading.is_on_chart

    run_window(qapp, simulated(tmp_path, FIRST, THIRD, speed=None, catch_up_candles=CATCH_UP), story)
