from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest
import torch

from core.domain.clock import ManualClock
from core.training.hosting.gpu_probe import DeviceWatch, ProcessProbe


@dataclass
class ScriptedProbe:
    """The device is the test's."""

    answers: list[bool | None]
    log: list[str] = field(default_factory=list)

    def start(self) -> None:
        self.log.append("start")

    def answer(self) -> bool | None:
        return self.answers.pop(0) if self.answers else None

    def close(self) -> None:
        self.log.append("close")


def found_after_s(watch: DeviceWatch, clock: ManualClock, most_s: int) -> int | None:
    for second in range(most_s):
        if watch.turn():
            return second
        clock.advance_ms(1000)
    return None


def test_the_gpu_is_probed_once_a_minute_until_it_responds() -> None:
    clock, probe = ManualClock(), ScriptedProbe([False, None, False, True])
    watch = DeviceWatch(clock, lambda: probe)
    assert found_after_s(watch, clock, 100) is None and not probe.log, "it checks only after `begin`"
    watch.begin()
    found = found_after_s(watch, clock, 1000)
    assert found is not None and 180 <= found <= 190
    assert probe.log == ["start", "close"] * 3
    assert found_after_s(watch, clock, 200) is None, "and says so once"


def test_a_hanging_probe_is_abandoned() -> None:
    clock, probe = ManualClock(), ScriptedProbe([])
    watch = DeviceWatch(clock, lambda: probe)
    watch.begin()
    assert found_after_s(watch, clock, 220) is None
    assert probe.log == ["start", "close", "start"]
    watch.end()
    assert probe.log[-1] == "close"


@pytest.mark.slow
def test_a_real_probe_responds_and_leaves_no_process() -> None:
    probe = ProcessProbe()
    probe.start()
    until_s = time.monotonic() + 90.0
    while (answer := probe.answer()) is None and time.monotonic() < until_s:
        time.sleep(0.05)
    probe.close()
    probe.close()
    assert answer is torch.cuda.is_available()


def test_a_real_probe_can_be_cancelled() -> None:
    probe = ProcessProbe()
    probe.start()
    probe.close()
    assert probe.answer() is False
