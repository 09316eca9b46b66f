"""The threads behind the watchlist: they live while they are wanted, and leave nothing behind."""

from __future__ import annotations

import asyncio
import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from desktop.services.loop_thread import LoopThread


class Listener(QObject):
    """Remembers what came, and on which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[object] = []
        self.threads: set[threading.Thread] = set()

    def take(self, event: object) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())


def test_one_that_is_stopped_twice_tidies_up_to_the_end(qtbot: QtBot, qapp: object) -> None:
    told: list[str] = []
    is_stopped_again = threading.Event()

    async def work() -> None:
        try:
            told.append("begun")
            await asyncio.Event().wait()
        finally:
            told.append("tidying")
            while not is_stopped_again.is_set():  # noqa: ASYNC110 - another thread says it
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            told.append("tidy")

    owner = QObject()
    thread = LoopThread(work, "tidy", owner)
    thread.start()
    qtbot.waitUntil(lambda: told == ["begun"])
    thread.stop()
    qtbot.waitUntil(lambda: "tidying" in told)
    thread.stop()
    is_stopped_again.set()
    assert thread.stop_and_wait()
    assert told == ["begun", "tidying", "tidy"]


def test_an_error_of_a_thread_is_told_on_the_windows_thread(qtbot: QtBot, qapp: object) -> None:
    async def fail() -> None:
        raise ValueError("no such thing")

    owner, heard = QObject(), Listener()
    thread = LoopThread(fail, "failing", owner)
    thread.failed.connect(heard.take)
    with qtbot.waitSignal(thread.finished):
        thread.start()
    qtbot.waitUntil(lambda: heard.events == ["ValueError: no such thing"])
    assert heard.threads == {threading.current_thread()}


def test_a_thread_that_is_stopped_before_it_runs_ends_at_once(qapp: object) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    owner = QObject()
    thread = LoopThread(never, "never", owner)
    thread.stop()
    thread.start()
    assert thread.stop_and_wait() and not thread.call(print)
