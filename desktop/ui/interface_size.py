"""How large all text is, and in which font. Sizes measured for one text size are measured again for another."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, QTimer, Signal
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QTableView, QToolBar, QWidget

from core.settings.window import AppearanceSettings
from desktop.ui.icons import tabular
from desktop.ui.resources import font_paths
from desktop.ui.theme import Follower

BUNDLED_FAMILY = "Golden Sans"
_USUAL_SCREEN = (1920, 1080)
_SHARE_OF_PIXELS = 0.75
"""A screen of twice as many pixels each way is mostly larger too: 1.5 times the text is as large to the eye."""
_SMALLEST_WINDOW = (1280, 720)
"""All that the window shows by itself has room in so many pixels, while its text is no larger than usual."""
_STEP, _LEAST, _MOST = 0.25, 1.0, 2.0
_USUAL_DPI = 96.0
_USUAL_POINTS = "usual_points"


def set_font(application: QApplication, appearance: AppearanceSettings) -> None:
    """Take the font and its size from the settings; what is not set follows the desktop and the screen."""
    percent = appearance.interface_percent
    factor = _factor_of_screen() if percent is None else percent / 100.0
    if appearance.font != "system" or factor != 1.0:
        _take(application, appearance, factor)


def _take(application: QApplication, appearance: AppearanceSettings, factor: float) -> None:
    font = QFont(application.font())
    if application.property(_USUAL_POINTS) is None:
        application.setProperty(_USUAL_POINTS, font.pointSizeF())
    if appearance.font == "bundled" and _has_bundled():
        font.setFamily(BUNDLED_FAMILY)
    font.setPointSizeF(application.property(_USUAL_POINTS) * factor)
    application.setFont(font)


class _Changes(QObject):
    """Says that all text became larger or smaller, once every widget has its new font."""

    changed = Signal()


_changes = _Changes()


def follow_interface_size(widget: QWidget, action: Callable[[], None]) -> None:
    """Do this now, and again whenever the size of all text has changed, while the widget lives."""
    action()
    Follower(widget, _changes.changed, action)


def enlarge_icons(widget: QToolBar | QAbstractButton, size_px: int) -> None:
    """Icons as large as the text beside them. size_px: beside usual text."""
    follow_interface_size(widget, lambda: widget.setIconSize(QSize(enlarged(size_px), enlarged(size_px))))


def space_rows(table: QTableView, padding_px: int) -> None:
    """Rows as high as a line of text and this much more."""
    rows = table.verticalHeader()
    follow_interface_size(table, lambda: rows.setDefaultSectionSize(table.fontMetrics().height() + padding_px))


def scale_text(widget: QWidget, scale: float, *, bold: bool = False) -> None:
    """Text larger or smaller than all other, by this factor. Qt leaves a size that was set as it is."""

    def take() -> None:
        font = tabular(widget.font(), bold=bold)
        font.setPointSizeF(QApplication.font().pointSizeF() * scale)
        widget.setFont(font)

    follow_interface_size(widget, take)


class InterfaceSize(QObject):
    """Keeps an automatic size in step with the window: on a large screen text is larger, but a window that is made
    small there has room for no more than one on a small screen."""

    changing = Signal()
    """All text is about to grow or shrink."""
    changed = Signal()
    """It has."""

    def __init__(self, window: QWidget, appearance: AppearanceSettings) -> None:
        """appearance: what `set_font` was called with."""
        super().__init__(window)
        self._window, self._appearance = window, appearance
        self._screen_factor = _factor_of_screen()
        self._settling = QTimer(self, singleShot=True)  # not amid the window's layout; once for all sizes on the way
        self._settling.timeout.connect(self._follow)
        if appearance.interface_percent is None and self._screen_factor > _LEAST:
            window.installEventFilter(self)

    @property
    def is_settling(self) -> bool:
        """Whether the window has another size, for which text may change yet."""
        return self._settling.isActive()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._settling.start()
        return False

    def _follow(self) -> None:
        window, before = self._window, interface_factor()
        wanted = factor_in_window(self._screen_factor, window.width(), window.height())
        if math.isclose(wanted, before):
            return
        self.changing.emit()
        _change(self._appearance, wanted)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        self.changed.emit()


def fit_text(window: QWidget, appearance: AppearanceSettings) -> None:
    """Give an automatic size its value for a window that is not shown yet: what is laid out in it then need not change
    once it is. Arguments as InterfaceSize has them."""
    screen_factor = _factor_of_screen()
    if appearance.interface_percent is not None or screen_factor <= _LEAST:
        return
    size = window.screen().availableGeometry().size() if window.isMaximized() else window.size()
    wanted = factor_in_window(screen_factor, size.width(), size.height())
    if not math.isclose(wanted, interface_factor()):
        _change(appearance, wanted)


def _change(appearance: AppearanceSettings, factor: float) -> None:
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        return
    _take(application, appearance, factor)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationFontChange.value)
    for widget in QApplication.allWidgets():
        if isinstance(widget, QComboBox):  # Qt remembers its smallest size over a change of its font
            QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
    _changes.changed.emit()


def interface_factor() -> float:
    """How many times its usual size the text has; what is drawn beside it grows with it."""
    application = QApplication.instance()
    usual = None if application is None else application.property(_USUAL_POINTS)
    return QApplication.font().pointSizeF() / usual if isinstance(usual, float) and usual > 0.0 else 1.0


def enlarged(size_px: int) -> int:
    """A length that suits text of the usual size, scaled to the current size; never less."""
    return round(size_px * max(interface_factor(), 1.0))


def _factor_of_screen() -> float:
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


def factor_in_window(screen_factor: float, width: int, height: int) -> float:
    """The same for a window of so many logical pixels on that screen: never so much that a small window's worth of
    text and controls has no room."""
    room = min(width / _SMALLEST_WINDOW[0], height / _SMALLEST_WINDOW[1])
    return min(screen_factor, max(room // _STEP * _STEP, _LEAST))


def _has_bundled() -> bool:
    if BUNDLED_FAMILY not in QFontDatabase.families():
        for path in font_paths():
            QFontDatabase.addApplicationFont(str(path))
    return BUNDLED_FAMILY in QFontDatabase.families()
