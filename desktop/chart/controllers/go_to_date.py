"""Go to a date: the chart moves to the candle that opens then, or next after it."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QDate, QDateTime, QObject, QTime
from PySide6.QtWidgets import QDateTimeEdit, QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from desktop import formatting
from desktop.actions import ActionId
from desktop.chart.widget import ChartWidget
from desktop.dialogs.messages import open_dialog
from desktop.plain_text import Label
from desktop.translation import translate
from desktop.window import MainWindow

_FIRST_DAY, _LAST_DAY = QDate(1971, 1, 1), QDate(9998, 12, 31)
"""In every zone and in UTC: Python's calendar ends with the year 9999."""


class DateDialog(QDialog):
    """Asks for a moment, on the clock that the chart shows. It stays open over a date without candles."""

    def __init__(self, chart: ChartWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Go to date"))
        self._chart = chart
        self.edit = QDateTimeEdit(_in_view(chart))
        self.edit.setDateRange(_FIRST_DAY, _LAST_DAY)
        self.edit.setDisplayFormat("yyyy-MM-dd HH:mm")
        self.edit.setCalendarPopup(True)
        self.edit.setAccessibleName(translate("Charting", "Date and time"))
        self.message = Label(_range_text(chart))
        self.message.setWordWrap(True)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText(translate("Dialogs", "Go"))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.edit)
        layout.addWidget(self.message)
        layout.addWidget(self.buttons)

    def accept(self) -> None:
        if self._chart.go_to_time(self.time_ms()):
            super().accept()
        else:
            self.message.setText(
                translate("Dialogs", "No candle opens then or later. {0}").format(_range_text(self._chart))
            )

    def time_ms(self) -> int:
        """UTC milliseconds of what is entered. A time that daylight saving skips is the moment after the skip."""
        date, time = self.edit.date(), self.edit.time()
        wall = datetime(date.year(), date.month(), date.day(), time.hour(), time.minute())  # noqa: DTZ001 - zone below
        zone = self._chart.style_shown.time_zone
        moment = wall.astimezone() if zone is None else wall.replace(tzinfo=zone)
        return round(moment.astimezone(UTC).timestamp() * 1000)


class GoToDate(QObject):
    """The action of the Chart menu."""

    def __init__(self, window: MainWindow, chart: ChartWidget) -> None:
        super().__init__(window)
        self._window, self._chart = window, chart
        window.actions_of_window.wire({ActionId.GO_TO_DATE: self.open})

    def open(self) -> DateDialog | None:
        """Ask for a date. None where there is no candle to go to."""
        if self._chart.model.count == 0:
            self._window.tell(_nothing_text(self._chart), key="go to date", is_answer=True)
            return None
        dialog = DateDialog(self._chart, self._window)
        open_dialog(dialog)
        return dialog


def _nothing_text(chart: ChartWidget) -> str:
    if chart.model.is_empty:
        return translate("Dialogs", "There is no candle on the chart yet.")
    return translate(
        "Dialogs",
        "No candle has closed on this chart yet, so there is no date to go to. Try again when the first one has.",
    )


def _in_view(chart: ChartWidget) -> QDateTime:
    """The middle of what is in view."""
    model, scale = chart.model, chart.scale
    middle = min(max(round((scale.left + scale.right) / 2), 0), model.count - 1)
    time_ms = model.time_at(middle)
    moment = None if time_ms is None else formatting.local_datetime(time_ms, chart.style_shown.time_zone)
    if moment is None:
        return QDateTime.currentDateTime()
    return QDateTime(QDate(moment.year, moment.month, moment.day), QTime(moment.hour, moment.minute))


def _range_text(chart: ChartWidget) -> str:
    model, zone = chart.model, chart.style_shown.time_zone
    first, last = (formatting.format_time(model.time_at(index), zone) for index in (0, model.count - 1))
    return translate("Dialogs", "Candles are here from {0} to {1}.").format(first, last)
