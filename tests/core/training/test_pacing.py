from __future__ import annotations

import pytest

from core.clock import ManualClock
from core.training.pacing import Pacer


@pytest.mark.parametrize(("percent", "pause_ms"), [(100, 0), (50, 40), (20, 160), (5, 760)])
def test_the_step_takes_its_share_of_the_time(percent: int, pause_ms: int) -> None:
    clock = ManualClock()
    Pacer(percent, clock).after_step(40.0)
    assert clock.now_ms() == pause_ms


def test_a_pause_never_makes_the_trainer_look_dead() -> None:
    clock = ManualClock()
    Pacer(5, clock).after_step(60_000.0)
    assert clock.now_ms() == 2_000
