"""Markets that are learned together: what can be known by another market is learned, and nothing else is claimed.

`make soak` runs the real session over ten markets of 5,000 candles, and over 100 times ten random walks; CI the
baselines alone, or a few short ones.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.details import evaluate_run
from core.evaluation.pooled import evaluate_pooled
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from tests.core.known_answers.sessions import (
    DEFAULTS,
    SMALLEST,
    of_baselines,
    of_baselines_together,
    of_session_together,
)
from tests.core.known_answers.universes import independent_walks, leader_and_followers

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
CANDLES, JUDGED = 5000, 2000
BAR = 0.85
BAR_OF_BASELINES = 0.7
"""For fewer candles."""
REACHED_SOON = 0.45
"""A little less than on candles 300 to 500 of three seeds."""
NOTHING = 0.1
"""What chance may give without knowledge."""
WALKS, UNIVERSES, MOST_CLAIMS = 1000, 100, 5


def test_baselines_alone_soon_learn_to_follow_a_leader() -> None:
    universe = leader_and_followers(500, 0, followers=1)
    leader, follower = (lost.newest(200) for lost in of_baselines_together(universe))
    assert follower.reached > REACHED_SOON, follower.reached
    assert leader.skill.value is not None and leader.skill.value < 0.01


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_baselines_alone_learn_most_of_what_the_leader_tells() -> None:
    universe = leader_and_followers(2000, 0, followers=4)
    _, *followers = (lost.newest(700) for lost in of_baselines_together(universe))
    assert statistics.mean(lost.reached for lost in followers) > BAR_OF_BASELINES
    assert of_baselines(universe[1]).newest(700).reached < NOTHING, "a follower by its own past"


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: hours of candles")
def test_the_session_reaches_what_can_be_had_on_the_followers(tmp_path: Path) -> None:
    lost = of_session_together(leader_and_followers(CANDLES, 0), tmp_path, DEFAULTS, 0)
    reached = [each.newest(JUDGED).reached for each in lost[1:]]
    print(f"followers: {statistics.mean(reached):.1%}, {min(reached):.1%} to {max(reached):.1%}")
    assert statistics.mean(reached) >= BAR, [f"{each:.1%}" for each in reached]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_edge_is_claimed_on_a_few_short_universes_of_random_walks(tmp_path: Path) -> None:
    assert not claims_of(tmp_path, 800, 0)


@pytest.mark.slow
@pytest.mark.timeout(12 * 3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: hours of candles")
def test_false_edges_on_universes_of_random_walks_are_rare(tmp_path: Path) -> None:
    claims = [claims_of(tmp_path / str(seed), WALKS, seed) for seed in range(UNIVERSES)]
    assert sum(map(bool, claims)) <= MOST_CLAIMS, claims


def claims_of(root: Path, count: int, seed: int) -> list[str]:
    """On ten random walks: each edge that is ever claimed, of any market or of all together, as "market: which"."""
    of_session_together(independent_walks(count, seed), root, SMALLEST, seed)
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        runs = [RunStore(db).get(run_id) for (run_id,) in db.execute("SELECT run_id FROM runs ORDER BY sequence")]
        found = {str(place): evaluate_run(db, run, 1) for place, run in enumerate(runs)}
        found["all"] = evaluate_pooled(db, runs, 1)
    finally:
        db.close()
    print(f"universe {seed}: {[(name, each['anytime']) for name, each in found.items()]}")
    return [f"{name}: {which}" for name, each in found.items() for which in _proven(each["anytime"])]


def _proven(anytime: dict[str, Any]) -> list[str]:
    """As the panel claims: the close's interval that is valid at every moment was above zero at one."""
    close = {key: anytime[key] for key in anytime if key.startswith("close")}
    assert all(each["ci95"] for each in close.values()), "so few that nothing can be claimed show nothing"
    return [key for key, each in close.items() if each["proven_after"] is not None]
