"""Filters useless lines out of Qt's output on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QMessageLogContext, QtMsgType, qFormatLogMessage, qInstallMessageHandler

_UNUSABLE = "This plugin does not support "
"""A platform without a screen prints it at each change of a window's least size, and when a window is raised. It has no
category that a logging rule could turn off."""


@contextmanager
def useful_qt_messages() -> Iterator[None]:
    """A context in which a platform without a screen does not list its missing features. All other messages still
    appear."""

    def show(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if message.startswith(_UNUSABLE):
            return
        if callable(before):
            before(kind, context, message)
        else:
            print(qFormatLogMessage(kind, context, message), file=sys.stderr)

    before = qInstallMessageHandler(show)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
