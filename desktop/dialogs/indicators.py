"""The indicators dialog: the chart's indicators, their parameters and looks. Every change shows at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QListWidget,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.indicators.parameters import Choice, IndicatorError, Number, Value
from core.indicators.registry import INDICATORS, Place
from core.indicators.shown import NARROWEST_PX, WIDEST_PX, Look, ShownIndicator, colour_numbers, without
from desktop.ui.colour_choice import ColourBox, indicator_colours
from desktop.ui.dialog_parts import close_button
from desktop.ui.inputs import DecimalSpinBox, NumberBox, WholeSpinBox
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Palette
from desktop.ui.translation import translate

_LIST_WIDTH, _FORM_WIDTH = 200, 300
_SIZE = 640, 520
"""It fits on a screen of 1280 x 720, and every form fits at the usual text size without scrolling."""


class IndicatorsDialog(QDialog):
    """`changed` carries all indicators, as a tuple of ShownIndicator, after each valid change. Open it with `open`."""

    changed = Signal(object)

    def __init__(self, shown: Sequence[ShownIndicator], palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Indicators"))
        self._shown, self._palette = list(shown), palette
        self._editors: dict[str, NumberBox[Any] | QComboBox] = {}
        self._colours: dict[str, ColourBox] = {}
        self.line_width = DecimalSpinBox(NARROWEST_PX, WIDEST_PX)
        self.reset_button = QPushButton()
        self.list = QListWidget()
        self.list.setFixedWidth(_LIST_WIDTH)
        self.list.setAccessibleName(translate("Dialogs", "Indicators on the chart"))
        self.add_button = QPushButton(translate("Dialogs", "Add"))
        self.add_button.setMenu(self._make_menu())
        self.remove_button = QPushButton(translate("Dialogs", "Remove"))
        self.remove_button.clicked.connect(self.remove_current)
        form_host = QWidget(minimumWidth=_FORM_WIDTH)
        self._form = QVBoxLayout(form_host)
        self.message = Label(wraps=True)
        left = stacked(None, self.list, beside(None, self.add_button, self.remove_button), stretched=self.list)
        form = DownScrolling(form_host, translate("Dialogs", "The chosen indicator"))
        stacked(self, beside(None, left, form, stretched=form), self.message, close_button(self))
        self.resize(*map(enlarged, _SIZE))
        self._fill_list(0)
        self.list.currentRowChanged.connect(self._show_form)
        self._show_form(self.list.currentRow())

    @property
    def shown(self) -> tuple[ShownIndicator, ...]:
        return tuple(self._shown)

    def add(self, kind: str) -> None:
        """Append an indicator with its defaults, and show its form."""
        self._shown.append(ShownIndicator.of(kind))
        self._fill_list(len(self._shown) - 1)
        self._show_form(self.list.currentRow())
        self.changed.emit(self.shown)

    def remove_current(self) -> None:
        row = self.list.currentRow()
        if row < 0:
            return
        self._shown = list(without(self._shown, row))
        self._fill_list(min(row, len(self._shown) - 1))
        self._show_form(self.list.currentRow())
        self.changed.emit(self.shown)

    def editor(self, name: str) -> NumberBox[Any] | QComboBox:
        """The editor of one parameter of the chosen indicator. Raises KeyError."""
        return self._editors[name]

    def colour(self, output: str) -> ColourBox:
        """The colour of one line of the chosen indicator. Raises KeyError."""
        return self._colours[output]

    def _make_menu(self) -> QMenu:
        menu = QMenu(self, toolTipsVisible=True)
        place = None
        for kind, info in INDICATORS.items():
            if info.place is not place:
                place = info.place
                over, below = translate("Dialogs", "Over the candles"), translate("Dialogs", "Below the candles")
                menu.addSection(over if place is Place.PRICE_PANE else below)
            action = menu.addAction(f"{info.title} ({info.short})")
            action.setToolTip(paragraphs(info.description))
            action.triggered.connect(lambda _checked=False, kind=kind: self.add(kind))
        return menu

    def _fill_list(self, row: int) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([shown.spec.label for shown in self._shown])
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self.remove_button.setEnabled(bool(self._shown))

    def _show_form(self, row: int) -> None:
        while self._form.count():
            item = self._form.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._editors.clear()
        self._colours.clear()
        self.message.clear()
        if not 0 <= row < len(self._shown):
            self._form.addWidget(_text(translate("Dialogs", "No indicator is on the chart. Add one.")))
            self._form.addStretch(1)
            return
        shown = self._shown[row]
        info = INDICATORS[shown.spec.kind]
        title = _text(info.title)
        title.setStyleSheet("font-weight: 600")
        self._form.addWidget(title)
        self._form.addWidget(_text(info.description))
        self._form.addWidget(self._make_fields(shown, colour_numbers(self._shown)[row]))
        self._form.addStretch(1)

    def _make_fields(self, shown: ShownIndicator, number: int) -> QWidget:
        host = QWidget()
        fields = QFormLayout(host)
        fields.setContentsMargins(0, 8, 0, 0)
        for parameter, value in zip(INDICATORS[shown.spec.kind].parameters, shown.spec.values, strict=True):
            editor = self._choice(parameter, value) if isinstance(parameter, Choice) else self._number(parameter, value)
            self._editors[parameter.name] = editor
            title = parameter.title[:1].upper() + parameter.title[1:]
            if isinstance(editor, QComboBox):
                fields.addRow(title, editor)
            else:
                self._add_bounded(fields, title, editor)
        self._add_look(fields, shown, number)
        return host

    def _add_look(self, fields: QFormLayout, shown: ShownIndicator, number: int) -> None:
        row = INDICATORS[shown.spec.kind]
        of_theme = indicator_colours(row, number, Look(), self._palette)
        for output, colour in zip(row.outputs, of_theme, strict=True):
            if output.name in row.inks:
                box = ColourBox(colour, shown.look.colour_of(output.name))
                box.currentIndexChanged.connect(lambda _index: self._on_look())
                self._colours[output.name] = box
                one = translate("Dialogs", "Colour")
                fields.addRow(one if len(row.inks) == 1 else f"{one}, {output.name}", box)
        self.line_width = DecimalSpinBox(NARROWEST_PX, WIDEST_PX, step=0.5, decimals=1)
        self.line_width.setSuffix(translate("Dialogs", " px"))
        self.line_width.setValue(shown.look.width_px)
        self.line_width.valueChanged.connect(lambda _width: self._on_look())
        self._add_bounded(fields, translate("Dialogs", "Width"), self.line_width)
        self.reset_button = QPushButton(translate("Dialogs", "Reset colours and width"))
        self.reset_button.setEnabled(shown.look != Look())
        self.reset_button.clicked.connect(self._reset_look)
        fields.addRow("", self.reset_button)

    def _add_bounded(self, fields: QFormLayout, title: str, box: NumberBox[Any]) -> None:
        box.setAccessibleName(title)
        box.refused.connect(self.message.setText)
        fields.addRow(title, box)

    def _choice(self, parameter: Choice, value: Value) -> QComboBox:
        box = QComboBox()
        box.addItems(list(parameter.options))
        box.setCurrentText(str(value))
        box.currentIndexChanged.connect(lambda _index: self._on_edited())
        return box

    def _number(self, parameter: Number, value: Value) -> NumberBox[Any]:
        box: NumberBox[Any] = WholeSpinBox(int(parameter.minimum), int(parameter.maximum))
        if not parameter.is_whole:
            decimals = max(1, -math.floor(math.log10(parameter.minimum)))  # the smallest value can be typed
            box = DecimalSpinBox(parameter.minimum, parameter.maximum, step=parameter.step, decimals=decimals)
        box.setValue(value)
        box.setSuffix(f" {parameter.unit}" if parameter.unit else "")
        box.valueChanged.connect(lambda _value: self._on_edited())
        return box

    def _on_edited(self) -> None:
        row = self.list.currentRow()
        given = {
            name: editor.currentText() if isinstance(editor, QComboBox) else editor.value()
            for name, editor in self._editors.items()
        }
        try:
            changed = self._shown[row].with_values(given)
        except IndicatorError as error:
            self.message.setText(str(error))
            return
        self.message.clear()
        self._shown[row] = changed
        item = self.list.item(row)
        item.setText(changed.spec.label)
        self.changed.emit(self.shown)

    def _on_look(self) -> None:
        chosen = tuple((output, box.colour) for output, box in self._colours.items() if box.colour)
        self._show_look(Look(chosen, self.line_width.value()))
        self.reset_button.setEnabled(self._shown[self.list.currentRow()].look != Look())

    def _reset_look(self) -> None:
        self._show_look(Look())
        self._show_form(self.list.currentRow())
        self.line_width.setFocus()

    def _show_look(self, look: Look) -> None:
        row = self.list.currentRow()
        self.message.clear()
        self._shown[row] = replace(self._shown[row], look=look)
        self.changed.emit(self.shown)


def _text(text: str) -> Label:
    return Label(text, alignment=Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, wraps=True)
