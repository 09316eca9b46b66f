"""A choice of colours, the theme's own first; the colours of an indicator's outputs and of previews."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox

from core.indicators.registry import Drawing, Indicator, Place
from core.indicators.shown import Look
from desktop.ui.icons import icon
from desktop.ui.theme import Palette
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_EDGE_ALPHA = 170
_PREVIEWS = (4, 1, 2, 5)
"""Indicator colours that read best on either background; no candle or ghost uses them."""
MOST_PREVIEWS = len(_PREVIEWS)
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
"""Colours that are visible on a dark and on a light chart."""


def indicator_colours(row: Indicator, number: int, look: Look, palette: Palette) -> tuple[QColor, ...]:
    """One colour for each output: edges of a band have their middle's colour, fainter. number: distinguishes
    indicators."""
    curves, lines, found = palette.indicators, 0, []
    for output in row.outputs:
        is_edge = output.drawing is Drawing.BAND_EDGE
        chosen = look.colour_of(row.inks[0] if is_edge else output.name)
        colour = QColor(chosen or curves[(number + lines) % len(curves)])
        if is_edge:
            colour.setAlpha(_EDGE_ALPHA)
        elif row.place is Place.OWN_PANE:
            lines += 2
        found.append(colour)
    return tuple(found)


def preview_colour(palette: Palette, number: int) -> QColor:
    """The colour of another forecaster's ghosts, drawn beside the main ones. number: below MOST_PREVIEWS."""
    return palette.indicators[_PREVIEWS[number % MOST_PREVIEWS]]


class ColourBox(QComboBox):
    """A box with colours as its data: empty for the theme's, else #rrggbb."""

    def __init__(self, of_theme: QColor, chosen: str) -> None:
        super().__init__()
        for name, colour in COLOURS:
            self.addItem(icon("circle", QColor(colour or of_theme)), translate("Dialogs", name), colour)
        if self.findData(chosen) < 0:  # of another version of this list
            self.addItem(icon("circle", QColor(chosen)), chosen, chosen)
        self.setCurrentIndex(self.findData(chosen))

    @property
    def colour(self) -> str:
        return str(self.currentData())
