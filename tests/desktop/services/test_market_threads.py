"""The thread that asks exchanges: its requests end with it, and clean up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from desktop.services.loop_thread import LoopThread


@pytest.fixture
def thread(qapp: object) -> Iterator[LoopThread]:
    thread = LoopThread("asking")
    yield thread
    assert thread.close()


def test_a_cancelled_request_finishes_its_clean_up_though_the_thread_ends(qtbot: QtBot, thread: LoopThread) -> None:
    log: list[str] = []
    is_ending = threading.Event()

    async def work() -> None:
        try:
            log.append("begun")
            await asyncio.Event().wait()
        finally:
            log.append("tidying")
            while not is_ending.is_set():  # noqa: ASYNC110 - another thread says it
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            log.append("tidy")

    request = thread.submit(work)
    qtbot.waitUntil(lambda: log == ["begun"])
    assert request is not None and request.cancel()
    qtbot.waitUntil(lambda: "tidying" in log)
    thread.call(is_ending.set)
    assert thread.close()
    assert log == ["begun", "tidying", "tidy"]


def test_an_error_of_one_request_is_logged_and_ends_no_other(
    qtbot: QtBot, thread: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[threading.Thread] = []

    async def fail() -> None:
        raise ValueError("no such thing")

    async def succeed() -> None:
        done.append(threading.current_thread())

    thread.submit(fail)
    thread.submit(succeed)
    qtbot.waitUntil(lambda: bool(done))
    assert "no such thing" in caplog.text and done[0] is not threading.current_thread()


def test_a_thread_without_requests_is_none_and_after_its_end_nothing_is_asked(thread: LoopThread) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    assert not thread.isRunning() and not thread.call(print)
    thread.submit(never)
    assert thread.isRunning() and thread.call(print)
    assert thread.close() and thread.isFinished()
    assert thread.submit(never) is None and not thread.call(print)
