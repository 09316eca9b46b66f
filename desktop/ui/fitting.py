"""No dialog is larger than the screen that it opens on: what has no room there is scrolled."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QScrollArea, QStyle, QVBoxLayout, QWidget

from desktop.ui.translation import translate

_SHARE_OF_SCREEN = 0.92
"""The rest is for the desktop's frame around a window."""


def room_on_screen(widget: QWidget) -> QSize:
    """How large a dialog over this widget, or this dialog itself, may be."""
    return widget.screen().availableGeometry().size() * _SHARE_OF_SCREEN


def keep_on_screen(dialog: QDialog) -> None:
    """Call it before the dialog is shown."""
    room = room_on_screen(dialog)
    dialog.ensurePolished()
    if _is_ours(dialog) and not _fits(dialog.minimumSizeHint(), room):
        bar = dialog.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        wanted = dialog.sizeHint() + QSize(bar, bar)
        _scroll(dialog, room)
        dialog.resize(wanted.expandedTo(dialog.size()).boundedTo(room))
    if dialog.minimumWidth() > room.width():
        dialog.setMinimumWidth(room.width())
    if dialog.minimumHeight() > room.height():
        dialog.setMinimumHeight(room.height())
    if not _fits(dialog.size(), room):
        dialog.resize(dialog.size().boundedTo(room))


def _fits(size: QSize, room: QSize) -> bool:
    return size.boundedTo(room) == size


def _is_ours(dialog: QDialog) -> bool:
    """Qt repeats its own layout at any time."""
    return type(dialog) is QDialog or not type(dialog).__module__.startswith("PySide6")


def _scroll(dialog: QDialog, room: QSize) -> None:
    """Put all into an area that scrolls, but the buttons where they have room."""
    whole = dialog.layout()
    if whole is None:
        return
    inside, area, margins = QWidget(), QScrollArea(), whole.contentsMargins()
    widest = room.width() - margins.left() - margins.right()
    boxes = [box for box in dialog.findChildren(QDialogButtonBox) if whole.indexOf(box) >= 0]
    buttons = [box for box in boxes if box.minimumSizeHint().width() <= widest]
    for box in buttons:
        whole.removeWidget(box)
    whole.setContentsMargins(0, 0, 0, 0)
    inside.setLayout(whole)  # which takes it, and all that it holds, from the dialog
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setAccessibleName(translate("Dialogs", "All fields"))
    outer = QVBoxLayout(dialog)
    outer.setContentsMargins(margins)
    outer.addWidget(area, 1)
    for box in buttons:
        outer.addWidget(box)
