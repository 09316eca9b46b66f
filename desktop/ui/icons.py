"""Icons from a font that ships with the program: nothing is fetched, and they take any colour. And a dot of a state."""

from __future__ import annotations

import qtawesome
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop.ui.theme import Palette, Theme, with_alpha

_FAMILY = "mdi6"


def icon(name: str, colour: QColor, selected: QColor | None = None) -> QIcon:
    """The icon called `name` among the Material Design Icons, such as ``play``. Raises for a name it lacks.

    selected: its colour in a selected row.
    """
    drawn: QIcon = qtawesome.icon(
        f"{_FAMILY}.{name}", color=colour, color_disabled=with_alpha(colour, 90), color_selected=selected or colour
    )
    return drawn


def put_icon(button: QAbstractButton, name: str, theme: Theme) -> None:
    """Give a button an icon in the colour of texts, whatever that is."""
    theme.follow(button, lambda palette: button.setIcon(icon(name, palette.text)))


def severity_icon_name(severity: str) -> str:
    """The icon of an incident or a notice."""
    return {"warning": "alert-outline", "error": "alert-circle-outline"}.get(severity, "information-outline")


def severity_colour(severity: str, palette: Palette) -> QColor:
    """The colour that goes with `severity_icon_name`."""
    return {"warning": palette.warning, "error": palette.bad}.get(severity, palette.accent)


def tabular(font: QFont, *, scale: float = 1.0, bold: bool = False) -> QFont:
    """A copy of `font` whose digits are all of one width, so that changing numbers do not move."""
    result = QFont(font)
    result.setFeature(QFont.Tag("tnum"), 1)
    if scale != 1.0:
        result.setPointSizeF(font.pointSizeF() * scale)
    result.setBold(bold)
    return result


def glyph(name: str) -> str:
    """The character of an icon, to be written with `glyph_font`. Raises for a name that the font lacks."""
    character: str = qtawesome.charmap(f"{_FAMILY}.{name}")
    return character


def glyph_font(size_px: int) -> QFont:
    """The icons' font, for painting them as text, which stays sharp at any size."""
    font: QFont = qtawesome.font(_FAMILY, size_px)
    return font


class Dot(QWidget):
    """A disc in the colour of a state; the words beside it say the same."""

    def __init__(self) -> None:
        super().__init__()
        self._colour = QColor()
        self.setFixedSize(QSize(12, 12))

    def show_colour(self, colour: QColor) -> None:
        if colour != self._colour:
            self._colour = colour
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        painter.drawEllipse(QRectF(1.5, 1.5, 9, 9))
        painter.end()
