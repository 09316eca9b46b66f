"""Names with their numbers, which a panel lays out by its width."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop.ui.formatting import MISSING
from desktop.ui.icons import tabular
from desktop.ui.panel_base import colour_text, set_text
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.theme import Palette
from desktop.ui.translation import translate

BETWEEN_PAIRS_PX = 12
_BESIDE_PX = 8
"""Between a name and its number, and around what parts two pairs."""


class NumberGrid(QWidget):
    """A dash for each number until `put`. Who lays it out says for each name in which row and which pair of columns."""

    def __init__(self, meanings: Mapping[str, str], parent: QWidget | None = None) -> None:
        """meanings: the tooltip of each name as it is shown; the names are English, and in this order."""
        super().__init__(parent)
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(_BESIDE_PX)
        self.grid.setVerticalSpacing(1)
        self.names: dict[str, Label] = {}
        self.values: dict[str, Label] = {}
        for name, meaning in meanings.items():
            shown = translate("Panels", name)
            self.names[name], self.values[name] = Label(shown), Label(MISSING)
            self.values[name].setFont(tabular(self.font(), bold=True))
            self.values[name].setAccessibleName(shown)
            for label in (self.names[name], self.values[name]):
                label.setToolTip(paragraphs(meaning))

    def put(self, name: str, text: str, *, is_shown: bool = True) -> None:
        set_text(self.values[name], text)
        for label in (self.names[name], self.values[name]):
            label.setVisible(is_shown)

    def place(self, name: str, row: int, pair: int) -> None:
        """The name at the left of its pair of columns, the number at the right; a third column parts the pairs."""
        self.grid.addWidget(self.names[name], row, 3 * pair)
        self.grid.addWidget(self.values[name], row, 3 * pair + 1, Qt.AlignmentFlag.AlignRight)

    def room_for(self, pairs: int) -> int:
        """The least width in which so many pairs a row are cut nowhere."""
        names, values = (
            max((label.minimumSizeHint().width() for label in labels.values() if not label.isHidden()), default=0)
            for labels in (self.names, self.values)
        )
        pair = names + _BESIDE_PX + values
        return pairs * pair + (pairs - 1) * (BETWEEN_PAIRS_PX + 2 * _BESIDE_PX)

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""
        for label in self.names.values():
            colour_text(label, palette.muted_text)
