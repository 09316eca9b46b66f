"""The common parts of dialogs that start a job: a form, and a message about its fault."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QLineEdit, QWidget

from desktop.dialogs.file_check import FilePicker
from desktop.dialogs.forms import listen, number_boxes
from desktop.jobs.job_commands import Order
from desktop.ui.dialog_parts import Problem, ok_and_cancel
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import WrappedLabel, set_tooltip
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

INTERVALS = ("1m", "3m", "5m", "15m", "30m", "1h", "4h", "1d", "1w")
_WIDTH = 560
_LEAST_CHARACTERS = 24


class JobDialog(QDialog):
    """`ordered` carries the Order once it was accepted. A subclass adds its rows, then calls `check`."""

    ordered = Signal(object)

    def __init__(self, title: str, about: str, start: str, parent: QWidget | None = None) -> None:
        """about: what the job does, in a sentence or two. start: the text of its button."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self._picker: FilePicker | None = None
        self._begins: QComboBox | None = None
        self._is_accepting = False
        """Start was pressed, and the files are still being looked at."""
        self.form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.buttons = ok_and_cancel(self, start)
        self.message = Problem(self.order, self.buttons)
        stacked(self, WrappedLabel(about), self.form, self.message, None, self.buttons).insertSpacing(1, 4)
        self.setMinimumWidth(enlarged(_WIDTH))

    def order(self) -> Order:
        """The order as entered. Raises ValueError with a sentence for the user."""
        raise NotImplementedError

    def add_row(self, title: str, widget: QWidget, tooltip: str) -> None:
        """A field, by its title, which is its accessible name too. The job starts only once a picker's files are valid;
        the message says what is wrong."""
        if isinstance(widget, QComboBox):  # else its longest text would squeeze the titles
            widget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            widget.setMinimumContentsLength(_LEAST_CHARACTERS)
        self.form.addRow(title, widget)
        set_tooltip(widget, tooltip)
        for part in (widget, *widget.findChildren(QLineEdit)):
            part.setAccessibleName(title.replace("&", ""))
        for box in number_boxes(widget):
            box.refused.connect(self.message.refuse)
        if isinstance(widget, FilePicker):
            self._picker = widget
            widget.changed.connect(self.check)
            widget.answered.connect(self._on_answered)
            self.finished.connect(lambda _result: widget.end())
        else:
            listen(widget, self.check)

    def offer_waiting(self) -> None:
        """Say that training is running, and ask whether the job is to wait for its end."""
        self._begins = QComboBox()
        self._begins.addItem(translate("Jobs", "Now: training and this job slow each other down"), False)
        self._begins.addItem(translate("Jobs", "When training is paused or over"), True)
        about = translate("Jobs", "Training is running: side by side, each may take about twice as long")
        self.add_row(translate("Jobs", "&Start"), self._begins, about)

    def showEvent(self, event: QShowEvent) -> None:
        """Keyboard focus begins at the files, which are to be chosen, or at the start button if nothing is missing: Qt
        would focus Cancel while the start button is disabled."""
        super().showEvent(event)
        start = self.buttons.button(self.buttons.StandardButton.Ok)
        if not event.spontaneous():
            (start if start.isEnabled() or self._picker is None else self._picker.line).setFocus()

    def check(self) -> None:
        """Show what is wrong; only a valid order can be started."""
        self._is_accepting = False
        self.message.check()

    def accept(self) -> None:
        try:
            order = self.order()
        except ValueError:
            self.check()
            return
        if self._picker is not None and self._picker.problem is None:
            self._is_accepting = True
            self.message.show_waiting(translate("Jobs", "Reading…"))
            return
        super().accept()
        self.ordered.emit(order if self._begins is None else replace(order, waits=self._begins.currentData()))

    def _on_answered(self) -> None:
        was_accepting, self._is_accepting = self._is_accepting, False
        self.message.check(keeps_refusal=True)
        if was_accepting:
            self.accept()


def chosen_device(value: str) -> QComboBox:
    """A box of devices; an item's data is the value for the command line."""
    box = QComboBox()
    for name, text in (
        ("auto", translate("Jobs", "Automatic")),
        ("cpu", translate("Jobs", "CPU")),
        ("cuda", translate("Jobs", "GPU (CUDA)")),
    ):
        box.addItem(text, name)
    if box.findData(value) < 0:  # the settings name a GPU by number
        box.addItem(translate("Jobs", "GPU ({0})").format(value), value)
    box.setCurrentIndex(box.findData(value))
    return box
