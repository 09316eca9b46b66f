"""A pytest plugin (`-p tests.support.budget`): tests start within a time limit; the others are listed and skipped."""

from __future__ import annotations

import time
from collections import Counter

import pytest

_BEGAN = pytest.StashKey[float]()
_LEFT = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--budget", type=float, default=60.0, help="seconds after which no test begins")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEFT] = Counter()


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[_BEGAN] = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """True: no other hook runs it."""
    stash = item.config.stash
    if time.monotonic() - stash[_BEGAN] < item.config.getoption("--budget"):
        return None
    stash[_LEFT][item.nodeid.partition("::")[0]] += 1
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for path, count in config.stash[_LEFT].items():
        terminalreporter.write_line(f"left to make test: {count} tests of {path}")
