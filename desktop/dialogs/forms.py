"""Forms made from settings classes: an editor for each field, from its type, range and description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QSizePolicy, QToolButton, QWidget

from core.settings.faults import sentence_of
from core.settings.group import OWN_DIALOG, SECRET, all_field_infos
from desktop.dialogs.setting_texts import EXPERIMENTAL, description, facts, title
from desktop.ui.inputs import DecimalSpinBox, LogSpinBox, NumberBox, WholeSpinBox
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import translate

_OWN_CHILDREN = Qt.FindChildOption.FindDirectChildrenOnly
_LARGEST_INT = 2**31 - 1
_LARGEST_FLOAT = 1e12
_SMALLEST_POSITIVE = 1e-12
_LOG_FROM_RATIO = 1e4
_EDITOR_WIDTH = 150
_DESCRIPTION_WIDTH = 300
_ROW_SPACING = 5

T = TypeVar("T")


class FieldEditor:
    """One field's input. `get` returns its value, `put` shows one."""

    def __init__(self, widget: QWidget, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        self.widget, self.get, self.put = widget, get, put


def make_editor(info: FieldInfo) -> FieldEditor:
    """The editor for a field. Raises TypeError for a type that no form knows, so that a test finds it."""
    annotation, parts = info.annotation, [part for part in get_args(info.annotation) if part is not NoneType]
    is_optional = NoneType in get_args(annotation) and len(parts) == 1
    annotation = parts[0] if is_optional else annotation
    low, high = _range(info)
    if get_origin(annotation) is Literal:
        box = QComboBox()
        box.addItems(list(get_args(annotation)))
        return FieldEditor(box, box.currentText, box.setCurrentText)
    if annotation is bool:
        switch = QCheckBox()
        return FieldEditor(switch, switch.isChecked, switch.setChecked)
    if annotation is int:
        spin = WholeSpinBox(-_LARGEST_INT if low is None else int(low), _LARGEST_INT if high is None else int(high))
        whole = FieldEditor(spin, spin.entered, spin.setValue)
        return _optional(whole) if is_optional else whole
    if annotation is float:
        number = _number(low, high)
        return _optional(number) if is_optional else number
    if info.examples:
        box = editable(info.examples, "")
        return FieldEditor(box, box.currentText, box.setCurrentText)
    if annotation is str:
        return _text(is_optional, is_secret=info.json_schema_extra == SECRET)
    if get_origin(annotation) is tuple:
        edit = QLineEdit(placeholderText=translate("Dialogs", "separated by semicolons"))
        return FieldEditor(
            edit,
            lambda: tuple(text for part in edit.text().split(";") if (text := part.strip())),
            lambda values: edit.setText("; ".join(values)),
        )
    raise TypeError(f"no editor for {info.annotation}")


def field_infos(group: type) -> dict[str, FieldInfo]:
    """The fields of a settings class that a form offers, in their order."""
    return {name: info for name, info in all_field_infos(group).items() if info.json_schema_extra != OWN_DIALOG}


class _FieldLabel(Label):
    """A click on the name of a field toggles its switch, or moves the focus to its editor."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        buddy = self.buddy()
        if event.button() is not Qt.MouseButton.LeftButton or not self.rect().contains(event.position().toPoint()):
            return
        buddy.setFocus(Qt.FocusReason.MouseFocusReason)
        if isinstance(buddy, QCheckBox):
            buddy.click()


class GroupForm(QWidget, Generic[T]):
    """All fields of one settings class, one in a row: name, editor, description. Experimental ones are the last, and
    hidden until they are asked for, unless one has been set."""

    changed = Signal()
    refused = Signal(str)
    """The message about an invalid typed number: the former one stays."""

    def __init__(self, group: str, value: T, note: str = "", *, names: Collection[str] = ()) -> None:
        """group: its name in the tree. note: a sentence over the form. names: of the fields; all of them without it."""
        super().__init__()
        self._value = value
        infos = {name: info for name, info in field_infos(type(value)).items() if not names or name in names}
        self._editors = {name: make_editor(info) for name, info in infos.items()}
        self._texts: dict[str, str] = {}
        """The searched texts, by setting."""
        self._rows: dict[str, tuple[Label, QWidget, Label]] = {}
        grid = QGridLayout(self)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(_ROW_SPACING)
        grid.setColumnStretch(2, 1)
        if note:
            grid.addWidget(_description(note), 0, 0, 1, 3)
        self._folded = frozenset(name for name in infos if (group, name) in EXPERIMENTAL)
        self._unfold = QCheckBox(translate("Dialogs", "Experimental settings"))
        self._search: tuple[Sequence[str], str] = ((), "")
        order = sorted(infos.items(), key=lambda each: each[0] in self._folded)
        for row, (name, info) in enumerate(order, start=1):
            editor = self._editors[name]
            editor.put(getattr(value, name))
            listen(editor.widget, self.changed.emit)
            for box in number_boxes(editor.widget):
                box.setAccessibleName(title(name))
                box.refused.connect(self.refused)
            editor.widget.setObjectName(name)
            about = description(info)
            set_tooltip(editor.widget, about)
            editor.widget.setMinimumWidth(_EDITOR_WIDTH)
            label = _FieldLabel(title(name))
            label.setBuddy(editor.widget)
            if editor.widget.focusPolicy() is Qt.FocusPolicy.NoFocus:  # a switch beside an editor
                for part in editor.widget.findChildren(QWidget, options=_OWN_CHILDREN):
                    part.setAccessibleName(title(name))
            details = _description(f"{about} {facts(group, name, info)}".strip())
            self._texts[name] = f"{title(name)} {name} {about}"
            for column, part in enumerate((label, editor.widget, details)):
                grid.addWidget(part, row + (name in self._folded), column)
            self._rows[name] = (label, editor.widget, details)
        self._fold(grid, infos)
        grid.setRowStretch(grid.rowCount(), 1)

    def _fold(self, grid: QGridLayout, infos: Mapping[str, FieldInfo]) -> None:
        """Put the switch above the experimental settings, and hide them unless one is in use."""
        self._unfold.setVisible(False)
        grid.addWidget(self._unfold, len(infos) - len(self._folded) + 1, 0, 1, 3)
        self._unfold.setChecked(any(getattr(self._value, name) != infos[name].default for name in self._folded))
        self._unfold.toggled.connect(self._on_unfold)
        self.show_only(*self._search)

    def _on_unfold(self, _is_on: bool) -> None:
        self.show_only(*self._search)

    def unfold(self, name: str) -> None:
        """Show this setting, if it is folded away."""
        if name in self._folded:
            self._unfold.setChecked(True)

    def editor(self, name: str) -> FieldEditor:
        return self._editors[name]

    def show_only(self, words: Sequence[str], page: str) -> int:
        """Show only fields that, with the page's name, contain every word, and folded ones only if they are asked for.
        Returns their number."""
        self._search = words, page
        self._unfold.setVisible(bool(self._folded) and not words)
        count = 0
        for name, parts in self._rows.items():
            text = f"{page} {self._texts[name]}".casefold()
            is_unfolded = bool(words) or name not in self._folded or self._unfold.isChecked()
            is_shown = is_unfolded and all(word in text for word in words)
            count += is_shown
            for part in parts:
                part.setVisible(is_shown)
        return count

    def value(self) -> T:
        """The group with the editors' values. Raises ValueError with a sentence for the user."""
        given = {name: editor.get() for name, editor in self._editors.items()}
        try:
            return replace(self._value, **given)  # type: ignore[type-var]
        except ValidationError as error:
            problem = error.errors()[0]
            where = title(str(problem["loc"][0])) if problem["loc"] else translate("Dialogs", "These settings")
            raise ValueError(f"{where}: {sentence_of(problem)}.") from error


def listen(widget: QWidget, call: Callable[[], object]) -> None:
    """Call back when the content of an input, or of an input in the widget, has changed. Text typed into a number box
    counts at once, even if invalid."""
    if isinstance(widget, QComboBox):
        widget.currentTextChanged.connect(lambda _text: call())
    elif isinstance(widget, QLineEdit):
        widget.textChanged.connect(lambda _text: call())
    elif isinstance(widget, QCheckBox):
        widget.toggled.connect(lambda _checked: call())
    elif isinstance(widget, NumberBox):
        widget.lineEdit().textEdited.connect(lambda _text: call())
        widget.valueChanged.connect(lambda _value: call())
    else:
        for part in widget.findChildren(QWidget, options=_OWN_CHILDREN):
            listen(part, call)


def number_boxes(widget: QWidget) -> list[NumberBox[Any]]:
    """The widget itself if it is a number box, and all number boxes in it."""
    return [box for box in (widget, *widget.findChildren(QWidget)) if isinstance(box, NumberBox)]


def editable(options: Sequence[str], value: str, placeholder: str = "") -> QComboBox:
    """A box that accepts any typed text: a completion would turn BTC/USD into BTC/USDT, and consume the first
    Return."""
    box = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
    box.addItems(list(options))
    box.setCurrentIndex(box.findText(value))
    box.setCurrentText(value)
    box.setCompleter(None)  # type: ignore[arg-type]  # Qt takes it: no completion
    if (line := box.lineEdit()) is not None:
        line.setPlaceholderText(placeholder)
        line.setClearButtonEnabled(bool(placeholder))
        for button in line.findChildren(QToolButton):
            button.setAccessibleName(translate("Dialogs", "Clear"))
    return box


def _description(text: str) -> Label:
    label = Label(text)
    label.setMinimumWidth(_DESCRIPTION_WIDTH)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    label.setWordWrap(True)  # after the policy, which would take the height that follows from the width away
    label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
    return label


def _range(info: FieldInfo) -> tuple[float | None, float | None]:
    """The ends of the range; a positive number with an open end at 0 starts at a very small one."""
    low: float | None = None
    high: float | None = None
    for rule in info.metadata:
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
        if getattr(rule, "gt", None) is not None:
            low = rule.gt + _SMALLEST_POSITIVE
        high = getattr(rule, "lt", high)
    return low, high


def _number(low: float | None, high: float | None) -> FieldEditor:
    least, most = -_LARGEST_FLOAT if low is None else low, _LARGEST_FLOAT if high is None else high
    spans_decades = least > 0 and most / least >= _LOG_FROM_RATIO
    box = LogSpinBox(least, most) if spans_decades else DecimalSpinBox(least, most)
    return FieldEditor(box, box.entered, box.setValue)


def _text(is_optional: bool, *, is_secret: bool) -> FieldEditor:
    edit = QLineEdit()
    if is_secret:
        edit.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    return FieldEditor(
        edit, lambda: edit.text().strip() or (None if is_optional else ""), lambda value: edit.setText(value or "")
    )


def _optional(inner: FieldEditor) -> FieldEditor:
    """A switch beside an editor: off is None."""
    host = QWidget()
    switch = QCheckBox(translate("Dialogs", "Set"))
    beside(host, switch, inner.widget, stretched=inner.widget, margins=NO_MARGINS)
    policy = inner.widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    inner.widget.setSizePolicy(policy)

    def show_inner(is_set: bool) -> None:
        inner.widget.setEnabled(is_set)
        inner.widget.setVisible(is_set)

    show_inner(False)
    switch.toggled.connect(show_inner)

    def put(value: Any) -> None:
        switch.setChecked(value is not None)
        if value is not None:
            inner.put(value)

    return FieldEditor(host, lambda: inner.get() if switch.isChecked() else None, put)
