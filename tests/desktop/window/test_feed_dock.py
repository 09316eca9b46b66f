"""The feed's dock in the whole window: its buttons, its key, and that nothing in it is cut."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Mode
from tests.desktop import feed_scenario
from tests.desktop.conftest import MakeBench, fill
from tests.desktop.window.pictures import cut_texts, in_both_themes, keep_picture, make_dressed, settle


def test_use_kraken_stores_the_venue_and_asks_for_it(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    window, before = bench.window, bench.shell.settings.current.market
    feed_scenario.refused(bench.state)
    window.show_feed()
    qtbot.waitUntil(window.panels.events.feed.use_next.isVisible)
    with qtbot.waitSignal(bench.market_choice.chosen) as chosen, qtbot.waitSignal(window.shell.settings.changed):
        qtbot.mouseClick(window.panels.events.feed.use_next, Qt.MouseButton.LeftButton)
    assert (chosen.args[0].venue, chosen.args[0].symbol) == ("kraken", before.symbol)
    assert window.shell.settings.current.market.venue == "kraken"


def test_the_venue_is_never_switched_automatically(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    with (
        qtbot.assertNotEmitted(bench.market_choice.chosen),
        qtbot.assertNotEmitted(bench.shell.settings.changed),
    ):
        feed_scenario.refused(bench.state)
        bench.window.show_feed()
        qtbot.waitUntil(bench.window.panels.events.feed.use_next.isVisible)


@in_both_themes
def test_nothing_is_cut(make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int]) -> None:
    bench = make_dressed(make_bench, mode, size)
    fill(bench)
    for story in (feed_scenario.eventful, feed_scenario.refused):
        story(bench.state)
        bench.window.show_feed()
        settle(qtbot, bench)
        QApplication.sendPostedEvents()
        keep_picture(bench.window, f"feed-{story.__name__}-{mode}-{size[0]}x{size[1]}")
        assert bench.window.panels.events.is_on_screen and bench.window.panels.events.feed.isVisible()
        assert cut_texts(bench.window.panels.events) == []
