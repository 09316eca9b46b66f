"""Dialogs for the look and the text of a drawing, and for the price and the label of a price line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QDialog, QFormLayout, QLineEdit, QSpinBox, QWidget

from core.domain.drawings import WIDEST_PX, Drawing, DrawingKind, text_of
from core.domain.plain_text import LONGEST_LABEL
from desktop.ui import formatting
from desktop.ui.colour_choice import ColourBox
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.inputs import ambiguity, readings
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

_LONGEST_PRICE = 24


class DrawingDialog(QDialog):
    """Open it with `open_dialog`; `on_done` gets the edited drawing. It stays open while a text is empty."""

    def __init__(
        self, drawing: Drawing, accent: QColor, on_done: Callable[[Drawing], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Drawing"))
        self._drawing, self._on_done = drawing, on_done
        self.edit = QLineEdit(drawing.text, maxLength=LONGEST_LABEL)
        self.edit.setMinimumWidth(360)
        self.colour = ColourBox(accent, drawing.colour)
        unit = "" if self._has_text else translate("Dialogs", " px")  # a text's size is a step
        self.width_px = QSpinBox(minimum=1, maximum=WIDEST_PX, suffix=unit, value=drawing.width_px)
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

    def accept(self) -> None:
        changed = replace(self._drawing, colour=self.colour.colour, width_px=self.width_px.value())
        if self._has_text:
            text = text_of(self.edit.text())
            if not text:
                self.edit.setFocus()
                return
            changed = replace(changed, text=text)
        super().accept()
        self._on_done(changed)

    @property
    def _has_text(self) -> bool:
        return self._drawing.kind is DrawingKind.TEXT


def read_price(text: str, decimals: int) -> float | str:
    """The price that was typed, or a sentence on what is wrong with it. decimals: of the market's prices; a price with
    more is invalid."""
    meanings = readings(text)
    if not meanings:
        return translate("Dialogs", "“{0}” is not a price. Use digits and a decimal point, such as 1250.5.").format(
            text.strip()
        )
    if len(meanings) > 1:
        return ambiguity(text, meanings)
    (price,) = meanings
    if price <= 0:
        return translate("Dialogs", "A price must be above zero.")
    if price != round(price, max(decimals, 0)):
        smallest = formatting.format_price(10.0**-decimals, decimals)
        return translate("Dialogs", "Prices of this market move in steps of {0}. Use fewer decimals.").format(smallest)
    return float(price)


class LineTextDialog(QDialog):
    """Open it with `open_dialog`; `on_done` gets price and label when they are accepted, the price as None if it was
    not changed. It stays open while the price is invalid."""

    def __init__(
        self,
        title: str,
        price: float,
        decimals: int,
        text: str,
        on_done: Callable[[float | None, str], object],
        parent: QWidget | None = None,
        *,
        asks_for_label: bool = False,
    ) -> None:
        """asks_for_label: the label has the focus, as the price was just chosen; else the price has it."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self._decimals, self._on_done = decimals, on_done
        self._price_before = formatting.format_price(price, decimals)
        self.price_edit = QLineEdit(self._price_before, maxLength=_LONGEST_PRICE)
        self.edit = QLineEdit(text, maxLength=LONGEST_LABEL, placeholderText=translate("Dialogs", "Optional"))
        self.edit.setMinimumWidth(360)
        self.message = Label(wraps=True)
        self.message.hide()
        self.buttons = ok_and_cancel(self)
        fields = QFormLayout()
        fields.addRow(translate("Dialogs", "&Price"), self.price_edit)
        fields.addRow(translate("Dialogs", "&Label"), self.edit)
        stacked(self, fields, self.message, self.buttons)
        first = self.edit if asks_for_label else self.price_edit
        first.selectAll()
        first.setFocus()

    def accept(self) -> None:
        text = self.price_edit.text()
        price = None if text == self._price_before else read_price(text, self._decimals)
        if isinstance(price, str):  # the message about a fault
            self.message.setText(price)
            self.message.show()
            self.price_edit.setFocus()
            self.price_edit.selectAll()
            return
        super().accept()
        self._on_done(price, self.edit.text().strip())
