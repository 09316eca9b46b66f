"""The markets' threads: they run while needed, and clean up."""

from __future__ import annotations

import asyncio
import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from desktop.services.loop_thread import LoopThread


class Listener(QObject):
    """Records events and their threads."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[object] = []
        self.threads: set[threading.Thread] = set()

    def take(self, event: object) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())


def test_stopping_twice_still_finishes_the_clean_up(qtbot: QtBot, qapp: object) -> None:
    log: list[str] = []
    is_stopped_again = threading.Event()

    async def work() -> None:
        try:
            log.append("begun")
            await asyncio.Event().wait()
        finally:
            log.append("tidying")
            while not is_stopped_again.is_set():  # noqa: ASYNC110 - another thread says it
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            log.append("tidy")

    owner = QObject()
    thread = LoopThread(work, "tidy", owner)
    thread.start()
    qtbot.waitUntil(lambda: log == ["begun"])
    thread.stop()
    qtbot.waitUntil(lambda: "tidying" in log)
    thread.stop()
    is_stopped_again.set()
    assert thread.stop_and_wait()
    assert log == ["begun", "tidying", "tidy"]


def test_a_threads_error_is_reported_on_the_windows_thread(qtbot: QtBot, qapp: object) -> None:
    async def fail() -> None:
        raise ValueError("no such thing")

    owner, received = QObject(), Listener()
    thread = LoopThread(fail, "failing", owner)
    thread.failed.connect(received.take)
    with qtbot.waitSignal(thread.finished):
        thread.start()
    qtbot.waitUntil(lambda: received.events == ["ValueError: no such thing"])
    assert received.threads == {threading.current_thread()}


def test_a_thread_stopped_before_its_start_ends_at_once(qapp: object) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    owner = QObject()
    thread = LoopThread(never, "never", owner)
    thread.stop()
    thread.start()
    assert thread.stop_and_wait() and not thread.call(print)
