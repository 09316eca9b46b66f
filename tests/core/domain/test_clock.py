"""A computer's sleep shows in the difference of its clocks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.domain.clock import ManualClock, SleepWatch, SystemClock


class TwoClocks(ManualClock):
    """Its wall clock is moved by itself."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


def test_a_wall_clock_jump_is_reported_once() -> None:
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


def test_both_system_clocks_use_the_same_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    passed_s = 0
    machine = SimpleNamespace(
        time_ns=lambda: (1_700_000_000 + passed_s) * 1_000_000_000,
        monotonic=lambda: 50.0 + passed_s,
    )
    monkeypatch.setattr("core.domain.clock.time", machine)
    watch = SleepWatch(SystemClock())
    passed_s = 3_600
    assert watch.jump_s() == pytest.approx(0.0)
