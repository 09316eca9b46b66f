"""The style of the application: Fusion, with the icons of docks' title bars kept; and of tab bars with little room."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleOption, QTabBar, QWidget

_KEPT = (QStyle.StandardPixmap.SP_TitleBarNormalButton, QStyle.StandardPixmap.SP_TitleBarCloseButton)


class Style(QProxyStyle):
    """A dock asks for both icons of its title bar whenever it is hidden or put in its place, and Qt searches the icon
    theme and its resources for them each time: 12 of the 16 ms in which eleven docks came back."""

    def __init__(self) -> None:
        super().__init__("Fusion")
        self.setObjectName("fusion")
        self._icons: dict[QStyle.StandardPixmap, QIcon] = {}
        self._palette_key = 0

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
    """Of one tab bar: half the room beside its titles. Not of all widgets: Qt asks for metrics too often for Python."""

    def __init__(self, tabs: QTabBar) -> None:
        super().__init__("Fusion")
        self.setParent(tabs)
        tabs.setStyle(self)

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        found = super().pixelMetric(metric, option, widget)
        return found // 2 if metric is QStyle.PixelMetric.PM_TabBarTabHSpace else found
