"""The feed's dock in the whole window: its buttons, its key, and that nothing in it is cut."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.theme import Mode
from tests.desktop import feed_scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.test_pictures import (  # noqa: F401 - the fixture undresses the application
    SIZES,
    cut_texts,
    dressed_application,
    keep_picture,
    make_dressed,
    settle,
)


def test_use_kraken_stores_the_venue_and_asks_for_it(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    window, before = bench.window, bench.window.settings.market
    feed_scenario.refused(bench.state)
    window.show_dock(ActionId.SHOW_FEED)
    qtbot.waitUntil(window.feed.use_next.isVisible)
    with qtbot.waitSignal(window.market_chosen) as chosen, qtbot.waitSignal(window.settings_changed):
        qtbot.mouseClick(window.feed.use_next, Qt.MouseButton.LeftButton)
    assert (chosen.args[0].venue, chosen.args[0].symbol) == ("kraken", before.symbol)
    assert window.settings.market.venue == "kraken"


def test_nothing_is_switched_by_itself(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    with qtbot.assertNotEmitted(bench.window.market_chosen), qtbot.assertNotEmitted(bench.window.settings_changed):
        feed_scenario.refused(bench.state)
        bench.window.show_dock(ActionId.SHOW_FEED)
        qtbot.waitUntil(bench.window.feed.use_next.isVisible)


def test_try_again_leaves_by_the_window(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    feed_scenario.refused(bench.state)
    bench.window.show_dock(ActionId.SHOW_FEED)
    qtbot.waitUntil(bench.window.feed.try_again.isVisible)
    with qtbot.waitSignal(bench.window.try_again_requested):
        qtbot.mouseClick(bench.window.feed.try_again, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("page", [0, 1], ids=["changes", "rejected"])
@pytest.mark.parametrize("story", ["eventful", "refused"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("mode", ("dark", "light"))
def test_nothing_is_cut(
    make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int], story: str, page: int
) -> None:
    bench: Bench = make_dressed(make_bench, mode, size)
    fill(bench)
    getattr(feed_scenario, story)(bench.state)
    bench.window.show_dock(ActionId.SHOW_FEED)
    bench.window.feed.lists.setCurrentIndex(page)
    settle(qtbot, bench)
    QApplication.sendPostedEvents()
    keep_picture(bench.window, f"feed-{story}-{page}-{mode}-{size[0]}x{size[1]}")
    assert bench.window.feed.is_on_screen
    assert cut_texts(bench.window.feed) == []
