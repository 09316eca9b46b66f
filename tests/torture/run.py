"""The loop: a tick, sometimes another act, sometimes a frame, and occasional checks of everything."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import capture_exceptions

SEED_VARIABLE = "GHOSTCANDLE_TORTURE"
_REMEMBERED = 40
_FRAME_SHARE = 0.4
"""Share of the ticks followed by a frame: a hundred ticks a second make about sixty frames of 16 ms."""

Act = Callable[[], str | None]
"""Acts and returns its description. None: there was nothing to do."""


def chosen_seed(default: int) -> int:
    """The seed from the environment, to replay a run; otherwise a random one in a soak test."""
    if SEED_VARIABLE in os.environ:
        return int(os.environ[SEED_VARIABLE])
    return int.from_bytes(os.urandom(4)) if "GHOSTCANDLE_SOAK" in os.environ else default


@dataclass
class Torture:
    """The acts, how often they run, and the checks.

    acts: with their weights; tick: done each step; frame: brings the picture up to date, as the frame clock does;
    check: raises AssertionError on a fault.
    """

    seed: int
    acts: dict[Act, float]
    tick: Callable[[], object]
    frame: Callable[[], object]
    check: Callable[[], object]
    part: int = 0
    """Distinguishes the stretches of one test, which share its seed."""
    check_every: int = 400
    steps: int = 0
    log: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def run(self, qtlog: Any, steps: int) -> None:
        """Run for this many steps. Raises AssertionError with the seed and the last acts."""
        random = np.random.default_rng([self.seed, self.part])
        acts, weights = list(self.acts), np.array(list(self.acts.values()))
        bounds = np.cumsum(weights)
        with self._with_seed(), capture_exceptions() as exceptions:
            while self.steps < steps:
                self.steps += 1
                self.tick()
                place = float(random.random()) * max(1.0, float(bounds[-1]))
                if place < bounds[-1]:
                    self._do(acts[int(np.searchsorted(bounds, place, side="right"))])
                if random.random() < _FRAME_SHARE:
                    self.frame()
                QApplication.processEvents()
                if self.steps % self.check_every == 0:
                    self.log.append(f"{self.steps}: check")
                    self.check()
                _nothing_raised(exceptions, qtlog)
            self.check()
            _nothing_raised(exceptions, qtlog)

    def _do(self, act: Act) -> None:
        self.log.append(f"{self.steps}: {act.__name__} …")
        done = act()
        self.log[-1] = f"{self.steps}: {act.__name__} {done or ''}"

    @contextmanager
    def _with_seed(self) -> Iterator[None]:
        """Adds the seed to any failure."""
        try:
            yield
        except Exception as error:
            last = "\n  ".join(self.log)
            replay = (
                f"step {self.steps} of part {self.part} of seed {self.seed}; to replay: {SEED_VARIABLE}={self.seed}"
            )
            raise AssertionError(f"{error!r}\n{replay}\nThe last acts:\n  {last}") from error


def _nothing_raised(exceptions: list[tuple[type[BaseException], BaseException, object]], qtlog: Any) -> None:
    if exceptions:
        raise exceptions[0][1]
    messages = [record.message for record in qtlog.records if not record.ignored and record.type_name != "QtDebugMsg"]
    assert not messages, f"Qt said: {messages}"
    qtlog._records.clear()  # ignored messages would otherwise be kept to the end and counted as a leak


LENGTH = 15 if "GHOSTCANDLE_SOAK" in os.environ else 1
"""Of the tests marked slow, in multiples of their steps: ten minutes in a soak."""
