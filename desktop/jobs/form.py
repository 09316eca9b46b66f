"""What the dialogs that order a job share: a form, a sentence on what is wrong with it, and files to choose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from desktop.dialogs.file_check import FileCheck, Look, check_readable
from desktop.dialogs.messages import open_dialog
from desktop.jobs.job_commands import Order
from desktop.ui.dialog_parts import PathLine, Problem, ok_and_cancel
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import WrappedLabel, paragraphs
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.translation import translate

INTERVALS = ("1m", "3m", "5m", "15m", "30m", "1h", "4h", "1d", "1w")
_BETWEEN_FILES = "; "
_WIDTH = 560
_LEAST_CHARACTERS = 24


class JobDialog(QDialog):
    """`ordered` carries the Order once it was accepted. A subclass adds its rows, then calls `check`."""

    ordered = Signal(object)

    def __init__(self, title: str, about: str, start: str, parent: QWidget | None = None) -> None:
        """about: what the job does, in a sentence or two. start: the words on its button."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self._picker: FilePicker | None = None
        self._is_accepting = False
        """Start was pressed, and the files are still being looked at."""
        self.form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.message = Problem()
        self.buttons = ok_and_cancel(self, start)
        label = WrappedLabel(about)
        stacked(self, label, self.form, self.message, None, self.buttons).insertSpacing(1, 4)
        self.setMinimumWidth(enlarged(_WIDTH))

    def order(self) -> Order:
        """What is wanted. Raises ValueError in a sentence fit for a user."""
        raise NotImplementedError

    def add_row(self, title: str, widget: QWidget, tooltip: str) -> None:
        """A field, by its title, which is its accessible name too."""
        if isinstance(widget, QComboBox):  # else its longest text would squeeze the titles
            widget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            widget.setMinimumContentsLength(_LEAST_CHARACTERS)
        self.form.addRow(title, widget)
        widget.setToolTip(paragraphs(tooltip))
        for part in (widget, *widget.findChildren(QLineEdit)):
            part.setAccessibleName(title.replace("&", ""))

    def follow(self, picker: FilePicker) -> None:
        """The job is of this picker's files: say what is wrong with them, and start once nothing is."""
        self._picker = picker
        picker.changed.connect(self.check)
        picker.answered.connect(self._on_answered)
        self.finished.connect(lambda _result: picker.end())

    def check(self) -> None:
        """Say what is wrong, and let start only what is right."""
        self._is_accepting = False
        self.message.check(self.order, self.buttons)

    def accept(self) -> None:
        try:
            order = self.order()
        except ValueError:
            self.check()
            return
        if self._picker is not None and not self._picker.is_known:
            self._wait_for_files()
            return
        super().accept()
        self.ordered.emit(order)

    def changeEvent(self, event: QEvent) -> None:
        """Somebody comes back to the dialog, perhaps with a file that was mended."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow() and self._picker is not None:
            self._picker.look_again()

    def _on_answered(self) -> None:
        was_accepting, self._is_accepting = self._is_accepting, False
        self.message.check(self.order, self.buttons, keeps_refusal=True)
        if was_accepting:
            self.accept()

    def _wait_for_files(self) -> None:
        self._is_accepting = True
        self.message.setText(translate("Jobs", "Reading…"))
        self.message.show()
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(False)


class FilePicker(QWidget):
    """One file or several, typed or chosen. They are looked at on another thread: a disk may not answer."""

    changed = Signal()
    answered = Signal()
    """What is wrong with them is known now."""

    def __init__(self, *, several: bool, look: Look = check_readable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._several = several
        self.line = PathLine()
        self.line.setPlaceholderText(translate("Jobs", "CSV (also .gz, .zip), Feather or Parquet"))
        self.browse = QPushButton(translate("Jobs", "Browse…"))
        self.browse.setAccessibleName(
            translate("Jobs", "Choose files") if several else translate("Jobs", "Choose a file")
        )
        beside(self, self.line, self.browse, stretched=self.line, margins=NO_MARGINS)
        self.setFocusProxy(self.line)
        self._check = FileCheck(look, self)
        self._check.answered.connect(self.answered)
        self.line.textChanged.connect(lambda _text: self._on_text())
        self.browse.clicked.connect(self.open)

    @property
    def is_known(self) -> bool:
        """Whether the files that are named were looked at."""
        return self._check.problem(*map(str, self._named())) is not None

    def files(self) -> list[Path]:
        """Those that are named. Raises ValueError in a sentence where none is, or one is known to be unreadable."""
        files = self._named()
        if not files:
            raise ValueError(translate("Jobs", "Choose a candle file."))
        if problem := self._check.problem(*map(str, files)):
            raise ValueError(problem)
        return files

    def look_again(self) -> None:
        """Check unusable files again: they may have been repaired."""
        if self._check.problem(*map(str, self._named())):
            self._check.ask_again()

    def check_again(self) -> None:
        """Check the files again for another purpose."""
        self._check.ask_again()

    def end(self) -> None:
        self._check.end()

    def _named(self) -> list[Path]:
        """In full, by their names alone: nothing asks the disk."""
        names = self.line.text().split(_BETWEEN_FILES) if self._several else [self.line.text()]
        return [_in_full(name.strip()) for name in names if name.strip()]

    def _on_text(self) -> None:
        self._check.ask(*map(str, self._named()))
        self.changed.emit()

    def choose(self, files: Sequence[Path]) -> None:
        """Put these in the line; none leaves it as it is."""
        if files:
            self.line.setText(_BETWEEN_FILES.join(map(str, files)))

    def open(self) -> QFileDialog:
        first = self.line.text().split(_BETWEEN_FILES)[0].strip()
        dialog = QFileDialog(
            self, translate("Jobs", "Choose candle files"), str(Path(first).parent if first else Path.home())
        )
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.ExistingFiles if self._several else modes.ExistingFile)
        dialog.setNameFilters(
            [
                translate("Jobs", "Candles (*.csv *.csv.gz *.txt *.zip *.feather *.parquet *.pq)"),
                translate("Jobs", "All files (*)"),
            ]
        )
        dialog.filesSelected.connect(lambda names: self.line.setText(_BETWEEN_FILES.join(names)))
        return open_dialog(dialog)


def _in_full(name: str) -> Path:
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError:  # the home of nobody who is known
        return Path(name).absolute()


def chosen_device(value: str) -> QComboBox:
    """Where it computes; the data is what the command line takes."""
    box = QComboBox()
    for name, text in (
        ("auto", translate("Jobs", "Automatic")),
        ("cpu", translate("Jobs", "CPU")),
        ("cuda", translate("Jobs", "GPU (CUDA)")),
    ):
        box.addItem(text, name)
    box.setCurrentIndex(max(box.findData(value), 0))
    return box
