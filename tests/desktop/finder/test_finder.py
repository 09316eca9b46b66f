from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.domain.events import TrainerState
from core.settings.tree import MarketSettings, Settings
from core.settings.window import WatchlistSettings
from desktop.actions import ActionId
from desktop.dialogs.preferences import PreferencesDialog
from desktop.finder.dialog import FinderDialog
from desktop.finder.finder import Finder
from desktop.finder.search import EntryKind
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

KEYS = Qt.Key
MINUTE = Interval.parse("1m")
SYMBOLS = {"binance": ("BTC/USDT", "DOGE/USDT", "no symbol"), "kraken": ("XMR/EUR",)}


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    made = make_bench(scenario.checkpoints())
    made.state.apply(scenario.ready())
    return made


@pytest.fixture
def finder(bench: Bench) -> Finder:
    finder = Finder(bench.shell, bench.theme, bench.source, bench.market_choice, lambda venue: SYMBOLS.get(venue, ()))
    finder.checkpoint_chosen.connect(bench.window.show_checkpoint)
    finder.setting_chosen.connect(bench.window.open_setting)
    return finder


def opened(bench: Bench, qtbot: QtBot) -> FinderDialog:
    bench.window.activateWindow()
    QTest.keyClick(bench.window, KEYS.Key_K, Qt.KeyboardModifier.ControlModifier)
    dialog = bench.window.findChild(FinderDialog)
    assert isinstance(dialog, FinderDialog)
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def shown(dialog: FinderDialog) -> list[str]:
    return [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]


@pytest.mark.usefixtures("finder")
def test_an_action_is_found_and_run_by_keyboard(bench: Bench, qtbot: QtBot) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "dark")
    assert shown(dialog)[0] == "Dark"
    QTest.keyClicks(dialog.line, " theme")
    bench.shell.actions[ActionId.THEME_LIGHT].trigger()
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert bench.theme.palette.is_dark
    assert bench.shell.settings.current.appearance.theme == "dark"


@pytest.mark.usefixtures("finder")
def test_the_arrows_move_through_the_list(bench: Bench, qtbot: QtBot) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "theme")
    names = shown(dialog)
    QTest.keyClick(dialog.line, KEYS.Key_Down)
    assert dialog.list.currentIndex().data() == names[1]
    QTest.keyClick(dialog.line, KEYS.Key_Up)
    assert dialog.list.currentIndex().data() == names[0]


@pytest.mark.usefixtures("finder")
def test_a_disabled_action_is_shown_but_not_run(bench: Bench, qtbot: QtBot) -> None:
    bench.state.apply(scenario.status(TrainerState.STOPPED))
    asked: list[object] = []
    bench.window.stop_requested.connect(lambda: asked.append(1))
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "stop")
    assert "Stop" in shown(dialog)
    row = shown(dialog).index("Stop")
    dialog.list.setCurrentIndex(dialog.model.index(row, 0))
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert not asked
    assert dialog.isVisible()


@pytest.mark.usefixtures("finder")
def test_a_checkpoint_is_found_by_its_step_and_selected(bench: Bench, qtbot: QtBot) -> None:
    info = scenario.checkpoints()[2]
    bench.window.panels.checkpoints.filter.setText("no such words")
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, f"step {info.step:,}")
    assert dialog.list.currentIndex().data() == f"Step {info.step:,}"
    QTest.mouseClick(
        dialog.list.viewport(),
        Qt.MouseButton.LeftButton,
        pos=dialog.list.visualRect(dialog.list.currentIndex()).center(),
    )
    assert [each.checkpoint_id for each in bench.window.panels.checkpoints.selected()] == [info.checkpoint_id]
    assert bench.window.panels.checkpoints.filter.text() == "", "the filter hid it"


@pytest.mark.parametrize("words", ["step 11800", "the good one", "calm-week", "learning rate was halved"])
def test_a_checkpoint_is_found_by_step_name_tag_and_note(make_bench: MakeBench, qtbot: QtBot, words: str) -> None:
    named = [
        replace(info, name="The good one", tags=("keep", "calm-week")) if info.step == 11_800 else info
        for info in scenario.checkpoints()
    ]
    bench = make_bench(named)
    bench.state.apply(scenario.ready())
    dialog = Finder(bench.shell, bench.theme, bench.source, bench.market_choice, lambda _venue: ()).open()
    QTest.keyClicks(dialog.line, words)
    rows = dialog.list.model()
    assert [rows.index(row, 0).data() for row in range(rows.rowCount())] == ["Step 11,800"]


def test_stored_markets_are_found_and_opened(bench: Bench, qtbot: QtBot) -> None:
    """A file's market opens stored candles, an exchange's the live feed; none is listed twice."""
    hour = Interval.parse("1h")
    stored = (
        Market("file", "my rates", hour),
        Market("kraken", "XMR/EUR", hour),
        Market("binance", "BTC/USDT", MINUTE),
    )
    chosen: list[MarketSettings] = []
    bench.market_choice.chosen.connect(chosen.append)
    dialog = Finder(
        bench.shell,
        bench.theme,
        bench.source,
        bench.market_choice,
        lambda venue: SYMBOLS.get(venue, ()),
        lambda: stored,
    ).open()
    QTest.keyClicks(dialog.line, "btc/usdt 1m")
    assert shown(dialog).count("BTC/USDT") == 1
    dialog.line.selectAll()
    QTest.keyClicks(dialog.line, "my rates stored")
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert (chosen[-1].feed, chosen[-1].venue, chosen[-1].symbol, chosen[-1].interval) == (
        "stored",
        "file",
        "my rates",
        "1h",
    )
    bench.market_choice.open_stored(stored[1])
    assert (chosen[-1].feed, chosen[-1].venue, chosen[-1].symbol) == ("live", "kraken", "XMR/EUR")


def test_a_files_market_is_shown_by_name_and_opened_with_its_fingerprint(bench: Bench, qtbot: QtBot) -> None:
    """Two with the same name show their fingerprints, and can be searched by them."""
    stored = tuple(Market("file", f"{name}#dd283{n}", MINUTE) for n, name in enumerate(("rates", "walk", "walk")))
    chosen: list[MarketSettings] = []
    bench.market_choice.chosen.connect(chosen.append)
    dialog = Finder(
        bench.shell,
        bench.theme,
        bench.source,
        bench.market_choice,
        lambda venue: SYMBOLS.get(venue, ()),
        lambda: stored,
    ).open()
    QTest.keyClicks(dialog.line, "walk#dd283 stored")
    assert set(shown(dialog)) == {"walk#dd2831", "walk#dd2832"}
    dialog.line.selectAll()
    QTest.keyClicks(dialog.line, "rates stored")
    assert shown(dialog)[0] == "rates"
    details = dialog.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert details == "1m from a file, stored"
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert (chosen[-1].feed, chosen[-1].symbol) == ("stored", "rates#dd2830")


@pytest.mark.usefixtures("finder")
def test_a_setting_opens_the_preferences_at_its_field(bench: Bench, qtbot: QtBot) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "weight average")
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    preferences = bench.window.findChild(PreferencesDialog)
    assert isinstance(preferences, PreferencesDialog)
    editor = preferences.form("training").editor("ema_decay").widget
    qtbot.waitUntil(lambda: editor.isVisible() and preferences.focusWidget() is not None)
    focused = preferences.focusWidget()
    assert focused is editor or editor.isAncestorOf(focused)


@pytest.mark.usefixtures("finder")
@pytest.mark.parametrize("typed", ["eth", "doge"])
def test_a_market_of_the_list_or_of_the_exchange_is_put_on_the_chart(bench: Bench, qtbot: QtBot, typed: str) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, typed)
    with qtbot.waitSignal(bench.market_choice.chosen) as chosen:
        QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert chosen.args[0].symbol == f"{typed.upper()}/USDT"
    assert chosen.args[0].venue == "binance"


@pytest.mark.usefixtures("finder")
def test_a_market_is_listed_once_and_invalid_ones_are_not(bench: Bench, qtbot: QtBot) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "market usdt")
    names = [name for name in shown(dialog) if "/" in name]
    assert names.count("BTC/USDT") == 1
    assert "no symbol" not in names and "XMR/EUR" not in names


@pytest.mark.parametrize("venue", ["file", "simulated"])
def test_no_symbols_of_an_exchange_are_offered_for_a_source_without_any(
    make_bench: MakeBench, qtbot: QtBot, venue: str
) -> None:
    """Regression: after a replay of hours the finder offered BTC/EUR 1h from a file."""
    market = MarketSettings(feed="stored", venue=venue, symbol="rates", interval="1h")
    bench = make_bench(settings=Settings(market=market, watchlist=WatchlistSettings(markets=())))
    stored = (Market(venue, "rates", Interval.parse("1h")),)
    finder = Finder(bench.shell, bench.theme, bench.source, bench.market_choice, lambda _venue: (), lambda: stored)
    dialog = finder.open()
    QTest.keyClicks(dialog.line, "market 1h")
    markets = [row.text for row in dialog.model.rows if row.kind is EntryKind.MARKET]
    assert markets == ["rates"]


@pytest.mark.parametrize("typed", ["rsi", "relative strength"])
def test_an_indicator_is_found_by_both_names(bench: Bench, finder: Finder, qtbot: QtBot, typed: str) -> None:
    kinds: list[str] = []
    finder.indicator_chosen.connect(kinds.append)
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, typed)
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert kinds == ["rsi"]


@pytest.mark.usefixtures("finder")
def test_a_search_without_a_match_says_so(bench: Bench, qtbot: QtBot) -> None:
    dialog = opened(bench, qtbot)
    QTest.keyClicks(dialog.line, "zzzz")
    assert dialog.empty.isVisible()
    assert not dialog.list.isVisible()
    QTest.keyClick(dialog.line, KEYS.Key_Return)
    assert dialog.isVisible()
    QTest.keyClick(dialog.line, KEYS.Key_Escape)
    assert not dialog.isVisible()
