"""Dialogs to import candle files, with a preview of their contents, and to fetch missing candles from an exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QLineEdit, QPushButton, QWidget

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval
from core.domain.dates import calendar_moment
from core.market.history.errors import HistoryError, UnnamedMarketError
from core.market.history.forms.recognise import FORMS
from core.market.history.guess_market import venue_of
from core.market.history.utc_times import parse_moment
from core.market.symbols import known_venues
from core.settings.tree import MarketSettings
from desktop.dialogs.file_check import FilePicker, check_importable
from desktop.dialogs.forms import editable
from desktop.dialogs.usual_markets import EXCHANGES, USUAL_SYMBOLS
from desktop.jobs.child import ChildProcess, Ending
from desktop.jobs.contents import Contents, Preview
from desktop.jobs.form import INTERVALS, JobDialog
from desktop.jobs.job_commands import (
    Order,
    backfill_order,
    import_order,
    in_fields,
    no_exchange_title,
    skip_title,
    stamp_titles,
)
from desktop.ui.dialog_parts import room_on_screen
from desktop.ui.interface_size import enlarged
from desktop.ui.stacks import beside
from desktop.ui.translation import translate

_FIRST_DAYS = 30
_WIDTH = 660
StartChild = Callable[[Sequence[str], QObject], ChildProcess]
"""Makes a child that runs our own command with these arguments; it is not started yet."""
_PAUSE_MS = 500
"""Delay from the last key press, so that typing does not start a process for each letter."""


class ImportDialog(JobDialog):
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
        self.setMinimumWidth(enlarged(_WIDTH))
        self.picker = FilePicker(several=True, look=check_importable)
        self.add_row(translate("Jobs", "&Files"), self.picker, translate("Jobs", "One file, or several for one market"))
        self._add_market()
        self._add_reading_options()
        self.found = Contents()
        self.found.answered.connect(self._apply_answer)
        self.form.addRow(self.found)
        self._shown = Preview()
        self._preview = preview = None if start_child is None else ImportPreview(start_child, self)
        if preview is not None:
            preview.changed.connect(self._show_found)
            self.finished.connect(lambda _result: preview.end())
        self.picker.choose(files)
        self.picker.answered.connect(self.check)
        self.check()

    def _add_market(self) -> None:
        from_file = translate("Jobs", "From the file")
        self.venue = editable((no_exchange_title(), *EXCHANGES), "", from_file)
        self.symbol = editable(USUAL_SYMBOLS, "", from_file)
        self.interval = editable(INTERVALS, "", from_file)
        self.add_row(
            translate("Jobs", "&Exchange"),
            self.venue,
            translate("Jobs", "ccxt id of the exchange that the candles are of"),
        )
        self.add_row(translate("Jobs", "&Symbol"), self.symbol, translate("Jobs", "In ccxt's form, BTC/USDT"))
        self.add_row(
            translate("Jobs", "&Interval"),
            self.interval,
            translate("Jobs", "Candle length; trades are aggregated to it"),
        )

    def _add_reading_options(self) -> None:
        recognised = (translate("Jobs", "As recognised"), "")
        forms = sorted((form for form in FORMS.values() if not form.refusal), key=lambda form: form.title.casefold())
        self.known_form = _choice(recognised, *((form.title, form.name) for form in forms))
        self.stamp = _choice(recognised, *((title, stamp) for stamp, title in stamp_titles().items()))
        self.zone = QLineEdit(placeholderText=translate("Jobs", "As the file or its form has it; else UTC"))
        self._zones = sorted(available_timezones())
        completer = QCompleter(self._zones, self.zone)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.zone.setCompleter(completer)
        self.skips_invalid = QCheckBox(skip_title())
        self.replaces = QCheckBox(translate("Jobs", "Overwrite stored candles that differ"))
        self.add_row(
            translate("Jobs", "F&orm"),
            self.known_form,
            translate("Jobs", "The vendor or program that the file is from"),
        )
        self.add_row(
            translate("Jobs", "Times &mark"), self.stamp, translate("Jobs", "Which moment of a candle its time is")
        )
        self.add_row(
            translate("Jobs", "&Time zone"),
            self.zone,
            translate("Jobs", "For times in the file without one: UTC, Europe/Berlin"),
        )
        for box in (self.skips_invalid, self.replaces):
            box.setAccessibleName(box.text())
        self.skips_invalid.toggled.connect(self.check)
        self.form.addRow(beside(None, self.skips_invalid, self.replaces, None))

    def check(self) -> None:
        super().check()
        if self._preview is None:
            return
        try:
            files = self.picker.files()
            self._require_reading_options()
        except ValueError:  # nothing can be read with the present choices
            self._preview.look(())
            return
        of_files = self.picker.line.text(), self.interval.currentText(), self.zone.text()
        reading = self.known_form.currentData(), self.stamp.currentData(), str(self.skips_invalid.isChecked())
        self._preview.look(self._order_of(files).arguments, (*of_files, *reading))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._limit_contents()

    @Slot(object)
    def _show_found(self, preview: Preview) -> None:
        self._shown = preview
        is_focus_free = self._is_focus_free()
        super().check()
        self.found.show_preview(preview)
        self._limit_contents()
        if (layout := self.layout()) is not None:
            layout.activate()
        # The contents make the dialog higher, and its buttons must not leave the screen.
        frame, screen = self.frameGeometry(), self.screen().availableGeometry()
        if self.isVisible() and frame.bottom() > screen.bottom():
            self.move(frame.left(), max(screen.top(), screen.bottom() - frame.height() + 1))
        if is_focus_free:
            self._focus_next_step()

    def _is_focus_free(self) -> bool:
        """Whether the user is in no field: a preview then moves keyboard focus on."""
        focused, line = self.focusWidget(), self.picker.line
        if focused is line:
            return not line.isModified()
        return focused is None or isinstance(focused, QPushButton)

    def _focus_next_step(self) -> None:
        """Focus the first answer, or Import if none is needed. While files are read, Import is disabled: focus would
        jump to Cancel, so it waits in the line of files."""
        start = self.buttons.button(self.buttons.StandardButton.Ok)
        steps = (*self.found.answers[:1], start)
        next((step for step in steps if step.isEnabled()), self.picker.line).setFocus(Qt.FocusReason.OtherFocusReason)

    def _limit_contents(self) -> None:
        """Leave room for everything else, however many files there are."""
        others = self.minimumSizeHint().height() - self.found.minimumHeight()
        self.found.limit_height(max(room_on_screen(self).height() - others, self.fontMetrics().lineSpacing() * 4))

    @Slot(str, str)
    def _apply_answer(self, field: str, value: str) -> None:
        boxes = {"form": self.known_form, "stamp": self.stamp, "venue": self.venue, "symbol": self.symbol}
        box = boxes[field]
        if box.isEditable():
            box.setCurrentText(value)
        else:
            box.setCurrentIndex(box.findData(value))

    def _venue(self) -> str:
        named = self.venue.currentText().strip()
        return FILE_VENUE if named == no_exchange_title() else named.lower()

    def _require_reading_options(self) -> None:
        """Raises ValueError for an invalid interval or time zone."""
        if interval := self.interval.currentText().strip():
            Interval.parse(interval)
        zone = self.zone.text().strip()
        if zone and zone not in self._zones:
            text = translate("Jobs", "“{0}” is not a time zone. Enter a name such as UTC or Europe/Berlin.")
            raise ValueError(text.format(zone))

    def order(self) -> Order:
        files = self.picker.files()
        if self._shown.is_unreadable:  # then gaps in its name do not matter
            raise ValueError(_advice(self._shown))
        self._require_reading_options()
        if self._preview is not None and self._preview.is_reading:
            raise ValueError  # the contents say so; there may be nothing to name a market for
        venue = self._venue()
        is_checked = self._preview is None or self._preview.is_answered
        if venue and not is_checked and venue not in (FILE_VENUE, *known_venues()):
            raise ValueError(translate("Jobs", "Checking “{0}”…").format(venue))  # candles of it may be stored
        if self._shown.unnamed:
            raise ValueError(in_fields(self._shown.unnamed))
        if not venue:
            for file in files:  # better now than after a process began
                try:
                    venue_of(file, None, known_venues())
                except UnnamedMarketError as error:
                    raise ValueError(in_fields(str(error))) from error
        return self._order_of(files)

    def _order_of(self, files: Sequence[Path]) -> Order:
        return import_order(
            files,
            venue=self._venue(),
            symbol=self.symbol.currentText().strip(),
            interval=self.interval.currentText().strip(),
            form=self.known_form.currentData(),
            stamp=self.stamp.currentData(),
            time_zone=self.zone.text().strip(),
            skip_invalid=self.skips_invalid.isChecked(),
            replace=self.replaces.isChecked(),
        )


def _choice(*items: tuple[str, str]) -> QComboBox:
    box = QComboBox()
    for title, value in items:
        box.addItem(title, value)
    return box


def _advice(preview: Preview) -> str:
    """The advice if no file can be read."""
    if preview.answers():
        return translate("Jobs", "Choose one of the answers above.")
    if any(in_fields(sentence) != sentence for sentence in preview.refusals):
        return translate("Jobs", "Nothing can be imported until the field that is named above is set.")
    return translate("Jobs", "Nothing here can be imported. Choose another file.")


class BackfillDialog(JobDialog):
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
        return backfill_order(venue, symbol, interval, since, until=until, ask_again=self.asks_again.isChecked())


class ImportPreview(QObject):
    """A preview of the chosen files, read by a child process so that the window stays responsive. One child at a time;
    call `end` before the dialog is deleted."""

    changed = Signal(object)
    """A `Preview`."""

    def __init__(self, start_child: StartChild, parent: QObject) -> None:
        super().__init__(parent)
        self._start_child = start_child
        self._child: ChildProcess | None = None
        self._requested: tuple[str, ...] = ()
        self._in_progress: tuple[str, ...] = ()
        """The arguments of the child."""
        self.is_answered = False
        """Whether the report shown is of the requested import."""
        self._rows_from: tuple[str, ...] = ()
        self._found: Sequence[Mapping[str, Any]] = ()
        """The reports on files in the newest dry run that could read any."""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)

    @property
    def is_reading(self) -> bool:
        """Whether the rows of the chosen files are not known yet."""
        return bool(self._requested) and not self._found and not self.is_answered

    def look(self, arguments: Sequence[str], rows_from: Sequence[str] = ()) -> None:
        """Preview what this import would read; empty: nothing. rows_from: the inputs of rows, span and interval; while
        it is unchanged, these stay visible, and only the market's part is looked up again."""
        if tuple(arguments) == self._requested:
            return
        if arguments and self._child is not None and self.is_reading and tuple(rows_from) == self._rows_from:
            self._requested = tuple(arguments)  # the rows that are being read are needed in any case
            return
        self.end()
        if tuple(rows_from) != self._rows_from:
            self._found = ()
        self._requested, self._rows_from = tuple(arguments), tuple(rows_from)
        self._show_known()

    def _show_known(self) -> None:
        """Show the rows that are known; the rest is read after a pause."""
        self.is_answered = False
        known = []
        for account in self._found:
            unnamed = (account.get("unnamed") or {}).items()
            still = {field: sentence for field, sentence in unnamed if f"--{field}" not in self._requested}
            known.append({**account, "new": None, "unnamed": still})
        self.changed.emit(Preview(known, is_reading=self.is_reading))
        if self._requested:
            self._pause.start()

    def end(self) -> None:
        """Stop, and preview nothing."""
        self._pause.stop()
        self._requested = ()
        self._end_child()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.deleteLater()

    def _begin(self) -> None:
        self._in_progress = self._requested
        command, *rest = self._requested
        child = self._start_child([command, "--dry-run", *rest], self)
        child.over.connect(lambda ending: self._on_over(child, ending))
        self._child = child
        child.start()

    def _on_over(self, child: ChildProcess, ending: Ending) -> None:
        if child is not self._child:
            return
        summary = ending.summary or {"errors": [ending.sentence] if ending.sentence else []}
        self._found = summary.get("files") or self._found
        if self._in_progress != self._requested:
            self._end_child()
            self._show_known()
            return
        self.is_answered = True
        self.changed.emit(Preview(summary.get("files", ()), summary.get("errors", ())))
