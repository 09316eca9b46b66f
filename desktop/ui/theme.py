"""Colours: `Theme` owns the current palette, follows the system, and signals changes. And styles: Fusion with cached
icons of docks' title bars, and one for tab bars with little room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QProxyStyle,
    QSlider,
    QStyle,
    QStyleOption,
    QTabBar,
    QWidget,
)

from desktop.ui.inputs import WheelGuard

Mode = Literal["system", "dark", "light"]
Colours = Literal["green-red", "blue-orange"]
_KEPT = (QStyle.StandardPixmap.SP_TitleBarNormalButton, QStyle.StandardPixmap.SP_TitleBarCloseButton)


class Style(QProxyStyle):
    """The wheel changes no input that does not have the focus.

    A dock asks for both icons of its title bar whenever it is hidden or put in its place, and Qt searches the icon
    theme and its resources for them each time: 12 of the 16 ms in which eleven docks came back."""

    def __init__(self) -> None:
        super().__init__("Fusion")
        self.setObjectName("fusion")
        self._wheel_guard = WheelGuard(self)
        self._icons: dict[QStyle.StandardPixmap, QIcon] = {}
        self._palette_key = 0

    def polish(self, target: Any) -> Any:
        """Called once for each widget; Qt has other forms of it for the application and its palette."""
        if isinstance(target, QComboBox | QAbstractSpinBox | QSlider):
            self._wheel_guard.watch(target)
        return super().polish(target)

    def standardIcon(
        self, kind: QStyle.StandardPixmap, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> QIcon:
        if kind not in _KEPT:
            return super().standardIcon(kind, option, widget)
        palette_key = QApplication.palette().cacheKey()
        if palette_key != self._palette_key:
            self._icons, self._palette_key = {}, palette_key
        if kind not in self._icons:
            self._icons[kind] = super().standardIcon(kind, option, widget)
        return self._icons[kind]


class NarrowTabs(QProxyStyle):
    """A style for one tab bar: half the room beside its titles. Qt asks for metrics too often for a Python style of all
    widgets."""

    def __init__(self, tabs: QTabBar) -> None:
        super().__init__("Fusion")
        self.setParent(tabs)
        tabs.setStyle(self)

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        found = super().pixelMetric(metric, option, widget)
        return found // 2 if metric is QStyle.PixelMetric.PM_TabBarTabHSpace else found


@dataclass(frozen=True)
class Palette:
    """Every colour the window uses. QColors, to be read and never changed in place."""

    is_dark: bool
    background: QColor
    """Background of charts and curves."""
    panel: QColor
    """Background of docks, bars and dialogs."""
    raised: QColor
    """Background of boxes on a chart: readout, tooltip, axis labels of the crosshair."""
    border: QColor
    outline: QColor
    """Outline of buttons and input fields."""
    grid: QColor
    text: QColor
    muted_text: QColor
    inverse_text: QColor
    """Text on `up`, `down`, `accent` and the ghosts' colours."""
    up: QColor
    down: QColor
    volume_up: QColor
    volume_down: QColor
    ghost_up: QColor
    ghost_down: QColor
    ghost_text: QColor
    band_50: QColor
    band_90: QColor
    divider: QColor
    crosshair: QColor
    gap: QColor
    accent: QColor
    focus: QColor
    """The ring around the widget with keyboard focus."""
    good: QColor
    warning: QColor
    bad: QColor
    curves: tuple[QColor, ...]
    """Distinguishable in this order, also by the colour-blind."""
    indicators: tuple[QColor, ...]
    """Colours of indicators, distinct from those of candles and ghosts."""
    regimes: tuple[QColor, ...]
    """Colours of a calm, a trending and a volatile market: as text, and faintly behind the candles."""

    def candle(self, rising: bool) -> QColor:
        return self.up if rising else self.down

    def ghost(self, rising: bool) -> QColor:
        return self.ghost_up if rising else self.ghost_down


def with_alpha(colour: str | QColor, alpha: int) -> QColor:
    shade = QColor(colour)
    shade.setAlpha(alpha)
    return shade


def mixed(colour: str | QColor, ground: str | QColor, share: float) -> QColor:
    """An opaque mixture, `share` of it the colour. Many opaque rectangles are filled some 20 times faster than
    translucent ones."""
    one, other = QColor(colour), QColor(ground)
    channels = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    return QColor(*(round(share * upper + (1.0 - share) * lower) for upper, lower in channels))


_MARKET_COLOURS: dict[tuple[bool, Colours], tuple[str, str, str, str]] = {
    # up, down, ghost up, ghost down. Blue and purple ghosts would be lost among blue candles: those get mint and pink.
    (True, "green-red"): ("#26b083", "#f0526a", "#5f9dff", "#b98cff"),
    (True, "blue-orange"): ("#4a90f5", "#f0913a", "#52d6b4", "#ea86d4"),
    (False, "green-red"): ("#0a8259", "#d02a48", "#2166e0", "#8339d6"),
    (False, "blue-orange"): ("#1f66d1", "#b1560a", "#0a7a5e", "#b0298f"),
}
_DARK_CURVES = ("#5f9dff", "#f0b23e", "#4cc9a6", "#e88bb8", "#9fb4cc", "#e5703c")
_DARK_INDICATORS = ("#f0b23e", "#6cc7dd", "#b8d35a", "#c3cbd8", "#e5703c", "#c98f7a")
_LIGHT_INDICATORS = ("#985f00", "#0b7f94", "#5f7a12", "#55657a", "#c04a12", "#8a5a48")
_DARK_REGIMES = ("#8fa3c4", "#3fc1d9", "#f0a63e")
_LIGHT_REGIMES = ("#5d7196", "#0a7f96", "#a86400")
_LIGHT_CURVES = ("#2166e0", "#985f00", "#0a7d60", "#b03a7c", "#55657a", "#c04a12")


def build_palette(is_dark: bool, colours: Colours, *, is_swapped: bool = False) -> Palette:
    """The palette for a scheme and a pair of market colours; swapped, rising and falling exchange their colours."""

    def shade(dark: str, light: str) -> QColor:
        return QColor(dark if is_dark else light)

    up, down, ghost_up, ghost_down = _MARKET_COLOURS[is_dark, colours]
    if is_swapped:
        up, down = down, up
    ground, volume = shade("#11151d", "#ffffff"), 0.43 if is_dark else 0.37
    return Palette(
        is_dark=is_dark,
        background=ground,
        panel=shade("#191e28", "#f3f5f8"),
        raised=shade("#2a3140", "#ffffff"),
        border=shade("#343d4e", "#c9d0da"),
        outline=shade("#6f7a8f", "#727c8b"),
        grid=shade("#1d2330", "#edf0f4"),
        text=shade("#dde2ec", "#1a202b"),
        muted_text=shade("#97a1b3", "#596476"),
        inverse_text=shade("#0b0e14", "#ffffff"),
        up=QColor(up),
        down=QColor(down),
        volume_up=mixed(up, ground, volume),
        volume_down=mixed(down, ground, volume),
        ghost_up=QColor(ghost_up),
        ghost_down=QColor(ghost_down),
        ghost_text=QColor(ghost_up),
        band_50=with_alpha(ghost_up, 60 if is_dark else 56),
        band_90=with_alpha(ghost_up, 34 if is_dark else 32),
        divider=with_alpha(ghost_up, 190),
        crosshair=shade("#7f8aa0", "#6f7b8e"),
        gap=mixed(shade("#b98a3a", "#b07d1f"), ground, 0.55),
        accent=shade("#4f8ff7", "#1f63d6"),
        focus=shade("#8fb8ff", "#1f63d6"),
        good=shade("#35c48f", "#0a7d57"),
        warning=shade("#e6ac3c", "#8f5f00"),
        bad=shade("#f7758a", "#c4243f"),
        curves=tuple(map(shade, _DARK_CURVES, _LIGHT_CURVES)),
        indicators=tuple(map(shade, _DARK_INDICATORS, _LIGHT_INDICATORS)),
        regimes=tuple(map(shade, _DARK_REGIMES, _LIGHT_REGIMES)),
    )


def qt_palette(palette: Palette) -> QPalette:
    """The palette's colours for Qt's own widgets in the Fusion style."""
    result = QPalette(palette.panel)
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, palette.panel),
        (roles.Base, palette.background),
        (roles.AlternateBase, palette.panel),
        (roles.Button, palette.panel),
        (roles.ToolTipBase, palette.raised),
        (roles.WindowText, palette.text),
        (roles.Text, palette.text),
        (roles.ButtonText, palette.text),
        (roles.ToolTipText, palette.text),
        (roles.PlaceholderText, palette.muted_text),
        (roles.Highlight, palette.accent),
        (roles.HighlightedText, palette.inverse_text),
        (roles.Accent, palette.accent),
        (roles.Link, palette.accent),
    ):
        result.setColor(role, colour)
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, with_alpha(palette.muted_text, 150))
    return result


_OUTLINED = (
    "QCheckBox",
    "QLineEdit",
    "QAbstractSpinBox",
    "QComboBox",
    "QPushButton",
    "QSlider",
    "QProgressBar",
)
"""Drawn with an outline by Fusion, and without filling their ground with the window's colour."""
_FUSION_DARKER = 140


class Follower(QObject):
    """Calls an action at each signal, while its owner lives."""

    def __init__(self, owner: QObject, signal: SignalInstance, action: Callable[..., object]) -> None:
        super().__init__(owner)
        self._action = action
        signal.connect(self._on_signal)

    def _on_signal(self, *arguments: object) -> None:
        self._action(*arguments)


class Theme(QObject):
    """Owns the current palette. Widgets read `palette` when they paint, or set colours by `follow`."""

    changed = Signal(object)
    """Palette: the new one."""

    def __init__(self, mode: Mode = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mode: Mode = mode
        self.colours: Colours = "green-red"
        self._is_swapped = False
        self._application: QApplication | None = None
        # What the desktop's own palette looks like, for platforms that do not tell their colour scheme.
        self._system_was_dark = QGuiApplication.palette().window().color().lightness() < 128
        self.palette = build_palette(self._wants_dark(), self.colours)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._refresh)

    def follow(self, owner: QObject, apply: Callable[[Palette], object]) -> None:
        """Apply the palette's colours, now and whenever they change, while the owner lives."""
        apply(self.palette)
        Follower(owner, self.changed, apply)

    def set_mode(self, mode: Mode) -> None:
        """Follow the system, or stay dark or light."""
        self.mode = mode
        if self._application is not None:
            _request_scheme(mode)
        self._refresh()

    def set_colours(self, colours: Colours, *, is_swapped: bool = False) -> None:
        self.colours, self._is_swapped = colours, is_swapped
        self._refresh()

    def apply_to(self, application: QApplication) -> None:
        """Apply the theme to the whole application: Fusion style, colour scheme, Qt palette."""
        self._application = application
        if not isinstance(application.style(), Style):
            application.setStyle(Style())
        # Qt 6.9's GNOME theme makes every text monospace when the system's scheme changes; a font that was set stays
        application.setFont(application.font())
        _request_scheme(self.mode)
        _apply_style(application, self.palette)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        palette = build_palette(self._wants_dark(), self.colours, is_swapped=self._is_swapped)
        if palette == self.palette:
            return
        self.palette = palette
        if self._application is not None:
            _apply_style(self._application, palette)
        self.changed.emit(palette)

    def _wants_dark(self) -> bool:
        if self.mode != "system":
            return self.mode == "dark"
        scheme = QGuiApplication.styleHints().colorScheme()
        if scheme is Qt.ColorScheme.Unknown:
            return self._system_was_dark
        return scheme is Qt.ColorScheme.Dark


def _apply_style(application: QApplication, palette: Palette) -> None:
    application.setPalette(qt_palette(palette))  # takes those of single classes away
    # Fusion takes no outline from a palette: it makes one by darkening the window's colour, which on a dark window is
    # next to nothing. These classes get a lighter window colour, so that the result is ours.
    outlined = qt_palette(palette)
    outlined.setColor(QPalette.ColorRole.Window, palette.outline.lighter(_FUSION_DARKER))
    for name in _OUTLINED:
        application.setPalette(outlined, name)  # type: ignore[arg-type]  # its stub says bytes, it takes str alone


def _request_scheme(mode: Mode) -> None:
    hints = QGuiApplication.styleHints()
    if mode == "system":
        hints.unsetColorScheme()
    else:
        hints.setColorScheme(Qt.ColorScheme.Dark if mode == "dark" else Qt.ColorScheme.Light)
