"""Size and font of all text. Sizes measured for one text size are measured again for another."""

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
"""A window of this size in pixels has room for all its content with text of the usual size."""
_STEP, _LEAST, _MOST = 0.25, 1.0, 2.0
_USUAL_DPI = 96.0
_USUAL_POINTS = "usual_points"


def set_font(application: QApplication, appearance: AppearanceSettings) -> None:
    """Apply the font and its size from the settings; what is not set follows the desktop and the screen."""
    percent = appearance.interface_percent
    factor = _factor_of_screen() if percent is None else percent / 100.0
    if appearance.font != "system" or factor != 1.0:
        _apply(application, appearance, factor)


def _apply(application: QApplication, appearance: AppearanceSettings, factor: float) -> None:
    font = QFont(application.font())
    if application.property(_USUAL_POINTS) is None:
        application.setProperty(_USUAL_POINTS, font.pointSizeF())
    if appearance.font == "bundled":
        if BUNDLED_FAMILY not in QFontDatabase.families():
            for path in font_paths():
                QFontDatabase.addApplicationFont(str(path))
        if BUNDLED_FAMILY in QFontDatabase.families():
            font.setFamily(BUNDLED_FAMILY)
    font.setPointSizeF(application.property(_USUAL_POINTS) * factor)
    application.setFont(font)


class _Changes(QObject):
    changed = Signal()
    """All text became larger or smaller, and every widget has its new font."""


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
    """Text larger or smaller than all other, by this factor. Qt does not change an explicitly set size."""

    def apply() -> None:
        font = tabular(widget.font(), bold=bold)
        font.setPointSizeF(QApplication.font().pointSizeF() * scale)
        widget.setFont(font)

    follow_interface_size(widget, apply)


class InterfaceSize(QObject):
    """Adapts an automatic size to the window: on a large screen text is larger, but a small window there has no more
    room than one on a small screen."""

    changing = Signal()
    """All text is about to grow or shrink."""
    changed = Signal()
    """All text has grown or shrunk."""

    def __init__(self, window: QWidget, appearance: AppearanceSettings) -> None:
        """appearance: as passed to `set_font`."""
        super().__init__(window)
        self._window, self._appearance = window, appearance
        self._screen_factor = _factor_of_screen()
        self._settling = QTimer(self, singleShot=True)  # not amid the window's layout; once for all sizes on the way
        self._settling.timeout.connect(self._follow)
        if appearance.interface_percent is None and self._screen_factor > _LEAST:
            window.installEventFilter(self)

    @property
    def is_settling(self) -> bool:
        """Whether the window was resized, so that text may still change."""
        return self._settling.isActive()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._settling.start()
        return False

    def _follow(self) -> None:
        window, before = self._window, interface_factor()
        factor = factor_in_window(self._screen_factor, window.width(), window.height())
        if math.isclose(factor, before):
            return
        self.changing.emit()
        _change(self._appearance, factor)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        self.changed.emit()


def fit_text(window: QWidget, appearance: AppearanceSettings) -> None:
    """Set an automatic size for a window that is not shown yet, so that its layout need not change later. Arguments as
    of InterfaceSize."""
    screen_factor = _factor_of_screen()
    if appearance.interface_percent is not None or screen_factor <= _LEAST:
        return
    size = window.screen().availableGeometry().size() if window.isMaximized() else window.size()
    factor = factor_in_window(screen_factor, size.width(), size.height())
    if not math.isclose(factor, interface_factor()):
        _change(appearance, factor)


def _change(appearance: AppearanceSettings, factor: float) -> None:
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        return
    _apply(application, appearance, factor)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationFontChange.value)
    for widget in QApplication.allWidgets():
        if isinstance(widget, QComboBox):  # Qt remembers its smallest size over a change of its font
            QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
    _changes.changed.emit()


def interface_factor() -> float:
    """The size of text, relative to the usual one; drawings beside it scale with it."""
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
    """The factor by which text is enlarged on a screen of this size in logical pixels. A desktop that scales has fewer
    logical pixels, or more dots per inch, which fonts follow already: nothing is added then."""
    pixels = min(width / _USUAL_SCREEN[0], height / _USUAL_SCREEN[1]) * _SHARE_OF_PIXELS
    factor = pixels / max(logical_dpi / _USUAL_DPI, 1.0)
    return min(max(factor // _STEP * _STEP, _LEAST), _MOST)


def factor_in_window(screen_factor: float, width: int, height: int) -> float:
    """The factor in a window of this size in logical pixels: at most so large that the content of the smallest window
    fits."""
    room = min(width / _SMALLEST_WINDOW[0], height / _SMALLEST_WINDOW[1])
    return min(screen_factor, max(room // _STEP * _STEP, _LEAST))
