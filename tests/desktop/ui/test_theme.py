import itertools
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Colours, Mode, Palette, Theme, build_palette, qt_palette
from tests.support.contrast import GRAPHICS, TEXT, contrast

SCHEMES: list[tuple[bool, Colours]] = [
    (True, "green-red"),
    (True, "blue-orange"),
    (False, "green-red"),
    (False, "blue-orange"),
]


@pytest.fixture(params=SCHEMES, ids=lambda scheme: f"{'dark' if scheme[0] else 'light'}-{scheme[1]}")
def palette(request: pytest.FixtureRequest, qapp: QApplication) -> Palette:
    return build_palette(*request.param)


@pytest.fixture
def restored_application(qapp: QApplication) -> Iterator[QApplication]:
    palette, style = qapp.palette(), qapp.style().objectName()
    yield qapp
    qapp.styleHints().unsetColorScheme()
    qapp.setPalette(palette)
    qapp.setStyle(style)


def hue_distance(one: QColor, other: QColor) -> int:
    apart = abs(one.hue() - other.hue())
    return min(apart, 360 - apart)


@pytest.mark.parametrize("surface", ["background", "panel", "raised"])
@pytest.mark.parametrize("ink", ["text", "muted_text", "good", "warning", "bad", "ghost_text"])
def test_text_can_be_read_on_every_surface(palette: Palette, surface: str, ink: str) -> None:
    assert contrast(getattr(palette, ink), getattr(palette, surface)) >= TEXT


@pytest.mark.parametrize("surface", ["up", "down", "ghost_up", "ghost_down", "accent"])
def test_text_can_be_read_on_coloured_labels(palette: Palette, surface: str) -> None:
    assert contrast(palette.inverse_text, getattr(palette, surface)) >= TEXT


@pytest.mark.parametrize("ink", ["up", "down", "ghost_up", "ghost_down"])
def test_prices_in_market_colours_can_be_read_on_the_chart(palette: Palette, ink: str) -> None:
    assert contrast(getattr(palette, ink), palette.background) >= TEXT


def test_candles_and_curves_have_contrast_with_the_background(palette: Palette) -> None:
    for colour in (palette.up, palette.down, palette.ghost_up, palette.ghost_down, *palette.curves):
        assert contrast(colour, palette.background) >= GRAPHICS


def test_indicators_and_regimes_can_be_read_where_the_chart_names_them(palette: Palette) -> None:
    for colour in (*palette.indicators, *palette.regimes, palette.accent, palette.curves[4]):
        assert contrast(colour, palette.background) >= TEXT
    for colour in palette.regimes:
        assert contrast(colour, palette.raised) >= TEXT, "in the tooltip"


@pytest.mark.parametrize("surface", ["background", "panel", "raised"])
def test_focus_and_clickable_items_have_contrast(palette: Palette, surface: str) -> None:
    for shape in (palette.focus, palette.outline, palette.crosshair):
        assert contrast(shape, getattr(palette, surface)) >= GRAPHICS


def test_ghosts_have_separate_hues(palette: Palette) -> None:
    for ghost, real in itertools.product((palette.ghost_up, palette.ghost_down), (palette.up, palette.down)):
        assert hue_distance(ghost, real) >= 40


def test_a_held_mode_does_not_follow_the_system(qapp: QApplication) -> None:
    assert Theme("dark").palette.is_dark
    assert not Theme("light").palette.is_dark


def test_changes_are_announced_once_and_only_when_something_changed(qtbot: QtBot) -> None:
    theme = Theme("dark")
    seen: list[Palette] = []
    theme.changed.connect(seen.append)
    theme.set_mode("dark")
    assert seen == []
    theme.set_mode("light")
    theme.set_colours("blue-orange")
    assert [palette.is_dark for palette in seen] == [False, False]
    assert seen[-1] == theme.palette == build_palette(False, "blue-orange")


def test_the_application_has_the_themes_palette(restored_application: QApplication) -> None:
    theme = Theme("dark")
    theme.apply_to(restored_application)
    assert restored_application.style().objectName() == "fusion"
    assert restored_application.palette().color(QPalette.ColorRole.Window) == theme.palette.panel
    theme.set_mode("light")
    assert restored_application.palette().color(QPalette.ColorRole.Base) == theme.palette.background


@pytest.mark.parametrize("mode", ["dark", "light"])
@pytest.mark.parametrize("kind", [QCheckBox, QLineEdit, QSpinBox, QComboBox, QPushButton])
def test_clickable_items_have_a_visible_outline(
    qtbot: QtBot, restored_application: QApplication, mode: Mode, kind: type[QWidget]
) -> None:
    """Measured in the picture: Fusion makes its outlines by itself. 3 to 1 is what WCAG asks of controls."""
    theme = Theme(mode)
    theme.apply_to(restored_application)
    host, control = QWidget(), kind()
    qtbot.addWidget(host)
    control.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    QHBoxLayout(host).addWidget(control)
    host.show()
    image = host.grab().toImage()
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    seen = sum(contrast(pixel, theme.palette.panel) >= 3.0 for pixel in pixels)
    assert seen >= 40, "a box of 11 pixels has 40 at its edge"
    assert image.pixelColor(1, 1) == theme.palette.panel, "only the outline is another colour"


def test_qt_widgets_can_be_read(palette: Palette) -> None:
    colours = qt_palette(palette)
    roles = QPalette.ColorRole
    for ink, surface in (
        (roles.Text, roles.Base),
        (roles.WindowText, roles.Window),
        (roles.ButtonText, roles.Button),
        (roles.ToolTipText, roles.ToolTipBase),
        (roles.PlaceholderText, roles.Base),
    ):
        assert contrast(colours.color(ink), colours.color(surface)) >= TEXT
    assert contrast(colours.color(roles.HighlightedText), colours.color(roles.Highlight)) >= TEXT
