"""Asks how a drawing looks, and what a text says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QDialog, QFormLayout, QLineEdit, QSpinBox, QWidget

from core.domain.drawings import LONGEST_TEXT, WIDEST_PX, Drawing, DrawingKind, text_of
from desktop.ui.colours import ColourBox
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate


class DrawingDialog(QDialog):
    """Open it with `open_dialog`; `on_done` gets the drawing as it was set. A text without words is none: then it
    stays open."""

    def __init__(
        self, drawing: Drawing, accent: QColor, on_done: Callable[[Drawing], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Drawing"))
        self._drawing, self._on_done = drawing, on_done
        self.edit = QLineEdit(drawing.text, maxLength=LONGEST_TEXT)
        self.edit.setMinimumWidth(360)
        self.colour = ColourBox(accent, drawing.colour)
        unit = "" if self._has_text else translate("Dialogs", " px")  # a text's size is a step
        self.width_px = QSpinBox(minimum=1, maximum=WIDEST_PX, suffix=unit, value=drawing.width_px)
        self._lay_out()

    def accept(self) -> None:
        changed = replace(self._drawing, colour=self.colour.colour, width_px=self.width_px.value())
        if self._has_text:
            said = text_of(self.edit.text())
            if not said:
                self.edit.setFocus()
                return
            changed = replace(changed, text=said)
        super().accept()
        self._on_done(changed)

    @property
    def _has_text(self) -> bool:
        return self._drawing.kind is DrawingKind.TEXT

    def _lay_out(self) -> None:
        fields = QFormLayout()
        if self._has_text:
            fields.addRow(translate("Dialogs", "&Text"), self.edit)
        fields.addRow(translate("Dialogs", "&Colour"), self.colour)
        width = translate("Dialogs", "&Size") if self._has_text else translate("Dialogs", "&Width")
        fields.addRow(width, self.width_px)
        stacked(self, fields, ok_and_cancel(self))
        if self._has_text:
            self.edit.selectAll()
            self.edit.setFocus()
