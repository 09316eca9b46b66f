"""Accepts files that are dropped on the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FileDrop(QObject):
    """Accepts local files that are dropped anywhere on the window and that no other widget accepts."""

    def __init__(self, window: QWidget, on_files: Callable[[Sequence[Path]], object]) -> None:
        super().__init__(window)
        self._on_files = on_files
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent) and _files(event.mimeData()):
            event.acceptProposedAction()
            return True
        if isinstance(event, QDropEvent) and event.type() is QEvent.Type.Drop and (files := _files(event.mimeData())):
            event.acceptProposedAction()
            self._on_files(files)
            return True
        return False


def _files(data: QMimeData) -> tuple[Path, ...]:
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
