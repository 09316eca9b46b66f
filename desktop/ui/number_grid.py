"""Names with their numbers, in as many pairs a row as there is room for."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop.ui.formatting import MISSING
from desktop.ui.icons import tabular
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.translation import translate

_BETWEEN_PAIRS_PX = 12
_BESIDE_PX = 8
"""Space between a name and its number, and around the separator of two pairs."""


class NumberGrid(QWidget):
    """A dash for each number until `put`. A row for each name of `meanings`, and one line of `put`, make a number."""

    def __init__(
        self,
        meanings: Mapping[str, str],
        most_pairs: int = 1,
        *,
        is_by_column: bool = False,
        figure: object = "",
    ) -> None:
        """meanings: the tooltip of each name, both in English; figure: what {0} is in it. most_pairs: names in one row,
        at most. is_by_column: names are ordered by columns, not by rows."""
        super().__init__()
        self._most_pairs, self._is_by_column = most_pairs, is_by_column
        self._pairs = 0
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(_BESIDE_PX)
        self.grid.setVerticalSpacing(1)
        self.names: dict[str, Label] = {}
        self.values: dict[str, Label] = {}
        for name, meaning in meanings.items():
            shown = translate("Panels", name)
            self.names[name], self.values[name] = Label(shown), Label(MISSING)
            mute(self.names[name])
            self.values[name].setFont(tabular(self.font(), bold=True))
            self.values[name].setAccessibleName(shown)
            for label in (self.names[name], self.values[name]):
                set_tooltip(label, translate("Panels", meaning).format(figure))
        self._arrange(0)

    def put(self, name: str, text: str, *, is_shown: bool = True) -> None:
        set_text(self.values[name], text)
        for label in (self.names[name], self.values[name]):
            label.setVisible(is_shown)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.room_for(1), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width())

    def event(self, event: QEvent) -> bool:
        is_done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange(self.width())  # a number that got longer, or larger text, may need the room of another pair
        return is_done

    def room_for(self, pairs: int) -> int:
        """The least width at which this many pairs a row are not cut."""
        widths = (
            max((labels[name].minimumSizeHint().width() for name in names if not labels[name].isHidden()), default=0)
            for names in self._columns(pairs)
            for labels in (self.names, self.values)
        )
        return sum(widths) + pairs * _BESIDE_PX + (pairs - 1) * (_BETWEEN_PAIRS_PX + 2 * _BESIDE_PX)

    def _arrange(self, width: int) -> None:
        """Names at the left of their pair of columns, numbers at its right; a third column separates the pairs."""
        pairs = next((pairs for pairs in range(self._most_pairs, 1, -1) if self.room_for(pairs) <= width), 1)
        if pairs == self._pairs:
            return
        self._pairs = pairs
        for pair, names in enumerate(self._columns(pairs)):
            for row, name in enumerate(names):
                self.grid.addWidget(self.names[name], row, 3 * pair)
                self.grid.addWidget(self.values[name], row, 3 * pair + 1, Qt.AlignmentFlag.AlignRight)
        for pair in range(self._most_pairs):
            self.grid.setColumnStretch(3 * pair, int(pair < pairs))
            self.grid.setColumnMinimumWidth(3 * pair + 2, _BETWEEN_PAIRS_PX if pair < pairs - 1 else 0)

    def _columns(self, pairs: int) -> list[list[str]]:
        names = list(self.names)
        rows = -(-len(self.names) // pairs)
        if self._is_by_column:
            return [names[pair * rows : (pair + 1) * rows] for pair in range(pairs)]
        return [names[pair::pairs] for pair in range(pairs)]
