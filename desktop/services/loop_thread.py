"""A thread with its own asyncio loop: ccxt parses megabytes at a time, which would block the window."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

_log = logging.getLogger("ghostcandle")
_STOP_WITHIN_MS = 15_000


class LoopThread(QThread):
    """Runs one coroutine to its end, or until `stop`. Start it once; make another for another time."""

    failed = Signal(str)
    """What the coroutine raised, in words."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]], name: str, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._work = work
        self._lock = threading.Lock()
        self._is_stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def call(self, function: Callable[..., object], *arguments: object) -> bool:
        """Call it soon on the thread's loop. False where there is none, not yet or no more."""
        with self._lock:
            if self._loop is None:
                return False
            self._loop.call_soon_threadsafe(function, *arguments)
            return True

    def stop(self) -> None:
        """Cancel the coroutine, once: a second time would end its tidying up. Returns at once."""
        with self._lock:
            if self._is_stopped:
                return
            self._is_stopped = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    def stop_and_wait(self) -> bool:
        """Cancel it and wait. False where it did not end in time."""
        self.stop()
        return self.wait(_STOP_WITHIN_MS)

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            asyncio.run(self._main())
        except asyncio.CancelledError:
            return
        except Exception as error:
            _log.exception("%s ended with an error", self.objectName())
            self.failed.emit(f"{type(error).__name__}: {error}")

    async def _main(self) -> None:
        work = asyncio.ensure_future(self._work())
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), work
            if self._is_stopped:
                work.cancel()
        try:
            await work
        finally:
            with self._lock:
                self._loop = self._task = None
