"""The line above the table: which of the markets are shown, and in which order. It adds none: that is the adder's."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QToolButton, QWidget

from desktop.panels.markets.model import SORTABLE
from desktop.ui.icons import put_icon
from desktop.ui.plain_text import paragraphs
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_OWN_ORDER = -1


class _FilterBox(QLineEdit):
    """Down and Enter lead into the table, which `left` asks for; Escape shows all."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class FilterLine(QWidget):
    """`sort_chosen` carries a column's number, -1 for the list's order."""

    sort_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = _FilterBox()
        self.sort = QToolButton()
        put_icon(self.sort, "sort", theme)
        self._choices: dict[int, QAction] = {}
        self._apply_style()
        beside(self, self.box, self.sort, stretched=self.box, margins=NO_MARGINS, spacing=4)

    def show_sorting(self, column: int) -> None:
        """Check what the table is sorted by."""
        self._choices.get(column, self._choices[_OWN_ORDER]).setChecked(True)

    def _apply_style(self) -> None:
        self.box.setPlaceholderText(translate("Panels", "Filter"))
        self.box.setAccessibleName(translate("Panels", "Filter the markets below"))
        words = translate("Panels", "Show only markets with these letters in symbol, exchange, interval or state")
        self.box.setToolTip(paragraphs(words))
        self.box.setClearButtonEnabled(True)
        self.box.setMinimumWidth(60)
        self.sort.setToolTip(paragraphs(translate("Panels", "Sort the markets; a click on a column's title does too")))
        self.sort.setAccessibleName(translate("Panels", "Sort"))
        self.sort.setAutoRaise(True)
        self.sort.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sort.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.sort.setMenu(self._menu())

    def _menu(self) -> QMenu:
        menu, group = QMenu(self), QActionGroup(self)
        names = {_OWN_ORDER: translate("Panels", "Own order")}
        names |= {int(column): column.title for column in SORTABLE}
        for column, name in names.items():
            action = menu.addAction(name)
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _checked, column=column: self.sort_chosen.emit(column))
            self._choices[column] = action
        self._choices[_OWN_ORDER].setChecked(True)
        return menu
