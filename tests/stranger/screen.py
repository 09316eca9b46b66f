"""Texts on the screen and where to click them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTabBar,
    QTableView,
    QWidget,
)


@dataclass(frozen=True, slots=True)
class Spot:
    """A labelled element: its centre in the coordinates of `widget`, and whether it is enabled.

    places: titles of the docks and windows around it, innermost first."""

    text: str
    widget: QWidget
    middle: QPoint
    is_enabled: bool = True
    places: tuple[str, ...] = ()


def reachable_windows() -> list[QWidget]:
    """Windows that receive the mouse now: an open menu or list alone; else the modal dialog; else all windows."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        chain = [popup]
        while (parent := chain[-1].parentWidget()) is not None and isinstance(parent.window(), QMenu):
            chain.append(parent.window())
        menus = [each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible()]
        return list(dict.fromkeys([*chain, *menus]))
    modal = QApplication.activeModalWidget()
    if modal is not None:
        return [modal]
    return [each for each in QApplication.topLevelWidgets() if each.isVisible() and is_a_window(each)]


def windows() -> list[QWidget]:
    """All visible windows, bottom first."""
    shown = [each for each in QApplication.topLevelWidgets() if each.isVisible()]
    return sorted(shown, key=lambda each: (isinstance(each, QMenu) or not is_a_window(each), isinstance(each, QDialog)))


def spots() -> list[Spot]:
    """All elements that the mouse can reach now."""
    return [spot for window in reachable_windows() for widget in _widgets(window) for spot in _of_widget(widget)]


def find(text: str, within: str | None = None) -> list[Spot]:
    """The spots with this text, labels last; within: only those in a dock or window of this title."""
    wanted = plain(text)
    fitting = [spot for spot in spots() if spot.text == wanted and (within is None or within in spot.places)]
    return sorted(filter(_is_on_top, fitting), key=lambda spot: isinstance(spot.widget, QLabel))


def words_on_screen() -> str:
    """All visible text, a line per element."""
    lines: list[str] = []
    for window in windows():
        lines.append(window.windowTitle())
        for widget in _widgets(window):
            lines.extend(_readable(widget))
    return "\n".join(line for line in lines if line)


def plain(text: str) -> str:
    """Without mnemonics and without the ellipsis of a dialog."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…").strip()


def is_a_window(widget: QWidget) -> bool:
    """Not a menu, list or tooltip over one."""
    return widget.windowType() in (Qt.WindowType.Window, Qt.WindowType.Dialog, Qt.WindowType.Tool)


def _widgets(window: QWidget) -> Iterator[QWidget]:
    yield window
    for child in window.findChildren(QWidget):
        if child.isVisible() and child.window() is window and not _seen(child).isEmpty():
            yield child


def _seen(widget: QWidget) -> QRect:
    """The part that is neither covered nor scrolled away. A view hides itself behind its viewport."""
    seen = widget.visibleRegion().boundingRect()
    if isinstance(widget, QAbstractScrollArea):
        viewport = widget.viewport()
        seen = seen.united(viewport.visibleRegion().boundingRect().translated(viewport.pos()))
    return seen


def _is_on_top(spot: Spot) -> bool:
    """Whether nothing covers it there."""
    window = spot.widget.window()
    there = window.childAt(spot.widget.mapTo(window, spot.middle)) or window
    return there is spot.widget or spot.widget.isAncestorOf(there) or there.isAncestorOf(spot.widget)


def _places(widget: QWidget) -> tuple[str, ...]:
    found: list[str] = []
    above: QWidget | None = widget
    while above is not None:
        if isinstance(above, QDockWidget) or above.isWindow():
            found.append(plain(above.windowTitle()))
        above = above.parentWidget()
    return tuple(found)


def _of_widget(widget: QWidget) -> Iterator[Spot]:
    places = _places(widget)
    for text, rect, is_enabled in _parts(widget):
        seen = rect.intersected(_seen(widget))
        if text and not seen.isEmpty():
            yield Spot(plain(text), widget, seen.center(), is_enabled and widget.isEnabled(), places)


def _parts(widget: QWidget) -> Iterator[tuple[str, QRect, bool]]:
    match widget:
        case QMenuBar() | QMenu():
            yield from ((_name(action), widget.actionGeometry(action), action.isEnabled()) for action in _shown(widget))
        case QTabBar():
            for number in range(widget.count()):
                yield widget.tabText(number), widget.tabRect(number), widget.isTabEnabled(number)
        case QHeaderView():
            yield from _sections(widget)
        case QAbstractItemView():
            yield from _cells(widget)
        case QAbstractButton():
            yield widget.text() or widget.accessibleName() or widget.toolTip(), widget.rect(), True
        case QLineEdit() | QComboBox() | QPlainTextEdit():
            yield _title_of(widget), widget.rect(), True
        case QLabel():
            yield widget.text(), widget.rect(), True
        case _:
            yield widget.accessibleName(), widget.rect(), True


def _name(action: QAction) -> str:
    return action.text().partition("\t")[0]


def _shown(bar: QMenuBar | QMenu) -> list[QAction]:
    return [action for action in bar.actions() if action.isVisible() and not action.isSeparator()]


def _sections(header: QHeaderView) -> Iterator[tuple[str, QRect, bool]]:
    model = header.model()
    for number in range(header.count()):
        if header.orientation() is Qt.Orientation.Horizontal and not header.isSectionHidden(number):
            left, width = header.sectionViewportPosition(number), header.sectionSize(number)
            text = str(model.headerData(number, Qt.Orientation.Horizontal) or "")
            yield text, QRect(left, 0, width, header.height()), True


def _cells(view: QAbstractItemView) -> Iterator[tuple[str, QRect, bool]]:
    """The visible cells of a table or list."""
    model, corner = view.model(), view.viewport().pos()
    if model is None:
        return
    for row in _rows(view):
        for column in _columns(view):
            index = model.index(row, column, view.rootIndex())
            rect = view.visualRect(index).intersected(view.viewport().rect())
            if not rect.isEmpty():
                is_enabled = bool(model.flags(index) & Qt.ItemFlag.ItemIsEnabled)
                yield _cell_text(index), rect.translated(corner), is_enabled


def _rows(view: QAbstractItemView) -> range:
    count = view.model().rowCount(view.rootIndex())
    if isinstance(view, QTableView) and count:
        first, last = view.rowAt(0), view.rowAt(view.viewport().height() - 1)
        return range(max(0, first), (count if last < 0 else last + 1))
    return range(min(count, 500))


def _columns(view: QAbstractItemView) -> range:
    if isinstance(view, QListView):
        return range(view.modelColumn(), view.modelColumn() + 1)
    return range(view.model().columnCount(view.rootIndex()))


def _cell_text(index: QModelIndex) -> str:
    shown = index.data(Qt.ItemDataRole.DisplayRole) or index.data(Qt.ItemDataRole.AccessibleTextRole) or ""
    return str(shown)


def _title_of(widget: QLineEdit | QComboBox | QPlainTextEdit) -> str:
    """The text of its label; else its accessible name or placeholder."""
    for label in widget.window().findChildren(QLabel):
        if label.buddy() is widget and label.isVisible():
            return label.text().rstrip(":")
    return widget.accessibleName() or ("" if isinstance(widget, QComboBox) else widget.placeholderText())


def _readable(widget: QWidget) -> Iterator[str]:
    match widget:
        case QLineEdit():
            yield widget.text()
        case QPlainTextEdit():
            yield widget.toPlainText()
        case QComboBox():
            yield widget.currentText()
        case _:
            yield from (plain(text) for text, _rect, _is_enabled in _parts(widget))
