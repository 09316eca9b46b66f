"""Dialogs about time: a moment to go to, on the clock that the chart shows, and the zone of that clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from zoneinfo import available_timezones

from PySide6.QtCore import QDate, QDateTime, Qt, QTime, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QDateTimeEdit, QDialog, QWidget

from core.domain import time_zones
from desktop.ui import formatting
from desktop.ui.accessible import name_box
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

_FIRST_DAY, _LAST_DAY = QDate(1971, 1, 1), QDate(9998, 12, 31)
"""Valid days in every zone and in UTC: Python's calendar ends with the year 9999."""


class DateDialog(QDialog):
    """It stays open if `go`, called with UTC milliseconds, finds no candle. time_zone: None is the machine's."""

    def __init__(
        self, shown_ms: int, hint: str, time_zone: tzinfo | None, go: Callable[[int], bool], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Go to date"))
        self._hint, self._time_zone, self._go = hint, time_zone, go
        shown, moment = QDateTime.currentDateTime(), formatting.local_datetime(shown_ms, time_zone)
        if moment is not None:
            shown = QDateTime(QDate(moment.year, moment.month, moment.day), QTime(moment.hour, moment.minute))
        self.edit = QDateTimeEdit(shown, displayFormat="yyyy-MM-dd HH:mm", calendarPopup=True)
        self.edit.setDateRange(_FIRST_DAY, _LAST_DAY)
        self.edit.setAccessibleName(translate("Charting", "Date and time"))
        self.message = Label(hint, wraps=True)
        self.buttons = ok_and_cancel(self, translate("Dialogs", "Go"))
        stacked(self, self.edit, self.message, self.buttons)

    def accept(self) -> None:
        if self._go(self.time_ms()):
            super().accept()
        else:
            self.message.setText(translate("Dialogs", "No candle at this time or later. {0}").format(self._hint))

    def time_ms(self) -> int:
        """UTC milliseconds of what is entered. A time that daylight saving skips is the moment after the skip."""
        date, time, zone = self.edit.date(), self.edit.time(), self._time_zone
        wall = datetime(date.year(), date.month(), date.day(), time.hour(), time.minute())  # noqa: DTZ001 - zone below
        moment = wall.astimezone() if zone is None else wall.replace(tzinfo=zone)
        return round(moment.astimezone(UTC).timestamp() * 1000)


_WIDTH = 320


class ZoneDialog(QDialog):
    """`chosen` carries the name of the accepted zone. Open it with `open`."""

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Time zone"))
        self.box = QComboBox(editable=True)
        name_box(self.box, translate("Dialogs", "Time zone"))
        self.box.addItems(sorted(each for each in available_timezones() if "/" in each))
        self.box.setCurrentText(name)
        completer = QCompleter(self.box.model(), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.box.setCompleter(completer)
        self.message = Label(translate("Dialogs", "Type part of a name, for example Berlin."), wraps=True)
        self.buttons = ok_and_cancel(self)
        stacked(self, self.box, self.message, self.buttons)
        self.setMinimumWidth(_WIDTH)
        line = self.box.lineEdit()
        if line is not None:
            line.setAccessibleName(translate("Dialogs", "Time zone"))
            line.selectAll()

    def accept(self) -> None:
        name = self.box.currentText().strip()
        try:
            time_zones.find(name)
        except ValueError as error:
            self.message.setText(f"{error}.")
            return
        super().accept()
        self.chosen.emit(name)
