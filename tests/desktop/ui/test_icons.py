"""Icons are glyphs of a font, in the colours asked for."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QApplication

from desktop.ui.icons import glyph, glyph_font, icon

BLUE, RED = QColor("#0000ff"), QColor("#ff0000")


def inks(drawn: QIcon, mode: QIcon.Mode) -> set[tuple[int, int, int]]:
    """The colours of its opaque pixels."""
    image = drawn.pixmap(QSize(32, 32), mode).toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    colours = (image.pixelColor(x, y) for x, y in places)
    return {(each.red(), each.green(), each.blue()) for each in colours if each.alpha() == 255}


def test_an_icon_has_its_colour_and_another_one_in_a_selected_row(qapp: QApplication) -> None:
    drawn = icon("play", BLUE, RED)
    assert inks(drawn, QIcon.Mode.Normal) == inks(drawn, QIcon.Mode.Active) == {(0, 0, 255)}
    assert inks(drawn, QIcon.Mode.Selected) == {(255, 0, 0)}


def test_a_disabled_icon_is_faint(qapp: QApplication) -> None:
    assert inks(icon("play", BLUE), QIcon.Mode.Disabled) == set()


def test_the_same_icon_is_made_once(qapp: QApplication) -> None:
    assert icon("play", BLUE) is icon("play", QColor(BLUE)) is not icon("play", RED)


def test_an_unknown_name_is_an_error(qapp: QApplication) -> None:
    assert len(glyph("play")) == 1 and glyph_font(14).pixelSize() == 14
    with pytest.raises(KeyError):
        glyph("no-such-glyph")
