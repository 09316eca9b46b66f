"""Descriptions of painted widgets, which Qt lacks; and a ring around the widget with keyboard focus, once the keyboard
is used: many of Qt's own marks are too faint."""

from __future__ import annotations

import weakref

import shiboken6
from PySide6.QtCore import QEvent, QObject, QRect, Qt, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QRegion,
)
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget, QApplication, QComboBox, QGraphicsView, QWidget

from core.domain.plain_text import plain
from desktop.ui.plain_text import LONGEST_TEXT
from desktop.ui.theme import Theme

_RING_PX = 2
_MOVES = frozenset(
    {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest}
)


class _Picture(QAccessibleWidget):
    """A chart, described by the sentences of its `in_words()`, which is called only while a screen reader listens."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget, QAccessible.Role.Chart)
        self._shown = weakref.ref(widget)  # Qt holds a widget's description for longer than the widget lives

    def text(self, kind: QAccessible.Text) -> str:
        shown = self._shown()
        in_words = getattr(shown, "in_words", None)
        return str(in_words()) if in_words and kind is QAccessible.Text.Description else super().text(kind)


def describe_painted() -> None:
    """Describe painted widgets to screen readers, from now to the end of the process. Call it once."""

    def picture_of(_class_name: str, thing: QObject) -> QAccessibleInterface | None:
        is_painted = isinstance(thing, QWidget) and (isinstance(thing, QGraphicsView) or hasattr(thing, "in_words"))
        return _Picture(thing) if is_painted else None  # type: ignore[arg-type]

    QAccessible.installFactory(picture_of)


def announce(widget: QWidget, text: str) -> None:
    """Have a text read out at once, if a screen reader listens."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, plain(text, LONGEST_TEXT)))


def name_box(box: QComboBox, name: str) -> None:
    """Name a combo box without a label. On Linux Qt exposes the choice in place of the name, so
    that the name is set as the description too."""
    box.setAccessibleName(name)
    box.setAccessibleDescription(name)


class FocusRing(QObject):
    """Follows the focus of the whole application. None is drawn after a mouse click, whose place is obvious."""

    def __init__(self, application: QApplication, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: _Ring | None = None
        application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._shown is not None and shiboken6.isValid(self._shown):  # it goes with its window
            self._shown.end()
        self._shown = None
        if now is None:
            return
        by_keys = Qt.WidgetAttribute.WA_KeyboardFocusChange
        # Qt sets it when Tab or an arrow has moved the focus, and never clears it.
        if QGuiApplication.mouseButtons() is not Qt.MouseButton.NoButton:
            now.window().setAttribute(by_keys, False)
        if now.window().testAttribute(by_keys):
            self._shown = _Ring(now, self._theme)


class _Ring(QWidget):
    """Lies over one widget's edge, in its window, so that nothing in between cuts it."""

    def __init__(self, around: QWidget, theme: Theme) -> None:
        super().__init__(around.window())
        self._around, self._theme = around, theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # When one of the widgets that it lies in moves, so does the ring.
        self._watched, each = [around], around
        while not each.isWindow() and (above := each.parentWidget()) is not None:
            self._watched.append(above)
            each = above
        for each in self._watched:
            each.installEventFilter(self)
        self._place()

    def end(self) -> None:
        for each in self._watched:
            if shiboken6.isValid(each):
                each.removeEventFilter(self)
        self._watched = []
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES and shiboken6.isValid(self._around):
            self._place()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.focus)
        painter.end()

    def _place(self) -> None:
        seen = self._around.visibleRegion()
        if isinstance(self._around, QAbstractScrollArea):  # a viewport without a frame leaves nothing of its area
            viewport = self._around.viewport()
            seen = seen.united(viewport.visibleRegion().translated(viewport.pos()))
        bounds = seen.boundingRect()
        place = bounds.translated(self._around.mapTo(self.window(), bounds.topLeft()) - bounds.topLeft())
        if bounds.isEmpty():
            self.hide()
            return
        self.setGeometry(place)
        area = QRect(0, 0, place.width(), place.height())
        inside = area.adjusted(_RING_PX, _RING_PX, -_RING_PX, -_RING_PX)
        self.setMask(QRegion(area).subtracted(QRegion(inside)))
        self.raise_()
        self.show()
