"""Ten markets of one exchange, whose requests wait in one queue: after any trouble each table equals the exchange's."""

from __future__ import annotations

import pytest

from core.market.feeds.base import FeedState, FeedStatus
from tests.simulation.market import EPOCH_MS, STEP_MS
from tests.simulation.run import HEALING, MINUTES, problems, simulate_together
from tests.simulation.toxics import Toxic

pytestmark = pytest.mark.simulation

_FAST, _IN_CI = 3, 40


@pytest.mark.parametrize(
    "seed", [*range(_FAST), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(_FAST, _IN_CI))]
)
def test_each_table_equals_the_exchange_after_any_trouble(seed: int) -> None:
    outcomes = simulate_together(seed, 10)
    found = [f"{outcome.name.symbol}: {problem}" for outcome in outcomes for problem in problems(outcome)]
    assert found == [], "\n".join(map(str, outcomes[0].toxics.all))


def test_hours_of_failure_are_back_filled_for_all() -> None:
    toxic = Toxic("outage", EPOCH_MS + 20 * STEP_MS, EPOCH_MS + (MINUTES + 120 - HEALING) * STEP_MS, 1.0, 503)
    for outcome in simulate_together(3, 10, [toxic], MINUTES + 120):
        assert problems(outcome) == []
        states = [event.state for event in outcome.events if isinstance(event, FeedStatus)]
        assert FeedState.RECONNECTING in states and states[-1] is FeedState.LIVE
