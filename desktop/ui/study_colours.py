"""The colours of an indicator's outputs: those that the user chose, else the theme's; and those of previews."""

from __future__ import annotations

from PySide6.QtGui import QColor

from core.indicators.registry import Drawing, Indicator, Place
from core.indicators.shown import Look
from desktop.ui.theme import Palette

_EDGE_ALPHA = 170
_PREVIEWS = (4, 1, 2, 5)
"""Indicator colours that read best on either background; no candle or ghost uses them."""
MOST_PREVIEWS = len(_PREVIEWS)


def study_colours(row: Indicator, number: int, look: Look, palette: Palette) -> tuple[QColor, ...]:
    """One for each output: edges of a band are of their middle's colour, fainter. number: tells indicators apart."""
    curves, lines, found = palette.studies, 0, []
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
    """Of the ghosts of another forecaster, which are drawn beside the ghosts. number: below MOST_PREVIEWS."""
    return palette.studies[_PREVIEWS[number % MOST_PREVIEWS]]
