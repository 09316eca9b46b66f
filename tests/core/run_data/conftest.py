from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.training import rigs
from tests.support.candles import random_walk
from tests.support.driven import store_candles
from tests.support.trainer_fixtures import one_thread as one_thread

CANDLES = random_walk(90, seed=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run that has learned some candles; for tests that only read it."""
    root = tmp_path_factory.mktemp("run")
    store_candles(root, CANDLES)
    session = rigs.service(root)
    rigs.feed(session, CANDLES)
    session.close()
    return root
