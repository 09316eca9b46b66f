"""The job dialogs: sound defaults, error messages, names for a screen reader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import Stamp
from core.market.history.forms.recognise import FORMS
from core.market.history.open_file import require_readable
from core.market.history.opening_times import OpeningTimes
from core.market.history.read import require_table
from core.market.history.report import stamp_sentence
from core.settings.tree import MarketSettings
from core.settings.window import AppearanceSettings
from desktop.dialogs import file_check
from desktop.dialogs.file_check import Found, check_importable
from desktop.jobs import history_dialogs
from desktop.jobs.child import Ending
from desktop.jobs.contents import Preview
from desktop.jobs.form import JobDialog
from desktop.jobs.history_dialogs import BackfillDialog, ImportDialog
from desktop.jobs.job_commands import Order, in_fields, skip_title
from desktop.jobs.model_dialogs import EvaluateDialog, PretrainDialog
from desktop.ui.interface_size import set_font
from desktop.ui.plain_text import Label
from tests.desktop import scenario

NOW_MS = 1_700_000_000_000
LATER_MS = 1_900_000_020_000
"""Later than what the checkpoints have learned."""
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a file in the next turn of the event loop, instead of after a pause in typing."""
    monkeypatch.setattr(file_check, "_PAUSE_MS", 0)
    monkeypatch.setattr(file_check, "_ASKED_EVERY_MS", 1)
    monkeypatch.setattr(history_dialogs, "_PAUSE_MS", 0)


@pytest.fixture
def candles(tmp_path: Path) -> Path:
    return of_minutes(tmp_path / "my candles.csv", 1)


def of_minutes(path: Path, minutes: int) -> Path:
    rows = (f"{LATER_MS + 60_000 * minutes * row},1,2,1,2,3\n" for row in range(40))
    path.write_text("time,open,high,low,close,volume\n" + "".join(rows))
    return path


def evaluate(tmp_path: Path) -> EvaluateDialog:
    kept = scenario.Library(scenario.checkpoints()).page(None, 5)
    return EvaluateDialog(kept, kept[1].info.checkpoint_id, tmp_path / "reports", NOW, "cpu")


def ordered(qtbot: QtBot, dialog: JobDialog) -> Order:
    with qtbot.waitSignal(dialog.ordered) as signal:
        dialog.buttons.button(dialog.buttons.StandardButton.Ok).click()
    order = signal.args[0]
    assert isinstance(order, Order)
    return order


def test_an_import_needs_only_the_file(qtbot: QtBot, candles: Path) -> None:
    named = candles.with_name("binance_BTCUSDT.csv")
    named.write_bytes(candles.read_bytes())
    dialog = ImportDialog()
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(named))
    order = ordered(qtbot, dialog)
    assert order.arguments == ("import", "--", str(named)) and named.name in order.title


def test_an_import_requires_the_exchange_if_the_file_name_lacks_it(qtbot: QtBot, candles: Path) -> None:
    dialog = ImportDialog()
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(candles))
    assert "“Exchange”" in dialog.message.text() and "--" not in dialog.message.text()
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
    dialog.venue.setCurrentText("file")
    assert ordered(qtbot, dialog).arguments[1:3] == ("--venue", "file")


def test_a_backfill_defaults_to_thirty_days_of_the_current_market(qtbot: QtBot) -> None:
    dialog = BackfillDialog(MarketSettings(venue="kraken", symbol="ETH/EUR", interval="5m"), NOW_MS)
    qtbot.addWidget(dialog)
    market = ("--venue", "kraken", "--symbol", "ETH/EUR", "--interval", "5m")
    assert ordered(qtbot, dialog).arguments == ("backfill", *market, "--since", "2023-10-15")


def test_pretraining_has_the_defaults_of_the_command(qtbot: QtBot, candles: Path) -> None:
    dialog = PretrainDialog("auto")
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(f"{candles}; {candles}")
    arguments = ordered(qtbot, dialog).arguments
    options = dict(zip(arguments[1:11:2], arguments[2:12:2], strict=True))
    assert options == {
        "--epochs": "10",
        "--validation-share": "0.2",
        "--patience": "3",
        "--batch-size": "32",
        "--device": "auto",
    }
    assert arguments[-3:] == ("--", str(candles), str(candles))


def test_a_gpu_by_number_in_the_settings_is_offered_to_a_job(qtbot: QtBot, candles: Path) -> None:
    dialog = PretrainDialog("cuda:1")
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(candles))
    arguments = ordered(qtbot, dialog).arguments
    assert arguments[arguments.index("--device") + 1] == "cuda:1"


def test_pretraining_does_not_start_with_a_file_without_candles(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: the job was started, and failed seconds later."""
    people = tmp_path / "people.csv"
    people.write_text("name,age\nAda,36\nAlan,41\n")
    dialog = PretrainDialog("auto")
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(f"{of_minutes(tmp_path / 'sound.csv', 1)}; {people}")
    qtbot.waitUntil(lambda: people.name in dialog.message.text())
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()


def test_pretraining_does_not_start_with_files_of_two_intervals(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: as above."""
    one, five = of_minutes(tmp_path / "one.csv", 1), of_minutes(tmp_path / "five.csv", 5)
    dialog = PretrainDialog("auto")
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(f"{one}; {five}")
    qtbot.waitUntil(lambda: "five.csv: 5m" in dialog.message.text())
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
    dialog.picker.line.setText(str(five))
    assert ordered(qtbot, dialog).arguments[-1:] == (str(five),)


def test_an_evaluation_names_its_checkpoint_and_whether_it_learns(qtbot: QtBot, tmp_path: Path, candles: Path) -> None:
    dialog = evaluate(tmp_path)
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(candles))
    first = dialog.order()
    assert first.checkpoint_id == dialog.checkpoint.currentData() and "--frozen" not in first.arguments
    assert first.page is not None and first.page.parent == tmp_path / "reports" and first.page.suffix == ".html"
    dialog.learning.setCurrentIndex(1)
    dialog.counts_seen.setChecked(True)
    assert {"--frozen", "--count-seen", first.checkpoint_id} <= set(dialog.order().arguments)
    dialog.checkpoint.setCurrentIndex(0)
    new = dialog.order()
    assert new.checkpoint_id is None and not {"--frozen", "--count-seen", "--checkpoint"} & set(new.arguments)


def test_a_file_without_candles_is_not_evaluated(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: the job was started, and failed a second later."""
    people = tmp_path / "people.csv"
    people.write_text("name,age\nAda,36\nAlan,41\n")
    dialog = evaluate(tmp_path)
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(people))
    qtbot.waitUntil(lambda: people.name in dialog.message.text())
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()


def test_a_file_of_another_interval_than_the_checkpoints_is_not_evaluated(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: the job was started, and failed seconds later."""
    five, one = (of_minutes(tmp_path / f"{minutes} minutes.csv", minutes) for minutes in (5, 1))
    dialog = evaluate(tmp_path)
    qtbot.addWidget(dialog)
    start = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    dialog.picker.line.setText(str(five))
    sentence = f"The checkpoint has learned candles of 1m, and {five.name} holds candles of 5m. Give a file of 1m."
    qtbot.waitUntil(lambda: dialog.message.text() == sentence)
    assert not start.isEnabled()
    chosen = dialog.checkpoint.currentIndex()
    dialog.checkpoint.setCurrentIndex(0)
    qtbot.waitUntil(lambda: dialog.picker.problem is not None)
    assert start.isEnabled() and dialog.message.isHidden(), "a new model learns candles of any interval"
    dialog.checkpoint.setCurrentIndex(chosen)
    qtbot.waitUntil(lambda: dialog.message.text() == sentence)
    dialog.picker.line.setText(str(one))
    assert ordered(qtbot, dialog).checkpoint_id is not None


def test_a_file_that_the_checkpoint_knows_is_not_evaluated(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: the job was started, and failed seconds later."""
    dialog = evaluate(tmp_path)
    qtbot.addWidget(dialog)
    kept = dialog._chosen()
    assert kept is not None
    start = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    until_ms = kept.info.candle_open_time_ms + kept.interval_ms
    for name, last_ms in (("known", until_ms - 60_000), ("one later", until_ms)):
        rows = (f"{last_ms - 60_000 * age},1,2,1,2,3\n" for age in range(39, -1, -1))
        (tmp_path / f"{name}.csv").write_text("time,open,high,low,close,volume\n" + "".join(rows))
    dialog.picker.line.setText(str(tmp_path / "known.csv"))
    qtbot.waitUntil(lambda: dialog.message.text().startswith("Every candle of known.csv is from before"))
    assert not start.isEnabled() and f"“{dialog.counts_seen.text()}”" in dialog.message.text()
    dialog.counts_seen.click()
    qtbot.waitUntil(lambda: dialog.picker.problem is not None)
    assert start.isEnabled() and dialog.message.isHidden()
    dialog.counts_seen.click()
    qtbot.waitUntil(lambda: not start.isEnabled())
    dialog.picker.line.setText(str(tmp_path / "one later.csv"))
    qtbot.waitUntil(lambda: dialog.picker.problem is not None)
    assert ordered(qtbot, dialog).checkpoint_id is not None


MAKERS: dict[str, Callable[[Path], JobDialog]] = {
    "import": lambda _: ImportDialog(),
    "history": lambda _: BackfillDialog(MarketSettings(), NOW_MS),
    "pretrain": lambda _: PretrainDialog("cpu"),
    "evaluate": evaluate,
}


@pytest.mark.parametrize("name", list(MAKERS))
def test_an_invalid_entry_shows_a_message_and_nothing_starts(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    dialog = MAKERS[name](tmp_path)
    qtbot.addWidget(dialog)
    if isinstance(dialog, BackfillDialog):
        dialog.since.setText("the other day")
    else:
        picker = dialog.picker  # type: ignore[attr-defined]
        for wrong, words in (
            ("", "Choose a candle file"),
            (str(tmp_path), "is a folder"),
            ("~none-such/none.csv", "no file"),
        ):
            picker.line.setText(wrong)
            qtbot.waitUntil(lambda words=words: words in dialog.message.text())
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
    assert dialog.message.text() and not dialog.message.isHidden()
    orders: list[object] = []
    dialog.ordered.connect(orders.append)
    dialog.accept()
    assert orders == []


@pytest.mark.parametrize("name", ["import", "pretrain", "evaluate"])
def test_a_hanging_disk_does_not_block_the_dialog(
    qtbot: QtBot, tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As of an unreachable network share. A button pressed meanwhile takes effect once it answers."""
    named, disk, looks = tmp_path / "binance_BTCUSDT.csv", threading.Event(), []

    def stalled(path: Path) -> None:
        looks.append(threading.current_thread())
        disk.wait(30.0)
        require_readable(path)

    monkeypatch.setattr(file_check, "require_readable", stalled)
    dialog = MAKERS[name](tmp_path)
    qtbot.addWidget(dialog)
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    for text, ends_well in (("", False), (f"{candles.read_text()}1900000080000,1,2,1,2,3\n", True)):
        named.write_text(text)
        before = len(looks)
        disk.clear()
        dialog.picker.line.clear()  # type: ignore[attr-defined]
        dialog.picker.line.setText(str(named))  # type: ignore[attr-defined]
        qtbot.waitUntil(lambda before=before: len(looks) > before)
        with qtbot.assertNotEmitted(dialog.ordered):
            ok.click()
        assert dialog.message.text() == "Reading…" and not ok.isEnabled()
        with qtbot.waitSignals([dialog.ordered] if ends_well else [dialog.picker.answered]):  # type: ignore[attr-defined]
            disk.set()
        assert ends_well or "is empty" in dialog.message.text()
    assert threading.main_thread() not in looks


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("batch_size", "70000", "Batch size: 70000 is out of range. Enter a number from 1 to 65,536."),
        ("share", "90", "Validation share: 90 is out of range. Enter a number from 5 to 50."),
        ("epochs", "0", "Epochs: 0 is out of range. Enter a number from 1 to 10,000."),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(
    qtbot: QtBot, candles: Path, name: str, text: str, words: str
) -> None:
    """Regression: 70000 became 7,000, because typing stopped at the end of the range."""
    dialog = PretrainDialog("cpu")
    qtbot.addWidget(dialog)
    dialog.show()
    with qtbot.waitSignal(dialog.picker.answered):
        dialog.picker.line.setText(str(candles))
    box = getattr(dialog, name)
    before = box.value()
    box.setFocus()
    box.lineEdit().setSelection(0, len(box.textFromValue(before)))
    qtbot.keyClicks(box, text)
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    assert dialog.message.text() == words and not ok.isEnabled()
    with qtbot.assertNotEmitted(dialog.ordered):
        qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(ok.isEnabled)
    assert box.value() == before and dialog.message.text().startswith(words)
    assert dialog.message.text().endswith("stays.")
    dialog.picker.answered.emit()  # as where the disk was slow
    assert dialog.message.text().startswith(words) and ok.isEnabled()
    box.setValue(before + 1)
    dialog.check()
    assert dialog.message.text() == ""


@pytest.mark.parametrize("name", list(MAKERS))
def test_keyboard_focus_begins_at_the_files_or_at_the_start_button(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    """Regression: it was on Cancel."""
    dialog = MAKERS[name](tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    start, picker = dialog.buttons.button(dialog.buttons.StandardButton.Ok), dialog._picker
    expected = start if start.isEnabled() else None if picker is None else picker.line
    assert dialog.focusWidget() is expected


@pytest.mark.parametrize("name", list(MAKERS))
def test_every_control_has_a_name(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    dialog = MAKERS[name](tmp_path)
    qtbot.addWidget(dialog)
    kinds = (QLineEdit, QComboBox, QAbstractSpinBox, QAbstractButton)
    controls = [each for kind in kinds for each in dialog.findChildren(kind)]
    assert len(controls) > 3
    nameless = [each for each in controls if not _name(each)]
    assert nameless == []


def _name(control: QWidget) -> str:
    text = control.text() if isinstance(control, QAbstractButton) else ""
    parent = control.parent()
    inside = isinstance(parent, (QComboBox, QAbstractSpinBox)) and bool(parent.accessibleName())
    return control.accessibleName() or text or ("inside" if inside else "")


def account(**more: object) -> dict[str, object]:
    """A dry run's, of one file."""
    first = {"open_time_ms": 1_709_251_200_000, "open": 9.0, "high": 11.0, "low": 8.0, "close": 10.0, "volume": 0.5}
    return {
        "file": "my candles.csv",
        "rows": 12,
        "candles": 12,
        "interval": "1m",
        "first": first,
        "last": {**first, "open_time_ms": first["open_time_ms"] + 11 * 60_000},
        "form": "bitmex-candles",
        "form_read_as": FORMS["bitmex-candles"].title,
        "zone": "UTC is assumed, as the file names none; --time-zone names another",
        "is_zone_assumed": True,
        "stamp": "the end of each candle, as files of this form have it; each was moved back by 1m",
        "volume": "column homeNotional, in the base currency",
        "numbers": "a comma is the decimal sign",
        "rejected": {"not a number": 3},
        "left_out": [{"reason": "not a number", "count": 3, "example": "line 7: 2024-03-01T00:07:00.000Z,oops"}],
        "repeated": 2,
        "contradicting": 1,
        "holes": 0,
        "missing": 0,
        "new": 7,
        "venue": "binance",
        "symbol": "BTC/USDT",
        "unnamed": None,
        "suggestion": None,
    } | more


LONG = (
    "my candles.csv: 2,083 of 2,318 rows cannot be used: high or low does not enclose open and close. Perhaps its "
    "columns are in another order. The columns are open, high, low, close and volume; times are of one zone. "
)
ASKS = (
    "my candles.csv has a layout that several vendors use, with other times. Name the one that it is from: --form "
    "histdata-ascii (HistData, ASCII minutes) or --form ninjatrader (NinjaTrader, minutes)."
)


class Aside(QObject):
    """A child process that inspects files, with the test's result."""

    over = Signal(object)

    def __init__(self, ending: Ending | None) -> None:
        """None: the test emits it."""
        super().__init__()
        self._ending = ending

    def start(self) -> None:
        if self._ending is not None:
            self.over.emit(self._ending)

    def kill(self) -> None:
        """It has ended."""


def looked_at(qtbot: QtBot, file: Path, ending: Ending) -> ImportDialog:
    nothing_yet = "How the files are read is shown here."
    dialog = ImportDialog(start_child=lambda _arguments, _owner: Aside(ending), files=[file])  # type: ignore[arg-type, return-value]
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.found.text() not in (nothing_yet, "Reading…"))
    for _ in range(3):  # layouts in layouts take a turn each
        QApplication.processEvents()
    return dialog


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("ending", [Ending(None, LONG), Ending(None, (LONG * 3)[:590]), Ending({"files": [account()]})])
def test_the_import_dialog_shows_the_whole_preview(
    qtbot: QtBot, qapp: QApplication, candles: Path, percent: int, ending: Ending
) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    dialog = looked_at(qtbot, candles, ending)
    labels = dialog.found.findChildren(Label)
    for label in labels:
        assert label.height() >= label.heightForWidth(label.width()) > 0, label.text()
        place = QRect(label.mapTo(dialog.found.viewport(), QPoint(0, 0)), label.size())
        assert dialog.found.viewport().rect().contains(place), label.text()
    assert labels and dialog.rect().contains(dialog.found.geometry())


def test_many_files_are_scrolled_and_the_buttons_stay_on_the_screen(qtbot: QtBot, candles: Path) -> None:
    dialog = looked_at(qtbot, candles, Ending({"files": [account(file=f"{number}.csv") for number in range(40)]}))
    assert "39.csv" in dialog.found.text() and dialog.found.verticalScrollBar().maximum() > 0
    assert dialog.screen().availableGeometry().contains(dialog.frameGeometry())
    assert dialog.rect().contains(dialog.buttons.geometry())


def test_the_preview_shows_how_a_file_is_read(qtbot: QtBot, candles: Path) -> None:
    dialog = looked_at(qtbot, candles, Ending({"files": [account()]}))
    texts = dialog.found.text().splitlines()
    rows = dict(zip(texts[1::2], texts[2::2], strict=True))
    assert texts[0].startswith("my candles.csv: 12 rows, 12 candles of 1m; 7 new")
    assert rows["Form"] == "BitMEX, trade/bucketed" and rows["Times mark"].startswith("the end of each candle")
    assert "“Time zone”" in rows["Time zone"] and rows["Numbers"] == "a comma is the decimal sign"
    assert rows["First candle"] == "2024-03-01 00:00 UTC: open 9, high 11, low 8, close 10, volume 0.5"
    assert rows["Left out"] == "3 (not a number), such as line 7: 2024-03-01T00:07:00.000Z,oops"
    assert rows["Repeated"].startswith("2 rows, 1 with other numbers")
    emphasised = [label.text() for label in dialog.found.findChildren(Label) if label.font().bold()]
    assert emphasised == [texts[0], rows["Time zone"]], "what is assumed is seen at once"
    assert f"Volume: {rows['Volume']}" in [label.accessibleName() for label in dialog.found.findChildren(Label)]


def test_the_fields_of_reading_are_carried_by_the_order(qtbot: QtBot, candles: Path) -> None:
    dialog = ImportDialog(files=[candles])
    qtbot.addWidget(dialog)
    dialog.venue.setCurrentText("file")
    dialog.known_form.setCurrentText(FORMS["ninjatrader"].title)
    dialog.stamp.setCurrentText("End of the candle")
    dialog.zone.setText("Europe/Berlin")
    dialog.skips_invalid.click()
    named = ("--venue", "file", "--form", "ninjatrader", "--stamp", "end", "--time-zone", "Europe/Berlin")
    assert dialog.order().arguments == ("import", *named, "--skip-invalid", "--", str(candles))
    for zone in ("Middle/Earth", "local", "exchange"):
        dialog.zone.setText(zone)
        assert "not a time zone" in dialog.message.text()


@pytest.mark.parametrize(
    ("sentence", "answer", "option"),
    [
        (ASKS, "NinjaTrader, minutes", ("--form", "ninjatrader")),
        ("my candles.csv is of X. Say which: --stamp start or --stamp end.", "End of the candle", ("--stamp", "end")),
    ],
)
def test_a_question_is_answered_by_one_click(
    qtbot: QtBot, candles: Path, sentence: str, answer: str, option: tuple[str, str]
) -> None:
    asked: list[Sequence[str]] = []

    def start(arguments: Sequence[str], _owner: object) -> Aside:
        asked.append(arguments)
        return Aside(Ending({"files": [], "errors": [sentence]} if len(asked) == 1 else {"files": [account()]}))

    dialog = ImportDialog(start_child=start, files=[candles])  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.venue.setCurrentText("file")
    dialog.show()
    qtbot.waitUntil(lambda: f"“{answer}”" in dialog.found.text())
    assert "--" not in dialog.found.text() and "answers" in dialog.message.text()
    (button,) = [each for each in dialog.found.findChildren(QPushButton) if each.text() == answer]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "12 rows" in dialog.found.text())
    assert " ".join(option) in " ".join(asked[1])
    qtbot.waitUntil(dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled)


def test_a_form_that_does_not_fit_is_left_by_one_click(qtbot: QtBot, candles: Path) -> None:
    """As after a file of another vendor, whose form is still chosen."""
    sentence = "my candles.csv does not have the form upbit (Upbit, candles). Leave out --form, or choose another one."
    dialog = looked_at(qtbot, candles, Ending({"files": [], "errors": [sentence]}))
    dialog.known_form.setCurrentText(FORMS["upbit"].title)
    qtbot.waitUntil(lambda: "Upbit" in dialog.found.text())
    (button,) = dialog.found.findChildren(QPushButton)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert dialog.known_form.currentData() == ""


def test_a_file_whose_form_has_to_be_named_is_no_wrong_file(qtbot: QtBot, tmp_path: Path) -> None:
    """The question comes with the contents, where it can be answered."""
    file = tmp_path / "minutes.csv"
    file.write_text("".join(f"20240301 00{row:02}00;1;1.1;0.9;1.0;3\n" for row in range(20)))
    with pytest.raises(CandleFileError, match="--form ninjatrader"):
        require_table(file)
    assert check_importable(file, lambda _done, _total: None) == Found()


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Leave out --form, or choose another one.", "Set “Form” to “As recognised”, or choose another one."),
        ("To leave such rows out, add --skip-invalid.", f"To leave such rows out, select “{skip_title()}”."),
        ("Name it with --time-zone.", "Name it with “Time zone”."),
        ("--form names one", "“Form” names one"),
    ],
)
def test_advice_names_the_fields_of_the_dialog(sentence: str, shown: str) -> None:
    assert in_fields(sentence) == shown


def test_a_refusal_that_a_field_can_mend_does_not_ask_for_another_file(qtbot: QtBot, candles: Path) -> None:
    dialog = looked_at(qtbot, candles, Ending({"files": [], "errors": ["No zone. Name it with --time-zone."]}))
    assert "another file" not in dialog.message.text() and "field" in dialog.message.text()


def test_an_unreadable_file_shows_only_its_error(qtbot: QtBot, candles: Path) -> None:
    reason = "my candles.csv has no number in its columns open, high, low and close."
    dialog = looked_at(qtbot, candles, Ending(None, reason))
    assert dialog.found.text() == reason and "exchange" not in dialog.message.text().lower()
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
    dialog.venue.setCurrentText("file")
    assert dialog.found.text() == "Reading…", "it is checked again"
    qtbot.waitUntil(lambda: dialog.found.text() == reason)


def test_a_missing_market_is_mentioned_once(qtbot: QtBot, candles: Path) -> None:
    bare = ImportDialog(files=[candles])
    qtbot.addWidget(bare)
    naming = bare.message.text(), "Set the market with --symbol."
    lacking = account(unnamed=dict(zip(("venue", "symbol"), naming, strict=True)), new=None)
    dialog = looked_at(qtbot, candles, Ending({"files": [lacking]}))
    assert dialog.message.text() == " ".join(naming).replace("--symbol", "“Symbol”")
    assert "12 rows" in dialog.found.text()
    assert "Exchange" not in dialog.found.text()
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()


def test_what_a_market_lacks_is_answered_with_a_click(qtbot: QtBot, candles: Path) -> None:
    """Regression: after the first answer Import was offered, although the symbol was missing."""
    asks = {"venue": "Set it with --venue.", "symbol": "Set it with --symbol."}
    lacking = account(unnamed=asks, venue=None, symbol=None, suggestion="AAPL")
    dialog = looked_at(qtbot, candles, Ending({"files": [lacking]}))
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    assert "Exchange" in dialog.message.text() and not ok.isEnabled()
    assert dialog.focusWidget() is dialog.found.answers[0]
    click_answer(qtbot, dialog, "No exchange")
    assert dialog.message.text() == "Set it with “Symbol”." and not ok.isEnabled()
    assert dialog.focusWidget() is dialog.found.answers[0], "the next question, not Cancel"
    click_answer(qtbot, dialog, "Symbol AAPL")
    assert ok.isEnabled() and dialog.focusWidget() is ok
    assert "None" not in dialog.found.text()
    assert dialog._order_of([candles]).arguments[1:5] == ("--venue", "file", "--symbol", "AAPL")


def click_answer(qtbot: QtBot, dialog: ImportDialog, title: str) -> None:
    (answer,) = (each for each in dialog.found.findChildren(QPushButton) if each.text() == title)
    qtbot.mouseClick(answer, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("letters", range(60, 100, 4))
def test_a_preview_with_room_has_no_scroll_bar(qtbot: QtBot, candles: Path, letters: int) -> None:
    """Regression: the second answer lay below the edge, as the last candle wrapped beside a bar."""
    asks = {"venue": "Set it with --venue.", "symbol": "Set it with --symbol."}
    lacking = account(unnamed=asks, venue=None, symbol=None, suggestion="AAPL", stamp="m" * (letters // 2) + " a")
    lacking |= {"zone": " ".join("letter" for _ in range(letters // 6)), "form_read_as": "w " * letters}
    dialog = looked_at(qtbot, candles, Ending({"files": [lacking]}))
    bar = dialog.found.verticalScrollBar()
    assert bar.maximum() == 0 and all(not each.visibleRegion().isEmpty() for each in dialog.found.answers)


def test_a_preview_leaves_keyboard_focus_in_the_field_that_is_typed_in(qtbot: QtBot, candles: Path) -> None:
    named = of_minutes(candles.with_name("binance_BTCUSDT.csv"), 1)
    dialog = looked_at(qtbot, named, Ending({"files": [account()]}))
    assert dialog.focusWidget() is dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    dialog.zone.setFocus()
    shown: list[Preview] = []
    assert dialog._preview is not None
    dialog._preview.changed.connect(shown.append)
    qtbot.keyClicks(dialog.zone, "UTC")
    qtbot.waitUntil(lambda: bool(shown) and bool(shown[-1].files) and not shown[-1].is_reading)
    assert dialog.focusWidget() is dialog.zone


def test_no_option_of_the_command_line_is_shown(qtbot: QtBot, candles: Path) -> None:
    times = OpeningTimes(np.arange(3) * 60_000, Interval.parse("1m"), short_ms=None, were_ends=False)
    unstated = stamp_sentence(times, Stamp.START, "", are_dates=False)
    dialog = looked_at(qtbot, candles, Ending({"files": [account(stamp=unstated)]}))
    assert "--" not in dialog.found.text() and "End of the candle" in dialog.found.text()


def test_a_refused_exchange_is_answered_with_none(qtbot: QtBot, candles: Path) -> None:
    refusal = "'bitmex' is not one of the exchanges that ccxt reaches. For candles of no exchange, use --venue file."
    dialog = looked_at(qtbot, candles, Ending({"files": [], "errors": [refusal]}))
    dialog.venue.setCurrentText("bitmex")
    qtbot.waitUntil(lambda: "bitmex" in dialog.found.text())
    click_answer(qtbot, dialog, "No exchange")
    assert dialog._venue() == "file"


def test_import_waits_for_the_check_of_an_unknown_exchange(qtbot: QtBot, candles: Path) -> None:
    dialog = looked_at(qtbot, candles, Ending({"files": [account()]}))
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    dialog.symbol.setCurrentText("BTC/USDT")
    dialog.venue.setCurrentText("kraken")
    assert ok.isEnabled()
    dialog.venue.setCurrentText("bitmx")
    assert not ok.isEnabled() and "12 rows" in dialog.found.text() and "bitmx" in dialog.message.text()
    qtbot.waitUntil(ok.isEnabled)  # candles of it are stored, by the dry run


def test_another_exchange_keeps_the_rows_that_were_read(qtbot: QtBot, candles: Path) -> None:
    """Regression: the preview restarted at "Reading…", for seconds."""
    dialog = looked_at(qtbot, candles, Ending({"files": [account()]}))
    shown: list[Preview] = []
    assert dialog.found.text().splitlines()[0].endswith("; 7 new")
    assert dialog._preview is not None
    dialog._preview.changed.connect(shown.append)
    for change in (dialog.venue, dialog.symbol):
        change.setCurrentText("kraken" if change is dialog.venue else "BTC/EUR")
        assert "12 rows" in dialog.found.text() and "new" not in dialog.found.text(), "how many are new is asked again"
        qtbot.waitUntil(lambda: "; 7 new" in dialog.found.text())
    assert not any(preview.is_reading for preview in shown)
    for change, value in ((dialog.interval, "5m"), (dialog.known_form, FORMS["htx-trades"].title)):
        change.setCurrentText(value)
        assert dialog.found.text() == "Reading…", "the rows become other candles"
        qtbot.waitUntil(lambda: "; 7 new" in dialog.found.text())


def test_import_waits_for_the_rows_which_are_read_once(qtbot: QtBot, candles: Path) -> None:
    """Regression: Import was offered beside “Reading…”, and each field typed began the reading again."""
    asked: list[Sequence[str]] = []
    asides: list[Aside] = []

    def start(arguments: Sequence[str], _owner: object) -> Aside:
        asked.append(arguments)
        asides.append(Aside(None))
        return asides[-1]

    dialog = ImportDialog(start_child=start, files=[candles])  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    qtbot.waitUntil(lambda: len(asides) == 1 and dialog.picker.problem is not None)
    assert not ok.isEnabled() and dialog.found.text() == "Reading…" and dialog.message.text() == ""
    for typed in ("kra", "kraken"):
        dialog.venue.setCurrentText(typed)
    dialog.symbol.setCurrentText("BTC/EUR")
    assert dialog.found.text() == "Reading…" and not ok.isEnabled()
    asides[0].over.emit(Ending({"files": [account()]}))
    assert "12 rows" in dialog.found.text() and "new" not in dialog.found.text() and ok.isEnabled()
    qtbot.waitUntil(lambda: len(asides) == 2)
    assert "kraken" not in asked[0] and "kraken" in asked[1], "how many are new is asked for the market alone"


def test_a_file_without_candles_is_refused_before_its_market_is_asked_for(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: a letter that was dropped on the window was first asked for its exchange."""
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ada,\nI am well.\n")
    dialog = ImportDialog(start_child=lambda *_: Aside(None), files=[letter])  # type: ignore[arg-type, return-value]
    qtbot.addWidget(dialog)
    said: list[str] = []
    dialog.picker.answered.connect(lambda: said.append(dialog.message.text()))
    assert dialog.message.text() == ""
    qtbot.waitUntil(lambda: "letter.txt" in dialog.message.text())
    assert "exchange" not in dialog.message.text() and "rows" not in dialog.found.text()


def test_a_path_can_be_read_in_the_field(qtbot: QtBot) -> None:
    path = "/home/somebody/Downloads/binance-BTCUSDT-15m-2024.csv"
    dialog = ImportDialog(files=[Path(path)])
    qtbot.addWidget(dialog)
    dialog.show()
    line = dialog.picker.line
    assert line.fontMetrics().horizontalAdvance(path) < line.width() and path in line.toolTip()
