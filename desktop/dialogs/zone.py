"""The time zone dialog: a name of the tz database, found by typing a part of it."""

from __future__ import annotations

from zoneinfo import available_timezones

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QDialog, QWidget

from core.domain import time_zones
from desktop.ui.accessible import name_box
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

_WIDTH = 320


class ZoneDialog(QDialog):
    """`chosen` carries the name when it was accepted. Open it with `open`."""

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
