"""A thread with its own asyncio loop: ccxt parses megabytes at a time, which would block the window."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import QObject, QThread

Work = Callable[[], Coroutine[Any, Any, None]]
_log = logging.getLogger("ghostcandle")
_STOP_WITHIN_MS = 15_000


class LoopThread(QThread):
    """Runs coroutines side by side, from the first one until `close`."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._lock = threading.Lock()
        """Nothing is scheduled any more once it is closed."""
        self._is_closed = False

    def submit(self, work: Work) -> Future[None] | None:
        """Run a coroutine, and log its exception. Cancel it by the returned future; None after `close`, when it is not
        run."""
        with self._lock:
            if self._is_closed:
                return None
            if self._loop is None:
                self._loop = asyncio.SelectorEventLoop()  # Windows' other loop takes the main thread's signals
                self.start()
            return asyncio.run_coroutine_threadsafe(self._run_one(work), self._loop)

    def call(self, function: Callable[..., object], *arguments: object) -> bool:
        """Call `function` soon on the thread's loop. False if there is no loop, not yet or no longer."""
        with self._lock:
            if self._loop is None or self._is_closed:
                return False
            self._loop.call_soon_threadsafe(function, *arguments)
            return True

    def close(self) -> bool:
        """Cancel all tasks, and wait for their end. False if they did not end in time. Callable from any thread."""
        with self._lock:
            if self._loop is not None and not self._is_closed:
                asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            self._is_closed = True
        return self._loop is None or self.wait(_STOP_WITHIN_MS)

    def run(self) -> None:
        loop = self._loop
        assert loop is not None
        try:
            loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()

    async def _run_one(self, work: Work) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await work()
        except Exception:
            _log.exception("%s: a request ended with an error", self.objectName())
        finally:
            self._tasks.discard(task)

    async def _end(self) -> None:
        await _cancelled(tuple(self._tasks))
        await _cancelled([task for task in asyncio.all_tasks() if task is not asyncio.current_task()])  # of libraries
        asyncio.get_running_loop().stop()


async def _cancelled(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        if not task.cancelling():  # a second time would end its tidying up
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
