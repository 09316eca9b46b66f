"""The indicators dialog: which are on the chart, and how each is set. Every change shows at once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QListWidget,
    QMenu,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from core.indicators.parameters import Choice, IndicatorError, Number, Value
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from desktop.plain_text import Label, paragraphs
from desktop.translation import translate

_LIST_WIDTH, _FORM_WIDTH = 200, 300


class IndicatorsDialog(QDialog):
    """`changed` carries all specs, as a tuple, after each change that is valid. Open it with `open`."""

    changed = Signal(object)

    def __init__(self, specs: Sequence[IndicatorSpec], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Indicators"))
        self._specs = list(specs)
        self._editors: dict[str, QSpinBox | QDoubleSpinBox | QComboBox] = {}
        self.list = QListWidget()
        self.list.setFixedWidth(_LIST_WIDTH)
        self.list.setAccessibleName(translate("Dialogs", "Indicators on the chart"))
        self.add_button = QPushButton(translate("Dialogs", "Add"))
        self.add_button.setMenu(self._make_menu())
        self.remove_button = QPushButton(translate("Dialogs", "Remove"))
        self.remove_button.clicked.connect(self.remove_current)
        self._form_host = QWidget()
        self._form_host.setMinimumWidth(_FORM_WIDTH)
        self._form = QVBoxLayout(self._form_host)
        self.message = Label()
        self.message.setWordWrap(True)
        self._build()
        self._fill_list(0)
        self.list.currentRowChanged.connect(self._show_form)
        self._show_form(self.list.currentRow())

    @property
    def specs(self) -> tuple[IndicatorSpec, ...]:
        """What is in the list."""
        return tuple(self._specs)

    def add(self, kind: str) -> None:
        """Put one with its defaults at the end, and show its form."""
        self._specs.append(IndicatorSpec.of(kind))
        self._fill_list(len(self._specs) - 1)
        self._show_form(self.list.currentRow())
        self.changed.emit(self.specs)

    def remove_current(self) -> None:
        """Take the one that is chosen away."""
        row = self.list.currentRow()
        if row < 0:
            return
        del self._specs[row]
        self._fill_list(min(row, len(self._specs) - 1))
        self._show_form(self.list.currentRow())
        self.changed.emit(self.specs)

    def editor(self, name: str) -> QSpinBox | QDoubleSpinBox | QComboBox:
        """The editor of one parameter of the chosen indicator. Raises KeyError."""
        return self._editors[name]

    def _build(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        under_list = QHBoxLayout()
        under_list.addWidget(self.add_button)
        under_list.addWidget(self.remove_button)
        left = QVBoxLayout()
        left.addWidget(self.list, 1)
        left.addLayout(under_list)
        sides = QHBoxLayout()
        sides.addLayout(left)
        sides.addWidget(self._form_host, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(sides)
        layout.addWidget(self.message)
        layout.addWidget(buttons)
        self.resize(560, 360)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for kind, info in INDICATORS.items():
            action = menu.addAction(f"{info.title} ({info.short})")
            action.setToolTip(paragraphs(info.words))
            action.triggered.connect(lambda _checked=False, kind=kind: self.add(kind))
        return menu

    def _fill_list(self, row: int) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([spec.label for spec in self._specs])
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self.remove_button.setEnabled(bool(self._specs))

    def _show_form(self, row: int) -> None:
        while self._form.count():
            item = self._form.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._editors.clear()
        self.message.clear()
        if not 0 <= row < len(self._specs):
            self._form.addWidget(_text(translate("Dialogs", "No indicator is on the chart. Add one.")))
            self._form.addStretch(1)
            return
        info = INDICATORS[self._specs[row].kind]
        title = _text(info.title)
        title.setStyleSheet("font-weight: 600")
        self._form.addWidget(title)
        self._form.addWidget(_text(info.words))
        self._form.addWidget(self._make_fields(self._specs[row]))
        self._form.addStretch(1)

    def _make_fields(self, spec: IndicatorSpec) -> QWidget:
        host = QWidget()
        fields = QFormLayout(host)
        fields.setContentsMargins(0, 8, 0, 0)
        for parameter in INDICATORS[spec.kind].parameters:
            value = spec.parameters()[parameter.name]
            editor = self._choice(parameter, value) if isinstance(parameter, Choice) else self._number(parameter, value)
            self._editors[parameter.name] = editor
            fields.addRow(parameter.words.capitalize(), editor)
        return host

    def _choice(self, parameter: Choice, value: Value) -> QComboBox:
        box = QComboBox()
        box.addItems(list(parameter.options))
        box.setCurrentText(str(value))
        box.currentIndexChanged.connect(lambda _index: self._on_edited())
        return box

    def _number(self, parameter: Number, value: Value) -> QSpinBox | QDoubleSpinBox:
        spin: QSpinBox | QDoubleSpinBox
        if parameter.is_whole:
            spin = QSpinBox()
            spin.setRange(int(parameter.minimum), int(parameter.maximum))
            spin.setValue(int(value))
        else:
            spin = QDoubleSpinBox()
            spin.setRange(parameter.minimum, parameter.maximum)
            spin.setSingleStep(0.1)
            spin.setValue(float(value))
        spin.setSuffix(f" {parameter.unit}" if parameter.unit else "")
        spin.setStepType(QAbstractSpinBox.StepType.DefaultStepType)
        spin.setKeyboardTracking(False)
        spin.valueChanged.connect(lambda _value: self._on_edited())
        return spin

    def _on_edited(self) -> None:
        row = self.list.currentRow()
        spec = self._specs[row]
        given = {
            name: editor.currentText() if isinstance(editor, QComboBox) else editor.value()
            for name, editor in self._editors.items()
        }
        try:
            changed = IndicatorSpec.of(spec.kind, **given)
        except IndicatorError as error:
            self.message.setText(str(error))
            return
        self.message.clear()
        self._specs[row] = changed
        item = self.list.item(row)
        item.setText(changed.label)
        self.changed.emit(self.specs)


def _text(words: str) -> Label:
    text = Label(words)
    text.setWordWrap(True)
    text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    return text
