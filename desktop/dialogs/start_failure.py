"""Shows why no window opens after a double click, when stderr is not visible."""

from __future__ import annotations

import asyncio
import os
import sys

UNSEEN = frozenset({"offscreen", "minimal"})
"""Qt platforms without a visible window."""


def has_display() -> bool:
    names = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    return not sys.platform.startswith("linux") or any(map(os.environ.get, names))


def is_needed() -> bool:
    """No terminal shows what is written, but there is a screen."""
    is_unseen = os.environ.get("QT_QPA_PLATFORM") in UNSEEN
    return has_display() and not is_unseen and not (sys.stderr is not None and sys.stderr.isatty())


def show(sentence: str) -> None:
    """Show a message box, and return once it was closed."""
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - a command without a window needs no Qt
    from qasync import QEventLoop  # noqa: PLC0415

    from desktop.ui.plain_text import MessageBox  # noqa: PLC0415

    qt = QApplication.instance() or QApplication(["ghostcandle"])
    box = MessageBox()
    box.setIcon(MessageBox.Icon.Warning)
    box.setWindowTitle("Ghostcandle")
    box.setText(sentence)
    box.setStandardButtons(MessageBox.StandardButton.Close)

    async def until_closed() -> None:
        closed = asyncio.Event()
        box.finished.connect(lambda _result: closed.set())
        box.open()
        await closed.wait()

    with QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(until_closed())
    asyncio.set_event_loop(None)
    box.deleteLater()
