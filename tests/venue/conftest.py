"""Tests that are coroutines mostly wait: a module's run a few at a time, each on a thread with a loop of its own.

Such a test may take `tmp_path` and parameters, and no other fixture.
"""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeGuard

import pytest

AT_ONCE = 4
"""More would share one interpreter to the point where the times that they keep to are not theirs any more."""


class SideBySide:
    """Starts a module's coroutine tests when the first of them is run; their results are asked for one by one."""

    def __init__(self, session: pytest.Session, folders: pytest.TempPathFactory) -> None:
        self._session, self._folders = session, folders
        self._started: dict[str, Future[None]] = {}

    def run(self, item: pytest.Function) -> None:
        """Wait for this one. Raises what it raised."""
        if item.nodeid not in self._started:
            self._start([each for each in self._session.items if _is_coroutine(each) and each.module is item.module])
        self._started[item.nodeid].result()

    def _start(self, items: list[pytest.Function]) -> None:
        pool = ThreadPoolExecutor(AT_ONCE)
        for item in items:
            self._started[item.nodeid] = pool.submit(_run, item, self._folders.mktemp("venue"))
        pool.shutdown(wait=False)  # its threads end with the last of them


@pytest.fixture(scope="session")
def side_by_side(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SideBySide:
    return SideBySide(request.session, tmp_path_factory)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not _is_coroutine(pyfuncitem):
        return None
    beside: SideBySide = pyfuncitem._request.getfixturevalue("side_by_side")
    beside.run(pyfuncitem)
    return True


def _is_coroutine(item: pytest.Item) -> TypeGuard[pytest.Function]:
    return isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj)


def _run(item: pytest.Function, folder: Path) -> None:
    arguments = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    if "tmp_path" in inspect.signature(item.obj).parameters:
        arguments["tmp_path"] = folder
    asyncio.run(item.obj(**arguments))
