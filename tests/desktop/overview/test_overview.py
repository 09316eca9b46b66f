"""The Overview in the whole window, by mouse and keyboard."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolBar
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Market
from core.domain.events import Estimate
from core.market.feeds.base import FeedState, FeedStatus
from desktop.actions import ActionId
from desktop.chart.frame_clock import FrameClock
from desktop.layouts.arrangements import TRAIN
from desktop.overview.heading import heading
from desktop.overview.tile import CANDLES_SHOWN, Tile
from desktop.state.markets import MarketRow
from desktop.ui.theme import Theme
from tests.benchmarks.chart.rig import PaintCounter
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench
from tests.desktop.overview.stage import MARKETS, STORED, Wall, candles, forecast, wall

BTC, ETH, SOL, XRP = MARKETS[:4]
MINUTE_MS = 60_000


@pytest.fixture
def shown(make_bench: MakeBench, tmp_path: Path) -> Iterator[Wall]:
    """A run of two markets, and one with stored candles beside it; the window shows the chart."""
    with wall(make_bench(), tmp_path / "data") as made:
        made.store(BTC, ETH, SOL)
        made.markets.set_list((SOL, XRP, BTC))
        made.begin_run(BTC, ETH)
        made.overview.show_market(BTC)
        yield made


def open_overview(qtbot: QtBot, made: Wall, charts: int = 4) -> None:
    made.bench.shell.settings.change_chart(overview_charts=charts)
    made.bench.shell.actions[ActionId.OVERVIEW].trigger()
    made.settle()
    qtbot.waitUntil(lambda: not any(tile.history.is_loading for tile in made.tiles))
    made.settle()


def markets_shown(made: Wall) -> list[Market | None]:
    return [None if tile.row is None else tile.row.market for tile in made.tiles]


def tile_of(made: Wall, market: Market) -> Tile:
    return made.tiles[markets_shown(made).index(market)]


def closed_after(market: Market) -> Candle:
    newest = candles(market)[-1]
    price = newest.close * 1.001
    return Candle(newest.open_time_ms + MINUTE_MS, newest.close, price * 1.001, newest.close * 0.999, price, 7.0)


def click(widget: Tile, at: QPoint | None = None) -> None:
    """Where the mouse is: on whatever takes it there."""
    window = widget.window()
    place = widget.mapTo(window, at or widget.rect().center())
    QTest.mouseClick(window.childAt(place) or window, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_the_run_comes_first_then_listed_markets_with_stored_candles(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    assert markets_shown(shown) == [ETH, BTC, SOL, None]
    assert shown.overview.count.text() == "3 markets"
    assert [tile.chart.model.count for tile in shown.tiles] == [STORED, STORED, STORED, 0]
    empty = shown.tiles[3]
    assert empty.chart._stage.background.sentence.startswith("Click to add another market")
    assert not empty.heading.texts()


def test_markets_of_the_run_are_in_the_order_of_the_list_else_of_their_names(qtbot: QtBot, shown: Wall) -> None:
    shown.begin_run(BTC, ETH, SOL, XRP)
    open_overview(qtbot, shown)
    assert markets_shown(shown) == [ETH, SOL, XRP, BTC], "as in Markets: ETH is not in the list"


def test_each_tile_is_a_chart_with_ghosts_price_and_a_heading(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    btc, sol = tile_of(shown, BTC), tile_of(shown, SOL)
    frame = btc.chart.frame
    assert frame.stop - frame.first > 20 and btc.chart.overlay.last_price is not None
    assert len(btc.chart.model.ghosts()) == 8 and btc.chart.style_shown.shows_bands
    assert btc.heading.texts()[0] == "BTC/USDT 1m" and btc.heading.texts()[2:] == ["Ghosts +1.2 %", "Simulated"]
    assert btc.heading.texts()[1] == btc.chart.overlay.last_price.rows[0][0].text
    assert sol.heading.texts()[2:] == ["Stored candles"] and not sol.chart.model.ghosts()
    assert "BTC/USDT 1m, simulated" in btc.heading.toolTip()


def test_skill_that_is_not_proven_is_no_number_on_the_wall() -> None:
    palette, accuracy = Theme("dark").palette, scenario.accuracy()
    not_proven = dataclasses.replace(accuracy, skill_close=Estimate(0.045, -0.01, 0.1, 1_000))
    said = heading(MarketRow(BTC, is_in_run=True, status=scenario.market_status(BTC, accuracy=not_proven)), palette)
    assert said.worth == "" and "Ghosts are not proven better" in said.tooltip and "4.5" in said.tooltip


def test_ticks_closes_and_forecasts_arrive_in_their_tile_alone(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    btc, eth = tile_of(shown, BTC), tile_of(shown, ETH)
    counters = {tile: PaintCounter(shown.overview) for tile in (btc, eth)}
    for tile, counter in counters.items():
        tile.chart.viewport().installEventFilter(counter)
    shown.tick(ETH, 0.001)
    shown.settle()
    assert eth.chart.model.forming is not None and eth.chart.model.forming.close > candles(ETH)[-1].close
    assert counters[btc].count == 0 < counters[eth].count, "a tile without news is not painted"
    new = closed_after(ETH)
    shown.markets.add_closed(ETH, (new,))
    shown.markets.add_forecast(ETH, forecast(ETH, [new]))
    shown.settle()
    assert eth.chart.model.count == STORED + 1 and eth.chart.model.forming is None
    assert eth.chart.model.ghosts()[0].ghost.open_time_ms == new.open_time_ms + MINUTE_MS
    assert btc.chart.model.count == STORED and counters[btc].count == 0


def test_charts_without_room_have_small_axes(qtbot: QtBot, shown: Wall) -> None:
    """At 1280 x 720 the axes of the large chart took 42 % of the surface of a chart of sixteen."""
    shown.begin_run(*MARKETS[:16])
    open_overview(qtbot, shown, 16)
    tile = shown.tiles[0]
    layout = tile.chart.frame.layout
    assert layout.plot_right * layout.plot_bottom > 0.68 * layout.width * layout.height
    assert tile.chart.overlay.last_price is None and tile.heading.price, "its last price is above it"
    shown.bench.shell.settings.change_chart(overview_charts=4)
    shown.settle()
    assert tile.chart.overlay.last_price is not None and not tile.chart.style_shown.has_small_axes
    tile.setFont(QFont(tile.font().family(), 4 * tile.font().pointSize()))
    assert tile.chart.style_shown.has_small_axes, "a larger text leaves less room"


def test_a_feed_in_trouble_is_named_in_the_heading(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown, 16)
    shown.markets.on_feed_event(ETH, FeedStatus(FeedState.RECONNECTING, "The connection was cut.", scenario.NOW_MS))
    shown.settle()
    heading = tile_of(shown, ETH).heading
    assert "Reconnecting" in heading.texts() and "The connection was cut." in heading.toolTip()


def test_a_narrow_heading_keeps_name_and_price(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    heading = tile_of(shown, BTC).heading
    lengths = []
    for width in (600, 300, 220, 160):
        heading.resize(width, heading.height())
        lengths.append(len(heading.texts()))
        assert heading.texts()[0].startswith("BTC")
    assert lengths == sorted(lengths, reverse=True) and lengths[0] == 4 and lengths[-1] == 2


def test_a_click_opens_the_market_large_and_brings_the_docks_back(qtbot: QtBot, shown: Wall) -> None:
    window = shown.bench.window
    before = {each for each, dock in window.docks.items() if dock.isVisible()}
    open_overview(qtbot, shown)
    assert before and not any(dock.isVisible() for dock in window.docks.values())
    assert not shown.bench.chart.isVisible() and shown.bench.shell.actions[ActionId.OVERVIEW].isChecked()
    with qtbot.waitSignal(shown.overview.market_requested) as wanted:
        click(tile_of(shown, ETH))
    assert wanted.args == [ETH]
    assert shown.bench.chart.isVisible() and not shown.overview.isVisible()
    assert {each for each, dock in window.docks.items() if dock.isVisible()} == before
    assert not shown.bench.shell.actions[ActionId.OVERVIEW].isChecked()


def test_the_market_on_the_chart_opens_without_being_asked_for_again(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    with qtbot.assertNotEmitted(shown.overview.market_requested):
        click(tile_of(shown, BTC))
    assert shown.bench.chart.isVisible()


@pytest.mark.parametrize(
    ("markets", "places"), [(1, (1, 1)), (2, (2, 1)), (3, (2, 2)), (5, (3, 2)), (7, (3, 3)), (20, (3, 3))]
)
def test_there_are_no_more_tiles_than_the_markets_fill(
    qtbot: QtBot, make_bench: MakeBench, tmp_path: Path, markets: int, places: tuple[int, int]
) -> None:
    """Regression: a single market was one of nine cells, the others empty."""
    with wall(make_bench(), tmp_path / "data") as made:
        made.begin_run(*MARKETS[:markets])
        open_overview(qtbot, made, 9)
        columns, rows = (len({at(tile) for tile in made.tiles}) for at in (Tile.x, Tile.y))
        assert (columns, rows) == places and len(made.tiles) == columns * rows
        made.begin_run(*MARKETS[:4])
        made.settle()
        assert len({tile.x() for tile in made.tiles}) == len({tile.y() for tile in made.tiles}) == 2


def test_the_button_to_add_a_market_asks_for_the_list(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    bar = shown.overview.findChild(QToolBar)
    button = bar.widgetForAction(shown.overview.actions_of_panel[ActionId.OVERVIEW_ADD])
    with qtbot.waitSignal(shown.overview.list_requested):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not shown.overview.isVisible() and shown.bench.chart.isVisible()


def test_a_click_on_an_empty_tile_asks_for_the_list_of_markets(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    with qtbot.waitSignal(shown.overview.list_requested), qtbot.assertNotEmitted(shown.overview.market_requested):
        click(shown.tiles[3])


def test_arrow_keys_choose_and_return_opens(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    with qtbot.waitActive(shown.bench.window):
        shown.bench.window.activateWindow()
    assert QApplication.focusWidget() is tile_of(shown, BTC)
    left, right, down = Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Down
    for key, place in ((left, 0), (right, 1), (right, 1), (down, 3), (left, 2)):
        QTest.keyClick(QApplication.focusWidget(), key)
        assert QApplication.focusWidget() is shown.tiles[place]
    with qtbot.waitSignal(shown.overview.market_requested) as wanted:
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert wanted.args == [SOL]
    assert QApplication.focusWidget() is shown.bench.chart


def test_the_shortcut_opens_it_and_escape_leaves_it(qtbot: QtBot, shown: Wall) -> None:
    window = shown.bench.window
    with qtbot.waitActive(window):
        window.activateWindow()
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    QTest.keyClick(shown.bench.chart, Qt.Key.Key_4, modifiers)
    assert shown.overview.isVisible() and len(shown.tiles) == 1, "the others follow, one a frame"
    qtbot.waitUntil(lambda: len(shown.tiles) == 4)
    assert QApplication.focusWidget() is tile_of(shown, BTC)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not shown.overview.isVisible() and shown.bench.chart.isVisible()


def test_keys_and_buttons_choose_how_many_charts_there_are(qtbot: QtBot, shown: Wall) -> None:
    shown.begin_run(*MARKETS[:16])
    open_overview(qtbot, shown)
    with qtbot.waitActive(shown.bench.window):
        shown.bench.window.activateWindow()
    kept = list(shown.tiles)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_4)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert QApplication.focusWidget() is shown.tiles[0], "the tile below is still to come"
    shown.settle()
    assert len(shown.tiles) == 16 and shown.tiles[:4] == kept
    assert shown.bench.shell.settings.current.chart.overview_charts == 16
    dropped = [weakref.ref(tile) for tile in shown.tiles[9:]]
    bar = shown.overview.findChild(QToolBar)
    button = bar.widgetForAction(shown.overview.actions_of_panel[ActionId.OVERVIEW_9])
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert len(shown.tiles) == 9 and len({(tile.x(), tile.y()) for tile in shown.tiles}) <= 9
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    assert all(tile() is None for tile in dropped)


def test_fewer_charts_can_be_chosen_while_those_of_before_are_still_to_come(qtbot: QtBot, shown: Wall) -> None:
    """Regression: with as many tiles as were chosen, the others came all the same."""
    shown.begin_run(*MARKETS[:9])
    shown.bench.shell.settings.change_chart(overview_charts=9)
    shown.bench.shell.actions[ActionId.OVERVIEW].trigger()
    while len(shown.tiles) < 4:
        shown.overview._frames.flush()
    assert len(shown.tiles) == 4
    shown.bench.shell.settings.change_chart(overview_charts=4)
    shown.settle()
    assert len(shown.tiles) == 4 and None not in markets_shown(shown)


def test_more_markets_than_charts_are_counted(qtbot: QtBot, shown: Wall) -> None:
    shown.begin_run(*MARKETS[:6])
    open_overview(qtbot, shown)
    assert markets_shown(shown) == [*sorted(MARKETS[4:6]), ETH, SOL] and shown.overview.count.text() == "4 of 6 markets"


def test_markets_that_join_or_leave_the_run_take_their_tiles(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    shown.begin_run(BTC, SOL, ETH)
    shown.settle()
    assert markets_shown(shown) == [ETH, SOL, BTC, None], "SOL was listed before"
    shown.begin_run(BTC, XRP)
    shown.settle()
    assert markets_shown(shown) == [XRP, BTC, SOL, None], "one that is neither listed nor in the run is gone"
    assert tile_of(shown, XRP).chart.model.count > 0, "its candles arrive although none are stored"


def test_while_hidden_it_follows_nothing_and_then_catches_up(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    shown.bench.shell.actions[ActionId.OVERVIEW].trigger()
    later = candles(BTC)[-1]
    count = 200
    new = [
        Candle(
            later.open_time_ms + at * MINUTE_MS, later.close, later.close * 1.01, later.close * 0.99, later.close, 1.0
        )
        for at in range(1, count + 1)
    ]
    for each in new:
        shown.markets.add_closed(BTC, (each,))
    shown.database.candles.save(BTC, new)
    shown.overview.flush()
    assert tile_of(shown, BTC).chart.model.count == STORED, "nothing is done for a hidden tile"
    open_overview(qtbot, shown)
    model = tile_of(shown, BTC).chart.model
    assert int(model.series.open_time_ms[-1]) == new[-1].open_time_ms
    assert model.missing_before(model.count - 1) == 0 and model.count >= 400 - 1


def test_a_catch_up_of_more_candles_than_are_kept_is_read_from_the_store(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    shown.begin_run(BTC, XRP)
    shown.settle()
    tile = tile_of(shown, XRP)
    assert tile.chart.model.count < STORED, "only the newest are kept, and none were stored"
    newest = candles(XRP)[-1]
    later = [dataclasses.replace(newest, open_time_ms=newest.open_time_ms + at * MINUTE_MS) for at in range(1, 151)]
    shown.database.candles.save(XRP, [*candles(XRP), *later])
    shown.markets.add_closed(XRP, later)
    shown.settle()
    qtbot.waitUntil(lambda: not tile.history.is_loading)
    assert tile.chart.model.count == CANDLES_SHOWN
    assert int(tile.chart.model.series.open_time_ms[-1]) == later[-1].open_time_ms


def test_the_first_empty_tile_alone_says_what_to_do(qtbot: QtBot, shown: Wall) -> None:
    shown.begin_run(*MARKETS[:7])
    open_overview(qtbot, shown, 9)
    assert [bool(tile.chart._stage.background.sentence) for tile in shown.tiles] == [True] * 8 + [False]


def test_another_arrangement_leaves_the_overview_as_arranged(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    shown.bench.shell.actions[ActionId.LAYOUT_TRAIN].trigger()
    assert shown.bench.chart.isVisible()
    docks = shown.bench.window.docks
    assert {each for each, dock in docks.items() if not dock.isHidden()} == TRAIN.shown


def test_tiles_follow_the_chart_settings_and_the_theme(qtbot: QtBot, shown: Wall) -> None:
    open_overview(qtbot, shown)
    shown.bench.shell.settings.change_chart(candles="bars", time_zone="UTC")
    style = tile_of(shown, BTC).chart.style_shown
    assert style.candles == "bars" and not style.shows_volume and not style.shows_readout
    shown.bench.theme.set_mode("light")
    assert tile_of(shown, BTC).chart.style_shown.palette is shown.bench.theme.palette


def test_where_all_markets_have_news_two_tiles_are_drawn_in_a_frame(qtbot: QtBot, shown: Wall) -> None:
    shown.begin_run(*MARKETS[:4])
    open_overview(qtbot, shown)
    before = [tile.chart.model.forming for tile in shown.tiles]
    for market in (SOL, BTC, XRP, ETH, SOL):
        shown.tick(market, 0.002)
    changed = []
    for _ in range(2):
        shown.overview.findChild(FrameClock).flush()
        changed.append([tile.chart.model.forming != was for tile, was in zip(shown.tiles, before, strict=True)])
    assert changed == [[False, True, False, True], [True] * 4], "those whose news came first"
