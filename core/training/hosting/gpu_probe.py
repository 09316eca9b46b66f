"""Checks whether a lost GPU is back, in short-lived processes: the window's process never imports torch."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import SpawnProcess

from core.domain.clock import Clock
from core.training.engine.device_faults import DeviceError

_EVERY_S = 60.0
_LONGEST_S = 90.0
_NICENESS = 10
_END_WITHIN_S = 2.0


class ProcessProbe:
    """Computes a product on the GPU in a separate process, which may die or hang of it."""

    def __init__(self, device: str = "cuda") -> None:
        """device: ``cuda``, or a GPU by number."""
        self._device = device
        self._process: SpawnProcess | None = None

    def start(self) -> None:
        """Start, and return at once."""
        process = multiprocessing.get_context("spawn").Process(
            target=_look, args=(self._device,), name="ghostcandle-device-probe", daemon=True
        )
        with contextlib.suppress(OSError, RuntimeError):  # no process available now: the next check may get one
            process.start()
            self._process = process

    def answer(self) -> bool | None:
        """Whether the device can be used; None while unknown."""
        if self._process is None:
            return False
        code = self._process.exitcode
        return None if code is None else code == 0

    def close(self) -> None:
        """Cancel a running check. Safe to call twice."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.join(_END_WITHIN_S)
        if process.exitcode is not None:  # else a driver holds it in the kernel, beyond signals
            process.close()


class DeviceWatch:
    """Checks once a minute from `begin` on, until the device responds or `end`."""

    def __init__(self, clock: Clock, make_probe: Callable[[], ProcessProbe]) -> None:
        self._clock = clock
        self._make_probe = make_probe
        self._probe: ProcessProbe | None = None
        self._next_s: float | None = None

    def begin(self) -> None:
        """Start checking; first after a minute, since a device that was just lost is rarely back at once."""
        self.end()
        self._next_s = self._clock.monotonic_s() + _EVERY_S

    def end(self) -> None:
        self._next_s = None
        self._drop_probe()

    def turn(self) -> bool:
        """Call often. True once, when the device has responded, which ends the watch."""
        if self._next_s is None:
            return False
        now_s = self._clock.monotonic_s()
        if self._probe is None:
            if now_s >= self._next_s:
                self._next_s = now_s
                self._probe = self._make_probe()
                self._probe.start()
            return False
        answer = self._probe.answer()
        if answer is None and now_s < self._next_s + _LONGEST_S:
            return False
        if answer:
            self.end()
            return True
        self._drop_probe()
        self._next_s = now_s + _EVERY_S
        return False

    def _drop_probe(self) -> None:
        if self._probe is not None:
            self._probe.close()
            self._probe = None


def _look(device: str) -> None:
    """The process: exits with 0 if the GPU can be used."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    from core.training.engine.device import choose_device  # noqa: PLC0415 - torch, in this process only

    try:
        choose_device(device)
    except DeviceError:
        sys.exit(1)
