"""Dialogs to import candle files, with a preview of their contents, and to fetch missing candles from an exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval
from core.domain.dates import calendar_moment
from core.domain.time_zones import find
from core.market.history.errors import HistoryError, UnnamedMarketError
from core.market.history.moments import parse_moment
from core.market.history.naming import venue_of
from core.market.symbols import known_venues
from core.settings.tree import MarketSettings
from desktop.dialogs.file_check import FilePicker, check_importable
from desktop.dialogs.forms import editable
from desktop.dialogs.market import EXCHANGES, USUAL_SYMBOLS
from desktop.jobs.child import ChildProcess, Ending
from desktop.jobs.form import INTERVALS, JobDialog
from desktop.jobs.job_commands import Order, backfill_order, import_order, in_fields
from desktop.ui.formatting import format_candles, format_count, format_time
from desktop.ui.plain_text import WrappedLabel
from desktop.ui.translation import translate

_FIRST_DAYS = 30
StartChild = Callable[[Sequence[str], QObject], ChildProcess]
"""Makes a child that runs our own command with these arguments; it is not started yet."""
_PAUSE_MS = 500
"""From the last key press until the files are read, so that typing does not start a process for each letter."""


class ImportDialog(JobDialog):
    """Imports files of candles or trades into the database."""

    def __init__(
        self, parent: QWidget | None = None, *, start_child: StartChild | None = None, files: Sequence[Path] = ()
    ) -> None:
        """start_child: makes the process that reads files for the preview; None: no preview. files: already chosen."""
        about = translate(
            "Jobs",
            "Reads candles or trades from files into the database. Stored candles are not changed; a chart of the "
            "market shows new ones immediately.",
        )
        super().__init__(translate("Jobs", "Import candles"), about, translate("Jobs", "Import"), parent)
        self.picker = FilePicker(several=True, look=check_importable)
        from_file = translate("Jobs", "From the file")
        self.venue = editable(("", FILE_VENUE, *EXCHANGES), "", from_file)
        self.symbol = editable(("", *USUAL_SYMBOLS), "", from_file)
        self.interval = editable(("", *INTERVALS), "", from_file)
        self.zone = QLineEdit("UTC")
        self.replaces = QCheckBox(translate("Jobs", "Overwrite stored candles that differ"))
        self.replaces.setAccessibleName(self.replaces.text())
        self.add_row(translate("Jobs", "&Files"), self.picker, translate("Jobs", "One file, or several for one market"))
        self.add_row(
            translate("Jobs", "&Exchange"),
            self.venue,
            translate("Jobs", "ccxt id of the exchange; “file” for candles without one"),
        )
        self.add_row(translate("Jobs", "&Symbol"), self.symbol, translate("Jobs", "In ccxt's form, BTC/USDT"))
        self.add_row(
            translate("Jobs", "&Interval"),
            self.interval,
            translate("Jobs", "Candle length; trades are aggregated to it"),
        )
        self.add_row(
            translate("Jobs", "&Time zone"),
            self.zone,
            translate("Jobs", "For times in the file without one: UTC, Europe/Berlin"),
        )
        self.form.addRow("", self.replaces)
        self.found = WrappedLabel()
        """What the files hold: rows, span and interval."""
        self._is_unreadable = False
        self.form.addRow(translate("Jobs", "Contents"), self.found)
        self._preview = preview = None if start_child is None else ImportPreview(start_child, self)
        if preview is not None:
            preview.text_changed.connect(self._show_found)
            self.finished.connect(lambda _result: preview.end())
        self.picker.choose(files)
        self.picker.answered.connect(self.check)
        self.check()

    def check(self) -> None:
        super().check()
        if self._preview is None:
            return
        try:
            files = self.picker.files()
            self._require_reading_options()
        except ValueError:  # nothing can be read with what is chosen so far
            self._preview.look(())
            return
        rows_from = (self.picker.line.text(), self.interval.currentText(), self.zone.text())
        self._preview.look(self._order_of(files).arguments, rows_from)

    def _show_found(self, text: str, is_unreadable: bool) -> None:
        """Show the preview, without a sentence that the message above shows already."""
        self._is_unreadable = is_unreadable
        super().check()
        self.found.setText(_without(text, self.message.text()))

    def _require_reading_options(self) -> None:
        """Raises ValueError for an invalid interval or time zone."""
        if interval := self.interval.currentText().strip():
            Interval.parse(interval)
        if find(self.zone.text().strip()) is None:
            raise ValueError(translate("Jobs", "Enter the time zone, such as UTC or Europe/Berlin."))

    def order(self) -> Order:
        files = self.picker.files()
        if self._is_unreadable:  # then what its name lacks does not matter
            raise ValueError(translate("Jobs", "Nothing here can be imported. Choose another file."))
        self._require_reading_options()
        if self._preview is not None and self._preview.is_reading:
            raise ValueError  # the row “Contents” says so; there may be nothing to name a market for
        if not self.venue.currentText().strip():
            for file in files:  # better now than after a process began
                try:
                    venue_of(file, None, known_venues())
                except UnnamedMarketError as error:
                    raise ValueError(in_fields(str(error))) from error
        return self._order_of(files)

    def _order_of(self, files: Sequence[Path]) -> Order:
        return import_order(
            files,
            venue=self.venue.currentText().strip().lower(),
            symbol=self.symbol.currentText().strip(),
            interval=self.interval.currentText().strip(),
            time_zone=self.zone.text().strip(),
            replaces=self.replaces.isChecked(),
        )


def _without(text: str, sentence: str) -> str:
    """The text without this sentence, and without the blank before or after it."""
    if not sentence:
        return text
    return text.replace(f"{sentence} ", "").replace(f" {sentence}", "").replace(sentence, "").strip()


class BackfillDialog(JobDialog):
    """Fetches a market's missing candles from its exchange."""

    def __init__(self, market: MarketSettings, now_ms: int, parent: QWidget | None = None) -> None:
        about = translate(
            "Jobs",
            "Fetches the missing candles from the exchange, gaps included, and stores them page by page. You can "
            "cancel at any time and continue later.",
        )
        super().__init__(translate("Jobs", "Fetch history"), about, translate("Jobs", "Fetch"), parent)
        self._now_ms = now_ms
        self.venue = editable(EXCHANGES, market.venue)
        self.symbol = editable(USUAL_SYMBOLS, market.symbol)
        self.interval = editable(INTERVALS, market.interval)
        first = calendar_moment(now_ms) - timedelta(days=_FIRST_DAYS)
        self.since = QLineEdit(first.strftime("%Y-%m-%d"))
        self.until = QLineEdit(placeholderText=translate("Jobs", "Now"))
        self.asks_again = QCheckBox(translate("Jobs", "Also retry candles that the exchange did not have"))
        self.asks_again.setAccessibleName(self.asks_again.text())
        self.add_row(translate("Jobs", "&Exchange"), self.venue, translate("Jobs", "ccxt id: binance, kraken"))
        self.add_row(translate("Jobs", "&Symbol"), self.symbol, translate("Jobs", "In ccxt's form, BTC/USDT"))
        self.add_row(translate("Jobs", "&Interval"), self.interval, translate("Jobs", "Candle length"))
        self.add_row(
            translate("Jobs", "S&ince"),
            self.since,
            translate("Jobs", "Candles opening at this time or later: 2024-01-31, UTC"),
        )
        self.add_row(
            translate("Jobs", "&Until"),
            self.until,
            translate("Jobs", "Candles opening before this; empty: up to the newest closed one"),
        )
        self.form.addRow("", self.asks_again)
        self.check()

    def order(self) -> Order:
        venue, symbol = self.venue.currentText().strip().lower(), self.symbol.currentText().strip()
        if not venue or venue in (FILE_VENUE, SIMULATED_VENUE):
            raise ValueError(translate("Jobs", "Enter the ccxt id of an exchange, for example binance."))
        if "/" not in symbol.strip("/ "):
            raise ValueError(translate("Jobs", "Enter the symbol as BASE/QUOTE, for example BTC/USDT."))
        interval = self.interval.currentText().strip()
        Interval.parse(interval)
        since, until = self.since.text().strip(), self.until.text().strip()
        try:
            first_ms = parse_moment(since)
            stop_ms = parse_moment(until) if until else self._now_ms
        except HistoryError as error:
            raise ValueError(f"{error}.") from error
        if first_ms >= self._now_ms:
            raise ValueError(translate("Jobs", "{0} is in the future; enter a past date.").format(since))
        if stop_ms <= first_ms:
            raise ValueError(translate("Jobs", "{0} is not after {1}.").format(until, since))
        return backfill_order(venue, symbol, interval, since, until, asks_again=self.asks_again.isChecked())


class ImportPreview(QObject):
    """A preview of the chosen files, read by a child process so that the window stays responsive. Emits the text to
    show, empty for nothing. One child at a time; call `end` before the dialog is deleted."""

    text_changed = Signal(str, bool)
    """The words, and whether none of the files can be read."""

    def __init__(self, start_child: StartChild, parent: QObject) -> None:
        super().__init__(parent)
        self._start_child = start_child
        self._child: ChildProcess | None = None
        self._wanted: tuple[str, ...] = ()
        self._asked: tuple[str, ...] = ()
        """What the child reads."""
        self._is_answered = False
        self._rows_from: tuple[str, ...] = ()
        self._found: Sequence[Mapping[str, Any]] = ()
        """The files' accounts of the newest dry run that read any of them."""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)

    @property
    def is_reading(self) -> bool:
        """Whether the rows of the chosen files are not known yet."""
        return bool(self._wanted) and not self._found and not self._is_answered

    def look(self, arguments: Sequence[str], rows_from: Sequence[str] = ()) -> None:
        """Preview what this import would read; empty: nothing. rows_from: what the rows, span and interval depend on;
        while that stays the same, they stay visible, and only what depends on the market is looked up again."""
        if tuple(arguments) == self._wanted:
            return
        if arguments and self._child is not None and self.is_reading and tuple(rows_from) == self._rows_from:
            self._wanted = tuple(arguments)  # the rows that are being read are needed in any case
            return
        self.end()
        if tuple(rows_from) != self._rows_from:
            self._found = ()
        self._wanted, self._rows_from = tuple(arguments), tuple(rows_from)
        self._show_known()

    def _show_known(self) -> None:
        """Show the rows that are known; the rest is read after a pause."""
        self._is_answered = False
        known = "\n".join(_line({**each, "new": None, "unnamed": None}) for each in self._found)
        self.text_changed.emit(known or (translate("Jobs", "Reading…") if self._wanted else ""), False)
        if self._wanted:
            self._pause.start()

    def end(self) -> None:
        """Stop, and preview nothing."""
        self._pause.stop()
        self._wanted = ()
        self._end_child()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.deleteLater()

    def _begin(self) -> None:
        self._asked = self._wanted
        command, *rest = self._wanted
        child = self._start_child([command, "--dry-run", *rest], self)
        child.over.connect(lambda ending: self._on_over(child, ending))
        self._child = child
        child.start()

    def _on_over(self, child: ChildProcess, ending: Ending) -> None:
        if child is not self._child:
            return
        self._found = (ending.summary or {}).get("files") or self._found
        if self._asked != self._wanted:
            self._end_child()
            self._show_known()
            return
        self._is_answered = True
        if ending.summary is None:
            self.text_changed.emit(in_fields(ending.sentence), True)
        else:
            self.text_changed.emit(preview_text(ending.summary), not ending.summary.get("files"))


def preview_text(summary: Mapping[str, Any]) -> str:
    """A line for each file, from the account of a dry run, and a sentence for each that cannot be used."""
    lines = [_line(each) for each in summary.get("files", ())]
    return "\n".join((*lines, *map(in_fields, map(str, summary.get("errors", ())))))


def _line(found: Mapping[str, Any]) -> str:
    first, last = (format_time(int(found[name])) for name in ("first_ms", "last_ms"))
    words = translate("Jobs", "{0}: {1} rows, {2} of {3}, {4} to {5}")
    said = words.format(
        found["file"],
        format_count(int(found["rows"])),
        format_candles(int(found["candles"])),
        found["interval"],
        first,
        last,
    )
    rejected = sum(int(count) for count in found["rejected"].values())
    parts = [said]
    if found.get("new") is not None:
        parts.append(translate("Jobs", "{0} new").format(format_count(int(found["new"]))))
    if rejected:
        parts.append(translate("Jobs", "{0} rejected").format(format_count(rejected)))
    if found["holes"]:
        parts.append(translate("Jobs", "{0} missing").format(format_candles(int(found["missing"]))))
    text = "; ".join(parts)
    unnamed = str(found.get("unnamed") or "")
    return f"{text}. {in_fields(unnamed)}" if unnamed else text
