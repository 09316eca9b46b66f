"""What is measured at each step, below the doctor's verdict: norms, numbers, layers, and parts of the loss."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QWidget

from desktop.panels.gradients.norm_plot import NormPlot
from desktop.panels.gradients.parts import LayerSection, NumberTable, PartSection
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Palette, Theme


class Measured(QWidget):
    """One column, or two."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.norms = NormPlot(theme)
        self.numbers = NumberTable()
        self.layers = LayerSection(theme)
        self.parts = PartSection(theme)
        left = stacked(None, self.norms, self.numbers, stretched=self.norms, spacing=8)
        right = stacked(None, self.layers, self.parts, spacing=8)
        right.addStretch(0)
        self._columns: QBoxLayout = stacked(self, left, right, stretched=(left, right), margins=NO_MARGINS, spacing=12)
        self.apply_palette(theme.palette)

    def set_two_columns(self, has_two: bool) -> None:
        """Two beside each other, or one."""
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if has_two else directions.TopToBottom)

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""
        for part in (self.norms, self.numbers, self.layers, self.parts):
            part.apply_palette(palette)
