from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from core.market.feeds.replay_speed import WATCHABLE_SPEED
from core.settings.tree import MarketSettings
from desktop.dialogs import file_check
from desktop.dialogs.market import MarketDialog
from tests.support.candles import random_walk, write_csv

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def dialog(qtbot: QtBot) -> MarketDialog:
    dialog = MarketDialog(MarketSettings())
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def choose_feed(dialog: MarketDialog, feed: str) -> None:
    dialog.feed.setCurrentIndex(dialog.feed.findData(feed))


def type_into(qtbot: QtBot, box: QComboBox, text: str) -> None:
    """With the focus, as after a click: completion needs it."""
    edit = box.lineEdit()
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    edit.selectAll()
    qtbot.keyClicks(edit, text)


def test_the_dialog_returns_the_given_settings(dialog: MarketDialog) -> None:
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
    """Regression: it became BTC/USDT during typing."""
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
def test_an_unknown_exchange_is_refused_before_the_current_market_is_closed(
    qtbot: QtBot, dialog: MarketDialog, feed: str, venue: str
) -> None:
    choose_feed(dialog, feed)
    type_into(qtbot, dialog.venue, venue)
    assert not dialog.buttons.button(OK).isEnabled()
    with pytest.raises(ValueError, match="not a known exchange"):
        dialog.market()


def test_after_an_imported_market_live_selects_an_exchange(qtbot: QtBot) -> None:
    dialog = MarketDialog(MarketSettings(feed="stored", venue="file", symbol="AAPL/USD"))
    qtbot.addWidget(dialog)
    choose_feed(dialog, "live")
    assert dialog.market().venue == "binance"
    choose_feed(dialog, "stored")
    dialog.venue.setCurrentText("file")
    assert dialog.market().venue == "file"


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [("symbol", "BTCUSDT", "BASE/QUOTE"), ("interval", "soon", "not an interval"), ("venue", " ", "Enter an exchange")],
)
def test_an_invalid_market_is_refused_with_a_message(
    qtbot: QtBot, dialog: MarketDialog, field: str, typed: str, said: str
) -> None:
    type_into(qtbot, getattr(dialog, field), typed)
    assert said in dialog._message.text()
    assert not dialog.buttons.button(OK).isEnabled()


def test_the_fallback_order_is_set_and_an_invalid_one_refused(qtbot: QtBot, dialog: MarketDialog) -> None:
    dialog.fallback.selectAll()
    qtbot.keyClicks(dialog.fallback, "OKX, kraken")
    assert dialog.market().fallback_venues == ("okx", "kraken")
    qtbot.keyClicks(dialog.fallback, ", kraken")
    assert "once" in dialog._message.text() and not dialog.buttons.button(OK).isEnabled()
    choose_feed(dialog, "simulate")
    assert dialog.market().fallback_venues == MarketSettings().fallback_venues


def test_only_fields_of_the_feed_are_shown(dialog: MarketDialog) -> None:
    choose_feed(dialog, "replay")
    assert dialog.picker.line.isVisible() and dialog.speed.isVisible() and not dialog.venue.isVisible()
    choose_feed(dialog, "auto")
    assert dialog.venue.isVisible() and not dialog.picker.line.isVisible()


def test_a_replay_needs_a_file_that_exists(qtbot: QtBot, dialog: MarketDialog, tmp_path: Path) -> None:
    choose_feed(dialog, "replay")
    assert not dialog.buttons.button(OK).isEnabled()
    dialog.picker.line.setText(str(tmp_path / "missing.csv"))
    qtbot.waitUntil(lambda: "There is no file" in dialog._message.text())
    assert not dialog.buttons.button(OK).isEnabled()
    path = write_csv(tmp_path / "candles.csv", random_walk(30))
    dialog.picker.line.setText(str(path))
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
    assert chosen.args[0].file == str(path) and not dialog.isVisible()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (("1,-1,-1,1",), "1 row of candles.csv is rejected (price not above zero); the others are replayed."),
        (
            ("1,-1,-1,1", "1,2,3,1"),
            "2 rows of candles.csv are rejected: 1 (price not above zero), 1 (high or low does not enclose open and "
            "close); the others are replayed.",
        ),
    ],
)
def test_the_number_of_rejected_rows_is_shown_before_a_replay(
    qtbot: QtBot, dialog: MarketDialog, tmp_path: Path, bad: tuple[str, ...], message: str
) -> None:
    path = write_csv(tmp_path / "candles.csv", random_walk(30))
    head, *rows = path.read_text().splitlines()
    for number, prices in enumerate(bad, start=3):
        time, *_, volume = rows[number].split(",")
        rows[number] = f"{time},{prices},{volume}"
    path.write_text("\n".join((head, *rows)))
    choose_feed(dialog, "replay")
    with qtbot.assertNotEmitted(dialog.chosen):
        dialog.picker.line.setText(str(path))
        qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: dialog._message.text().endswith(f" missing. {message}"))
    with qtbot.waitSignal(dialog.chosen):
        qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)


WRONG = {
    "no table": b"Dear diary,\nnothing happened.\n",
    "nothing": b"",
    "a column too few": b"time,open,high,low\n1700000000,1,2,1\n",
    "no text": bytes(range(256)),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_unreplayable_file_is_refused_in_the_dialog(
    qtbot: QtBot, dialog: MarketDialog, tmp_path: Path, kind: str
) -> None:
    """Regression: the dialog had closed by the time its file was refused."""
    wrong = tmp_path / "wrong.csv"
    wrong.write_bytes(WRONG[kind])
    choose_feed(dialog, "replay")
    with qtbot.assertNotEmitted(dialog.chosen):
        dialog.picker.line.setText(str(wrong))
        qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
        assert dialog.isVisible() and dialog._message.text() == "Reading wrong.csv…"
        assert not dialog.buttons.button(OK).isEnabled()
        qtbot.waitUntil(lambda: dialog._message.text() not in ("", "Reading wrong.csv…"))
    assert dialog.isVisible() and wrong.name in dialog._message.text()
    assert not dialog.buttons.button(OK).isEnabled()
    with pytest.raises(ValueError, match=r"wrong\.csv"):
        dialog.market()
    choose_feed(dialog, "simulate")
    assert not dialog._message.isVisible() and dialog.buttons.button(OK).isEnabled()


def test_a_file_fixed_meanwhile_is_checked_again(qtbot: QtBot, dialog: MarketDialog, tmp_path: Path) -> None:
    path = tmp_path / "candles.csv"
    path.write_bytes(b"")
    choose_feed(dialog, "replay")
    dialog.picker.line.setText(str(path))
    qtbot.waitUntil(lambda: "is empty" in dialog._message.text())
    write_csv(path, random_walk(30))
    QApplication.sendEvent(dialog, QEvent(QEvent.Type.WindowActivate))
    qtbot.waitUntil(dialog.buttons.button(OK).isEnabled)
    assert dialog._message.text() == "30 candles of 1m from 2020-12-01 00:00 to 2020-12-01 00:29 UTC, without gaps."


def test_the_windows_thread_does_not_access_the_disk(
    qtbot: QtBot, dialog: MarketDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drive on a network may not answer for minutes: other fields can be used meanwhile, and Cancel."""
    asked_on: list[threading.Thread] = []
    answers = threading.Event()

    def slow(path: Path) -> None:
        asked_on.append(threading.current_thread())
        answers.wait(30.0)

    monkeypatch.setattr(file_check, "require_readable", slow)
    choose_feed(dialog, "replay")
    dialog.picker.line.setText(str(write_csv(tmp_path / "candles.csv", random_walk(30))))
    qtbot.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(asked_on))
    dialog.speed.setValue(3.0)
    assert dialog.market().speed == 3.0 and dialog.isVisible()
    dialog.reject()
    answers.set()
    assert not dialog.isVisible() and threading.current_thread() not in asked_on


def test_a_path_can_be_read_in_the_field(qtbot: QtBot, dialog: MarketDialog) -> None:
    choose_feed(dialog, "replay")
    path = "/home/somebody/Downloads/binance-BTCUSDT-15m-2024.csv"
    dialog.grab()  # which lays it out
    assert dialog.picker.line.width() > dialog.picker.line.fontMetrics().horizontalAdvance(path)
    dialog.picker.line.setText(path)
    assert path in dialog.picker.line.toolTip()


def test_the_sample_can_be_chosen_and_a_changed_choice_continues_no_other_replay(qtbot: QtBot, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "candles.csv", random_walk(30))
    before = MarketSettings(feed="replay", file=str(path), replayed_as="candles, replay 2#dd2831")
    dialog = MarketDialog(before)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.picker.problem == "")
    assert dialog.market() == before
    dialog.picker.line.setText(str(write_csv(tmp_path / "others.csv", random_walk(40))))
    assert dialog.market().replayed_as is None
    choose_feed(dialog, "sample")
    assert (dialog.market().feed, dialog.market().replayed_as) == ("sample", None)


def test_a_replay_has_a_watchable_default_speed(dialog: MarketDialog, tmp_path: Path) -> None:
    path = tmp_path / "candles.csv"
    path.write_text("time,open\n")
    dialog.picker.line.setText(str(path))
    choose_feed(dialog, "replay")
    assert dialog.speed.value() == WATCHABLE_SPEED and dialog.market().speed is None
    choose_feed(dialog, "simulate")
    assert dialog.speed.text() == "in real time" and dialog.market().speed is None
    choose_feed(dialog, "replay")
    dialog.speed.setValue(0.0)
    assert dialog.speed.text() == "as fast as possible" and dialog.market().speed == 0.0


@pytest.mark.parametrize("text", ["0.5", "0,5"])
def test_a_decimal_speed_may_be_typed_with_a_comma(
    qtbot: QtBot, dialog: MarketDialog, tmp_path: Path, text: str
) -> None:
    """Regression: Qt took the one or the other for what parts thousands, and half a candle became five."""
    dialog.picker.line.setText(str(write_csv(tmp_path / "candles.csv", random_walk(30))))
    choose_feed(dialog, "replay")
    dialog.speed.selectAll()
    qtbot.keyClicks(dialog.speed, text)
    dialog.speed.editingFinished.emit()
    assert dialog.speed.value() == 0.5 and dialog.market().speed == 0.5


def test_a_speed_out_of_range_is_refused_and_not_accepted(qtbot: QtBot, dialog: MarketDialog) -> None:
    choose_feed(dialog, "simulate")
    dialog.speed.selectAll()
    qtbot.keyClicks(dialog.speed, "99999")
    assert not dialog.buttons.button(OK).isEnabled()
    with qtbot.assertNotEmitted(dialog.chosen):
        qtbot.keyClick(dialog.speed, Qt.Key.Key_Return)
    dialog.speed.selectAll()
    qtbot.keyClicks(dialog.speed, "20")
    qtbot.waitUntil(dialog.buttons.button(OK).isEnabled)
    assert dialog.market().speed == 20.0


def test_the_words_for_no_limit_are_not_refused_as_a_number(qtbot: QtBot, dialog: MarketDialog) -> None:
    choose_feed(dialog, "simulate")
    with qtbot.assertNotEmitted(dialog.speed.refused):
        dialog.speed.editingFinished.emit()
    assert dialog.speed.text() == "in real time" and dialog.speed.value() == 0.0


def test_browse_opens_a_chooser_without_blocking(qtbot: QtBot, dialog: MarketDialog, tmp_path: Path) -> None:
    choose_feed(dialog, "replay")
    qtbot.mouseClick(dialog.picker.browse, Qt.MouseButton.LeftButton)
    chooser = dialog.findChild(QFileDialog)
    assert chooser is not None and chooser.isVisible()
    endings = chooser.nameFilters()[0].partition("(")[2].rstrip(")").split()
    assert {"*.txt", "*.zip", "*.zst", "*.json", "*.pq"} < set(endings) and "*.xlsx" not in endings, (
        "those that can be read"
    )
    chooser.filesSelected.emit([str(tmp_path / "candles.csv")])
    assert dialog.picker.line.text() == str(tmp_path / "candles.csv")
    chooser.reject()


def test_a_replayed_files_market_is_shown_without_its_fingerprint_and_kept(qtbot: QtBot) -> None:
    dialog = MarketDialog(MarketSettings(feed="stored", venue="file", symbol="walk#dd2831"))
    qtbot.addWidget(dialog)
    assert dialog.symbol.currentText() == "walk" and dialog.market().symbol == "walk#dd2831"
    dialog.symbol.setCurrentText("walk#aaaaaa")
    assert dialog.market().symbol == "walk#aaaaaa"
    dialog.symbol.setCurrentText("other")
    assert dialog.market().symbol == "other"
