from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from core.settings import MarketSettings
from desktop.dialogs.market import MarketDialog
from desktop.market_feed import WATCHABLE_SPEED

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def dialog(qtbot: QtBot) -> MarketDialog:
    dialog = MarketDialog(MarketSettings())
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitExposed(dialog)
    return dialog


def choose_feed(dialog: MarketDialog, feed: str) -> None:
    dialog.feed.setCurrentIndex(dialog.feed.findData(feed))


def type_into(qtbot: QtBot, box: QComboBox, text: str) -> None:
    """As somebody does who has clicked into it: what completes a text does so with the focus alone."""
    edit = box.lineEdit()
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    edit.selectAll()
    qtbot.keyClicks(edit, text)


def test_what_it_was_given_comes_back(dialog: MarketDialog) -> None:
    assert dialog.market() == MarketSettings()


def test_a_market_is_chosen(qtbot: QtBot, dialog: MarketDialog) -> None:
    choose_feed(dialog, "live")
    type_into(qtbot, dialog.symbol, "eth/usdt")
    type_into(qtbot, dialog.interval, "15m")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
    market = chosen.args[0]
    assert (market.feed, market.symbol, market.interval) == ("live", "ETH/USDT", "15m")


@pytest.mark.parametrize("symbol", ["BTC/USD", "btc/usd", "BTC/U"])
def test_a_symbol_stays_as_it_is_typed(qtbot: QtBot, dialog: MarketDialog, symbol: str) -> None:
    """It became BTC/USDT while one typed."""
    type_into(qtbot, dialog.symbol, symbol)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.symbol.lineEdit(), Qt.Key.Key_Return)
    assert chosen.args[0].symbol == symbol.upper()


@pytest.mark.parametrize("interval", ["5m", "1h", "2h"])
def test_the_first_return_in_the_interval_watches(qtbot: QtBot, dialog: MarketDialog, interval: str) -> None:
    type_into(qtbot, dialog.interval, interval)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.interval.lineEdit(), Qt.Key.Key_Return)
    assert chosen.args[0].interval == interval and not dialog.isVisible()


@pytest.mark.parametrize("venue", ["file", "simulated", "File"])
@pytest.mark.parametrize("feed", ["auto", "live"])
def test_what_is_no_exchange_is_refused_before_the_market_that_runs_is_left(
    qtbot: QtBot, dialog: MarketDialog, feed: str, venue: str
) -> None:
    choose_feed(dialog, feed)
    type_into(qtbot, dialog.venue, venue)
    assert not dialog.buttons.button(OK).isEnabled()
    with pytest.raises(ValueError, match="not an exchange"):
        dialog.market()


def test_after_an_imported_market_live_is_of_an_exchange(qtbot: QtBot) -> None:
    dialog = MarketDialog(MarketSettings(feed="stored", venue="file", symbol="AAPL/USD"))
    qtbot.addWidget(dialog)
    choose_feed(dialog, "live")
    assert dialog.market().venue == "binance"
    choose_feed(dialog, "stored")
    dialog.venue.setCurrentText("file")
    assert dialog.market().venue == "file"


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [("symbol", "BTCUSDT", "BASE/QUOTE"), ("interval", "soon", "not an interval"), ("venue", " ", "Name an exchange")],
)
def test_what_cannot_be_watched_is_refused_in_words(
    qtbot: QtBot, dialog: MarketDialog, field: str, typed: str, said: str
) -> None:
    type_into(qtbot, getattr(dialog, field), typed)
    assert said in dialog._message.text()
    assert not dialog.buttons.button(OK).isEnabled()


def test_the_fall_back_order_is_set_and_one_that_makes_no_sense_refused(qtbot: QtBot, dialog: MarketDialog) -> None:
    dialog.fallback.selectAll()
    qtbot.keyClicks(dialog.fallback, "OKX, kraken")
    assert dialog.market().fallback_venues == ("okx", "kraken")
    qtbot.keyClicks(dialog.fallback, ", kraken")
    assert "once" in dialog._message.text() and not dialog.buttons.button(OK).isEnabled()
    choose_feed(dialog, "simulate")
    assert dialog.market().fallback_venues == MarketSettings().fallback_venues


def test_only_what_the_feed_uses_is_shown(dialog: MarketDialog) -> None:
    choose_feed(dialog, "replay")
    assert dialog.file.isVisible() and dialog.speed.isVisible() and not dialog.venue.isVisible()
    choose_feed(dialog, "auto")
    assert dialog.venue.isVisible() and not dialog.file.isVisible()


def test_a_replay_needs_a_file_that_exists(dialog: MarketDialog, tmp_path: Path) -> None:
    choose_feed(dialog, "replay")
    assert not dialog.buttons.button(OK).isEnabled()
    dialog.file.setText(str(tmp_path / "missing.csv"))
    assert "There is no file" in dialog._message.text()
    path = tmp_path / "candles.csv"
    path.write_text("time,open\n")
    dialog.file.setText(str(path))
    assert dialog.market().file == str(path)


def test_a_replay_runs_at_a_speed_that_can_be_watched_unless_another_is_chosen(
    dialog: MarketDialog, tmp_path: Path
) -> None:
    path = tmp_path / "candles.csv"
    path.write_text("time,open\n")
    dialog.file.setText(str(path))
    choose_feed(dialog, "replay")
    assert dialog.speed.value() == WATCHABLE_SPEED and dialog.market().speed is None
    choose_feed(dialog, "simulate")
    assert dialog.speed.text() == "in real time" and dialog.market().speed is None
    choose_feed(dialog, "replay")
    dialog.speed.setValue(0.0)
    assert dialog.speed.text() == "as fast as it goes" and dialog.market().speed == 0.0


def test_browse_opens_a_chooser_without_blocking(qtbot: QtBot, dialog: MarketDialog, tmp_path: Path) -> None:
    choose_feed(dialog, "replay")
    qtbot.mouseClick(dialog.browse, Qt.MouseButton.LeftButton)
    chooser = dialog.findChild(QFileDialog)
    assert chooser is not None and chooser.isVisible()
    chooser.fileSelected.emit(str(tmp_path / "candles.csv"))
    assert dialog.file.text() == str(tmp_path / "candles.csv")
    chooser.reject()
