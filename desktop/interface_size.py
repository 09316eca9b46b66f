"""How large all text is, and in which font. Widgets take their fonts when they are made, so it is set before them."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication

from core.window_settings import AppearanceSettings
from desktop.resources import font_paths

BUNDLED_FAMILY = "Golden Sans"
_USUAL_SCREEN = (1920, 1080)
_SHARE_OF_PIXELS = 0.75
"""A screen of twice as many pixels each way is mostly larger too: 1.5 times the text is as large to the eye."""
_STEP, _LEAST, _MOST = 0.25, 1.0, 2.0
_USUAL_DPI = 96.0
_USUAL_POINTS = "usual_points"


def set_font(application: QApplication, appearance: AppearanceSettings) -> None:
    """Take the font and its size from the settings; what is not set follows the desktop and the screen."""
    factor = _wanted(appearance)
    if appearance.font == "system" and factor == 1.0:
        return
    font = QFont(application.font())
    if application.property(_USUAL_POINTS) is None:
        application.setProperty(_USUAL_POINTS, font.pointSizeF())
    if appearance.font == "bundled" and _has_bundled():
        font.setFamily(BUNDLED_FAMILY)
    font.setPointSizeF(font.pointSizeF() * factor)
    application.setFont(font)


def interface_factor() -> float:
    """By how much text is larger than it is by itself: what is drawn beside it grows with it."""
    application = QApplication.instance()
    usual = None if application is None else application.property(_USUAL_POINTS)
    return QApplication.font().pointSizeF() / usual if isinstance(usual, float) and usual > 0.0 else 1.0


def enlarged(size_px: int) -> int:
    """A length that was measured for usual text, for the text that there is; never less."""
    return round(size_px * max(interface_factor(), 1.0))


def _wanted(appearance: AppearanceSettings) -> float:
    if appearance.interface_percent is not None:
        return appearance.interface_percent / 100.0
    screen = QGuiApplication.primaryScreen()
    if screen is None:
        return 1.0
    size = screen.size()
    return automatic_factor(size.width(), size.height(), screen.logicalDotsPerInch())


def automatic_factor(width: int, height: int, logical_dpi: float) -> float:
    """By how much text is enlarged on a screen of so many logical pixels. Where the desktop scales, its pixels are
    fewer, or its logical dots per inch more, which the font's points follow already: nothing is added then."""
    pixels = min(width / _USUAL_SCREEN[0], height / _USUAL_SCREEN[1]) * _SHARE_OF_PIXELS
    wanted = pixels / max(logical_dpi / _USUAL_DPI, 1.0)
    return min(max(wanted // _STEP * _STEP, _LEAST), _MOST)


def _has_bundled() -> bool:
    if BUNDLED_FAMILY not in QFontDatabase.families():
        for path in font_paths():
            QFontDatabase.addApplicationFont(str(path))
    return BUNDLED_FAMILY in QFontDatabase.families()
