"""On random walks there is no skill, and (nearly) none may be claimed.

`make soak` runs the real session with the smallest model over 100 walks; CI the baselines alone over a few short ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.domain.events import Estimate
from core.evaluation.findings import Request
from core.evaluation.running import RunningAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.storage.database import open_database
from core.storage.folder import DataFolder
from tests.core.known_answers.markets import random_walk
from tests.core.known_answers.sessions import SMALLEST, of_baselines, of_session
from tests.core.training.rigs import newest_run

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
CANDLES, WALKS, MOST_CLAIMS = 2000, 100, 10


def is_claimed(close: Estimate) -> bool:
    """As `evaluate` and the dock claim an edge: all of the interval above 0, on enough candles."""
    return close.low is not None and close.low > 0.0 and close.n >= FEWEST_FOR_AN_EDGE


def test_a_few_short_walks_without_the_model_show_no_edge() -> None:
    found = [of_baselines(random_walk(420, seed)).newest(FEWEST_FOR_AN_EDGE).skill for seed in range(3)]
    assert all(each.n == FEWEST_FOR_AN_EDGE for each in found)
    assert sum(map(is_claimed, found)) <= 1, [(each.low, each.high) for each in found]


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: hours of candles")
def test_false_edges_on_random_walks_are_rare(tmp_path: Path) -> None:
    claims = []
    for seed in range(WALKS):
        root = tmp_path / str(seed)
        of_session(random_walk(CANDLES, seed), root, SMALLEST, seed)
        close = _judged(root)
        assert close.low is not None and close.n >= FEWEST_FOR_AN_EDGE, (
            "so few that nothing can be claimed show nothing"
        )
        claims.append(is_claimed(close))
        print(f"walk {seed}: {close}")
    assert sum(claims) <= MOST_CLAIMS, [seed for seed, claimed in enumerate(claims) if claimed]


def _judged(root: Path) -> Estimate:
    """The skill of the close as `evaluate` judges it: after the first 1,000 candles."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        book = RunningAccuracy(db, newest_run(db), 1)
        for _ in book.read_more(1):
            pass
        return book.find(Request()).chosen.close.skill
    finally:
        db.close()
