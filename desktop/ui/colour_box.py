"""A choice of colours, the theme's own first."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QWidget

from desktop.ui.icons import icon
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

COLOURS = (
    (QT_TRANSLATE_NOOP("Dialogs", "Theme colour"), ""),
    (QT_TRANSLATE_NOOP("Dialogs", "Red"), "#e0454a"),
    (QT_TRANSLATE_NOOP("Dialogs", "Orange"), "#d9730d"),
    (QT_TRANSLATE_NOOP("Dialogs", "Yellow"), "#a98600"),
    (QT_TRANSLATE_NOOP("Dialogs", "Green"), "#2f9348"),
    (QT_TRANSLATE_NOOP("Dialogs", "Teal"), "#12909e"),
    (QT_TRANSLATE_NOOP("Dialogs", "Purple"), "#9657e0"),
    (QT_TRANSLATE_NOOP("Dialogs", "Pink"), "#d1499a"),
    (QT_TRANSLATE_NOOP("Dialogs", "Grey"), "#808893"),
)
"""Each can be seen on the ground of a dark and of a light chart."""


class ColourBox(QComboBox):
    """Its data are the colours: empty for the theme's, else #rrggbb."""

    def __init__(self, of_theme: QColor, chosen: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        for name, colour in COLOURS:
            self.addItem(icon("circle", QColor(colour or of_theme)), translate("Dialogs", name), colour)
        if self.findData(chosen) < 0:  # of another version of this list
            self.addItem(icon("circle", QColor(chosen)), chosen, chosen)
        self.setCurrentIndex(self.findData(chosen))

    @property
    def colour(self) -> str:
        return str(self.currentData())
