"""The workers of pytest-xdist divide the test modules among them for pytest's rewriting of assertions.

Each collects all tests, so in a new checkout each would rewrite every module, which takes 12 s. Each imports its share
first, and finds the others' as compiled files.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def pytest_collection(session: pytest.Session) -> None:
    given: dict[str, object] = getattr(session.config, "workerinput", {})
    if given and session.config.args == session.config.getini("testpaths"):
        share, workers = int(str(given["workerid"]).removeprefix("gw")), int(str(given["workercount"]))
        for path in sorted(_ROOT.glob("tests/**/test_*.py"))[share::workers]:
            with suppress(Exception, pytest.skip.Exception):  # the collection reports it
                importlib.import_module(".".join(path.relative_to(_ROOT).with_suffix("").parts))
