"""The application's style keeps the icons that docks ask for again and again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyle

from desktop.ui.theme import Style

CLOSE = QStyle.StandardPixmap.SP_TitleBarCloseButton


@pytest.fixture
def palette(qapp: QApplication) -> Iterator[QPalette]:
    former = QPalette(qapp.palette())
    yield QPalette(former)
    qapp.setPalette(former)


@pytest.mark.parametrize("kind", [CLOSE, QStyle.StandardPixmap.SP_TitleBarNormalButton])
def test_the_icon_of_a_title_bar_is_made_once(qapp: QApplication, kind: QStyle.StandardPixmap) -> None:
    style = Style()
    first = style.standardIcon(kind)
    assert not first.isNull()
    assert style.standardIcon(kind).cacheKey() == first.cacheKey()


def test_it_is_made_again_for_another_palette(qapp: QApplication, palette: QPalette) -> None:
    style = Style()
    first = style.standardIcon(CLOSE)
    palette.setColor(QPalette.ColorRole.Window, QColor("#123456"))
    qapp.setPalette(palette)
    assert style.standardIcon(CLOSE).cacheKey() != first.cacheKey()


def test_other_icons_are_those_of_fusion(qapp: QApplication) -> None:
    assert not Style().standardIcon(QStyle.StandardPixmap.SP_DialogOkButton).isNull()
