"""The settings that a sweep varies: a row for each, with its values as a list or a range."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from core.sweeps.plan import Values
from core.sweeps.typed_values import read_values, sweepable, values_text, words_of
from desktop.dialogs.setting_texts import description, facts, title
from desktop.ui.accessible import name_box
from desktop.ui.icons import put_icon
from desktop.ui.plain_text import set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

FIRST = ("training.learning_rate", "model.width")
"""What the first rows of a new sweep vary."""


class SettingRow(QWidget):
    """One setting and its typed values."""

    changed = Signal()
    removed = Signal(object)
    """The row itself."""

    def __init__(self, theme: Theme, key: str, values: str) -> None:
        super().__init__()
        self.setting, self.values, self.remove = QComboBox(), QLineEdit(values), QToolButton(autoRaise=True)
        for each in sweepable():
            group, _, name = each.partition(".")
            self.setting.addItem(translate("Sweeps", "{0}: {1}").format(title(group), title(name)), each)
        self.setting.setCurrentIndex(self.setting.findData(key))
        name_box(self.setting, translate("Sweeps", "Setting"))
        self.values.setAccessibleName(translate("Sweeps", "Values"))
        put_icon(self.remove, "close", theme)
        self.remove.setAccessibleName(translate("Sweeps", "Remove this setting"))
        self.remove.setToolTip(translate("Sweeps", "Remove this setting"))
        beside(self, self.setting, self.values, self.remove, stretched=self.values, margins=NO_MARGINS, spacing=6)
        self.setting.currentIndexChanged.connect(self._on_setting)
        self.values.textChanged.connect(self.changed)
        self.remove.clicked.connect(self._on_remove)
        self._describe()

    @property
    def key(self) -> str:
        return str(self.setting.currentData())

    def read(self, *, needs_steps: bool) -> Values:
        """Raises ValueError with a sentence."""
        try:
            return read_values(self.key, self.values.text(), needs_steps=needs_steps)
        except ValueError as error:
            name = title(self.key.partition(".")[2])
            raise ValueError(translate("Sweeps", "{0}: {1}.").format(name, error)) from error

    @Slot()
    def _on_setting(self) -> None:
        self.values.clear()
        self._describe()
        self.changed.emit()

    @Slot()
    def _on_remove(self) -> None:
        self.removed.emit(self)

    def _describe(self) -> None:
        """What the setting is, and which values it takes."""
        info = sweepable()[self.key]
        group, _, name = self.key.partition(".")
        set_tooltip(self.setting, f"{description(info)}\n{facts(group, name, info)}")
        choices = ", ".join(words_of(info))
        example = translate("Sweeps", "A list, such as {0}, or a range, such as {1}")
        ranged = example.format("32, 64", "16 to 64 in 4; 0.0001 to 0.01 in 5, log")
        set_tooltip(self.values, choices or ranged)
        self.values.setPlaceholderText(choices or facts(group, name, info))


class SettingRows(QWidget):
    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows: list[SettingRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*NO_MARGINS)
        self._column.setSpacing(4)
        self.add_button = QPushButton(translate("Sweeps", "&Add a setting"))
        put_icon(self.add_button, "plus", theme)
        self.add_button.clicked.connect(self._on_add)
        self._column.addLayout(beside(None, self.add_button, None))

    def settings(self, *, needs_steps: bool) -> dict[str, Values]:
        """By their dotted keys. Raises ValueError with a sentence."""
        found: dict[str, Values] = {}
        for row in self.rows:
            if row.key in found:
                name = title(row.key.partition(".")[2])
                raise ValueError(translate("Sweeps", "{0} is there twice. Put all values into one row.").format(name))
            found[row.key] = row.read(needs_steps=needs_steps)
        return found

    def show_settings(self, settings: Mapping[str, Values]) -> None:
        """Replace all rows. Settings that no form offers are left out."""
        for row in tuple(self.rows):
            self._drop(row)
        for key, values in settings.items():
            if key in sweepable():
                self._add(key, values_text(values))
        self.changed.emit()

    def _add(self, key: str, values: str = "") -> SettingRow:
        row = SettingRow(self._theme, key, values)
        row.changed.connect(self.changed)
        row.removed.connect(self._on_removed)
        self.rows.append(row)
        self._column.insertWidget(len(self.rows) - 1, row)
        return row

    def _drop(self, row: SettingRow) -> None:
        self.rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    @Slot()
    def _on_add(self) -> None:
        taken = {row.key for row in self.rows}
        free = next(key for key in (*FIRST, *sweepable()) if key not in taken)
        self._add(free).setting.setFocus()
        self.changed.emit()

    @Slot(object)
    def _on_removed(self, row: SettingRow) -> None:
        self._drop(row)
        self.add_button.setFocus()
        self.changed.emit()
