"""The interactive widgets, and what a screen reader announces for each."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QTableView,
    QTabWidget,
    QTextBrowser,
    QToolBar,
    QTreeView,
    QWidget,
)

from desktop.chart.widget import ChartWidget

_ROLES = QAccessible.Role
ROLES: tuple[tuple[type[QWidget], frozenset[QAccessible.Role]], ...] = (
    (ChartWidget, frozenset({_ROLES.Chart})),
    (QGraphicsView, frozenset({_ROLES.Chart})),
    (
        QAbstractButton,
        frozenset({_ROLES.Button, _ROLES.CheckBox, _ROLES.RadioButton, _ROLES.ButtonMenu, _ROLES.ButtonDropDown}),
    ),
    (QLineEdit, frozenset({_ROLES.EditableText})),
    (QPlainTextEdit, frozenset({_ROLES.EditableText})),
    (QTextBrowser, frozenset({_ROLES.StaticText})),  # a page that is read
    (QComboBox, frozenset({_ROLES.ComboBox})),
    (QAbstractSpinBox, frozenset({_ROLES.SpinBox})),
    (QAbstractSlider, frozenset({_ROLES.Slider})),
    (QTableView, frozenset({_ROLES.Table})),
    (QTreeView, frozenset({_ROLES.Tree})),
    (QListView, frozenset({_ROLES.List})),
    (QTabBar, frozenset({_ROLES.PageTabList})),
    (QToolBar, frozenset({_ROLES.ToolBar})),
    (QLabel, frozenset({_ROLES.StaticText})),
    # Qt has no closer role for these, and reads their contents.
    (QScrollArea, frozenset({_ROLES.Client})),
    (QTabWidget, frozenset({_ROLES.Client})),
)
"""The first match applies."""

_PARTS_OF_QT = ("qt_spinbox_lineedit", "qt_toolbar_ext_button", "ScrollLeftButton", "ScrollRightButton")
"""Announced by the widget that they belong to."""


def controls(root: QWidget) -> Iterator[QWidget]:
    """Visible interactive widgets, and those in the Tab chain."""
    for widget in root.findChildren(QWidget):
        kinds = (QAbstractButton, QAbstractItemView, QTabBar, QToolBar, QComboBox, QAbstractSlider, QGraphicsView)
        can_have_keys = widget.focusPolicy() is not Qt.FocusPolicy.NoFocus
        if (isinstance(widget, QLabel) and not widget.text()) or (isinstance(widget, QTabBar) and not widget.count()):
            continue
        if not widget.isVisible() or not (can_have_keys or isinstance(widget, kinds)) or _is_part(widget):
            continue
        yield widget


def _is_part(widget: QWidget) -> bool:
    above = widget.parentWidget()
    is_viewport = isinstance(above, QAbstractScrollArea) and widget is above.viewport()
    is_inside = isinstance(above, QComboBox) or isinstance(widget, QScrollBar | QHeaderView)
    return is_viewport or is_inside or widget.objectName() in _PARTS_OF_QT


def complaints(widget: QWidget) -> list[str]:
    """What a screen reader would miss."""
    accessible = QAccessible.queryAccessibleInterface(widget)
    wrong = []
    if not _name(widget):
        wrong.append("has no name")
    allowed = next((roles for kind, roles in ROLES if isinstance(widget, kind)), None)
    if allowed is None or accessible.role() not in allowed:
        wrong.append(f"has the role {accessible.role().name}")
    return [f"{described(widget)} {each}" for each in wrong]


def _name(widget: QWidget) -> str:
    """On Linux a combo box gives its choice as its name: there its label or description counts as the name."""
    accessible = QAccessible.queryAccessibleInterface(widget)
    if isinstance(widget, QComboBox):
        labels = accessible.relations(QAccessible.RelationFlag.Label)
        has_label = any(other is not None for other, _flag in labels)
        return widget.accessibleName() or "labelled" if has_label or widget.accessibleDescription() else ""
    return accessible.text(QAccessible.Text.Name)


def described(widget: QWidget) -> str:
    """Enough to find it in the code."""
    above, names = widget, list[str]()
    while above is not None and len(names) < 4:
        names.append(type(above).__name__ + (f"[{above.objectName()}]" if above.objectName() else ""))
        above = above.parentWidget()
    text = getattr(widget, "text", None)
    words = f" {text()!r}" if callable(text) else ""
    return " in ".join(names) + words
