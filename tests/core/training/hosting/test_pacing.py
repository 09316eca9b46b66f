from __future__ import annotations

import pytest

from core.domain.clock import ManualClock
from core.training.hosting.pacing import Pacer


@pytest.mark.parametrize("step_ms", [1, 40, 500, 60_000])
@pytest.mark.parametrize("percent", [100, 50, 20, 5])
def test_steps_of_any_length_take_their_share_of_the_time(percent: int, step_ms: int) -> None:
    clock = ManualClock()
    pacer = Pacer(clock)
    for _ in range(10):
        clock.advance_ms(step_ms)
        pacer.after_step(step_ms)
        clock.sleep_s(pacer.left_s(percent))
        assert pacer.left_s(percent) == pytest.approx(0.0, abs=1e-6)
    assert 10 * step_ms / clock.now_ms() == pytest.approx(percent / 100.0, rel=1e-3)


def test_a_changed_share_takes_effect_at_once() -> None:
    pacer = Pacer(ManualClock())
    pacer.after_step(500.0)
    assert pacer.left_s(5) == pytest.approx(9.5)
    assert pacer.left_s(50) == pytest.approx(0.5) and pacer.left_s(100) == 0.0


def test_idle_time_counts_as_rest() -> None:
    clock = ManualClock()
    pacer = Pacer(clock)
    pacer.after_step(500.0)
    clock.advance_ms(60_000)
    assert pacer.left_s(5) == 0.0
