"""What the dialogs that order a job share: a form, a sentence on what is wrong with it, and files to choose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.market.history.errors import CandleFileError
from core.market.history.source import require_readable
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.path_line import PathLine
from desktop.dialogs.problem import Problem
from desktop.interface_size import enlarged
from desktop.jobs.orders import Order
from desktop.plain_text import WrappedLabel, paragraphs
from desktop.translation import translate

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
        self.form = QFormLayout()
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.message = Problem()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText(start)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        told = WrappedLabel(about)
        layout = QVBoxLayout(self)
        layout.addWidget(told)
        layout.addSpacing(4)
        layout.addLayout(self.form)
        layout.addWidget(self.message)
        layout.addStretch(1)
        layout.addWidget(self.buttons)
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

    def check(self) -> None:
        """Say what is wrong, and let start only what is right."""
        self.message.check(self.order, self.buttons)

    def accept(self) -> None:
        try:
            order = self.order()
        except ValueError:
            self.check()
            return
        super().accept()
        self.ordered.emit(order)


class FilePicker(QWidget):
    """One file or several, typed or chosen."""

    changed = Signal()

    def __init__(self, *, several: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._several = several
        self.line = PathLine()
        self.line.setPlaceholderText(translate("Jobs", "CSV (also .gz, .zip), Feather or Parquet"))
        self.browse = QPushButton(translate("Jobs", "Browse…"))
        self.browse.setAccessibleName(
            translate("Jobs", "Choose files") if several else translate("Jobs", "Choose a file")
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        row.addWidget(self.browse)
        self.setFocusProxy(self.line)
        self.line.textChanged.connect(lambda _text: self.changed.emit())
        self.browse.clicked.connect(self.open)

    def files(self) -> list[Path]:
        """Each can be read. Raises ValueError in a sentence."""
        names = self.line.text().split(_BETWEEN_FILES) if self._several else [self.line.text()]
        files = [Path(name.strip()).expanduser() for name in names if name.strip()]
        if not files:
            raise ValueError(translate("Jobs", "Choose a file of candles."))
        for file in files:
            try:
                require_readable(file)
            except CandleFileError as error:
                raise ValueError(str(error)) from error
        return [file.resolve() for file in files]

    def choose(self, files: Sequence[Path]) -> None:
        """Put these in the line; none leaves it as it is."""
        if files:
            self.line.setText(_BETWEEN_FILES.join(map(str, files)))

    def open(self) -> QFileDialog:
        """Ask for them."""
        first = self.line.text().split(_BETWEEN_FILES)[0].strip()
        dialog = QFileDialog(
            self, translate("Jobs", "Choose candles"), str(Path(first).parent if first else Path.home())
        )
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.ExistingFiles if self._several else modes.ExistingFile)
        dialog.setNameFilters(
            [
                translate("Jobs", "Candles (*.csv *.csv.gz *.zip *.feather *.parquet)"),
                translate("Jobs", "All files (*)"),
            ]
        )
        dialog.filesSelected.connect(lambda names: self.line.setText(_BETWEEN_FILES.join(names)))
        open_dialog(dialog)
        return dialog


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
