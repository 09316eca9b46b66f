"""Icons from a font that ships with the program: nothing is fetched, and they can have any colour. And a dot for a
state.

The font and its names are files of the package qtawesome, which is not imported: it loads twelve fonts, and with qtpy
every class of Qt, which took a tenth of the start and 25 MB."""

from __future__ import annotations

import functools
from importlib.metadata import distribution
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop.ui.theme import Palette, Theme, with_alpha

_FONT, _NAMES = "materialdesignicons6-webfont-6*.ttf", "materialdesignicons6-webfont-charmap-*.json"
_GLYPH_SHARE = 0.875
"""Of the icon's height: the rest is the font's bearing."""
_DISABLED_ALPHA = 90
_MOST_ICONS = 1_000
_CENTRED = Qt.AlignmentFlag.AlignCenter


def icon(name: str, colour: QColor, selected: QColor | None = None) -> QIcon:
    """The icon called `name` among the Material Design Icons, such as ``play``. Raises for a name it lacks.

    selected: its colour in a selected row.
    """
    return _icon(glyph(name), colour.rgba(), (selected or colour).rgba())


@functools.lru_cache(_MOST_ICONS)
def _icon(character: str, colour: int, selected: int) -> QIcon:
    """colour, selected: as `QColor.rgba` has them."""
    return QIcon(_GlyphEngine(character, QColor.fromRgba(colour), QColor.fromRgba(selected)))


def put_icon(button: QAbstractButton, name: str, theme: Theme) -> None:
    """Give a button an icon in the colour of texts, whatever that is."""
    theme.follow(button, lambda palette: button.setIcon(icon(name, palette.text)))


def severity_icon_name(severity: str) -> str:
    return {"warning": "alert-outline", "error": "alert-circle-outline"}.get(severity, "information-outline")


def severity_colour(severity: str, palette: Palette) -> QColor:
    return {"warning": palette.warning, "error": palette.bad}.get(severity, palette.accent)


def severity_icon(severity: str, palette: Palette) -> QIcon:
    """The icon of a severity in its colour, for a row of a table."""
    return icon(severity_icon_name(severity), severity_colour(severity, palette), palette.inverse_text)


def tabular(font: QFont, *, scale: float = 1.0, bold: bool = False) -> QFont:
    """A copy of `font` whose digits are all of one width, so that changing numbers do not move."""
    result = QFont(font)
    result.setFeature(QFont.Tag("tnum"), 1)
    if scale != 1.0:
        result.setPointSizeF(font.pointSizeF() * scale)
    result.setBold(bold)
    return result


@functools.cache
def glyph(name: str) -> str:
    """The character of an icon, to be written with `glyph_font`. Raises KeyError for a name that the font lacks."""
    _, found, rest = _names().partition(f'"{name}": "')
    if not found:
        raise KeyError(name)
    return chr(int(rest.partition('"')[0], 16))


def glyph_font(size_px: int) -> QFont:
    """The icons' font, for painting them as text, which stays sharp at any size."""
    font = QFont(_family())
    font.setPixelSize(size_px)
    return font


def _file(pattern: str) -> Path:
    """In a bundle the package has files and metadata, but no module."""
    fonts = distribution("QtAwesome").locate_file("qtawesome/fonts")
    return next(Path(str(fonts)).glob(pattern))


@functools.cache
def _names() -> str:
    """All names of glyphs with their code points, as JSON: some of 7,000 are needed."""
    return _file(_NAMES).read_text(encoding="utf-8")


@functools.cache
def _family() -> str:
    return QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(_file(_FONT))))[0]


class _GlyphEngine(QIconEngine):
    """Paints a character at any size."""

    def __init__(self, character: str, colour: QColor, selected: QColor) -> None:
        super().__init__()
        self._character = character
        faint = with_alpha(colour, _DISABLED_ALPHA)
        self._colours = {QIcon.Mode.Disabled: faint, QIcon.Mode.Selected: selected}
        self._usual = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        painter.save()
        painter.setPen(self._colours.get(mode, self._usual))
        painter.setFont(glyph_font(round(_GLYPH_SHARE * rect.height())))
        painter.drawText(rect, _CENTRED, self._character)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        drawn = QPixmap(size)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return drawn


class Dot(QWidget):
    """A disc in the colour of a state, beside a text that names it."""

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
