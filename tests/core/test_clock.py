"""A computer's sleep shows in the difference of its clocks."""

from __future__ import annotations

import pytest

from core.clock import ManualClock, SleepWatch, SystemClock


class TwoClocks(ManualClock):
    """Its wall clock is moved by itself."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


def test_a_jump_of_the_wall_clock_alone_is_told_once() -> None:
    clock = TwoClocks(1_000)
    watch = SleepWatch(clock)
    clock.advance_ms(5_000)
    assert watch.jump_s() == pytest.approx(0.0)
    clock.ahead_ms = 3_600_000
    clock.advance_ms(1_000)
    assert watch.jump_s() == pytest.approx(3600.0)
    assert watch.jump_s() == pytest.approx(0.0)
    clock.ahead_ms = 0
    assert watch.jump_s() == pytest.approx(-3600.0)


def test_the_machines_clocks_go_together() -> None:
    assert abs(SleepWatch(SystemClock()).jump_s()) < 1.0
