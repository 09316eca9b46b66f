"""The loop: a tick, at random something else, at random a frame; now and then everything is held to account."""

from __future__ import annotations

import os
import time
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
"""Of the ticks, are followed by a frame: a hundred ticks a second make about sixty frames of 16 ms."""

Act = Callable[[], str | None]
"""Does something and says what. None: there was nothing to be done."""


def chosen_seed(default: int) -> int:
    """The seed of the environment, so that a run can be replayed; in a soak without one: another each time."""
    if SEED_VARIABLE in os.environ:
        return int(os.environ[SEED_VARIABLE])
    return int.from_bytes(os.urandom(4)) if "GHOSTCANDLE_SOAK" in os.environ else default


@dataclass
class Torture:
    """What is done, how often, and what is looked at.

    acts: with their weights; tick: done each step; frame: brings the picture up to date, as the frame clock does;
    check: raises AssertionError where something is wrong.
    """

    seed: int
    acts: dict[Act, float]
    tick: Callable[[], object]
    frame: Callable[[], object]
    check: Callable[[], object]
    part: int = 0
    """Tells the stretches of one test apart, which all have its seed."""
    check_every: int = 400
    steps: int = 0
    log: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def run(self, qtlog: Any, steps: int | None = None, seconds: float | None = None) -> None:
        """For so many steps, or so long. Raises AssertionError with the seed and the last acts."""
        random = np.random.default_rng([self.seed, self.part])
        acts, weights = list(self.acts), np.array(list(self.acts.values()))
        bounds = np.cumsum(weights)
        until = None if seconds is None else time.monotonic() + seconds
        with self._told(), capture_exceptions() as exceptions:
            while (until is None or time.monotonic() < until) and (steps is None or self.steps < steps):
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
    def _told(self) -> Iterator[None]:
        """Whatever goes wrong is told with the seed."""
        try:
            yield
        except Exception as error:
            last = "\n  ".join(self.log)
            told = f"step {self.steps} of part {self.part} of seed {self.seed}; to replay: {SEED_VARIABLE}={self.seed}"
            raise AssertionError(f"{error!r}\n{told}\nThe last acts:\n  {last}") from error


def _nothing_raised(exceptions: list[tuple[type[BaseException], BaseException, object]], qtlog: Any) -> None:
    if exceptions:
        raise exceptions[0][1]
    told = [record.message for record in qtlog.records if not record.ignored and record.type_name != "QtDebugMsg"]
    assert not told, f"Qt said: {told}"
    qtlog._records.clear()  # a message that is ignored would else be kept to the end, and be counted as a leak


LONG_SECONDS = 600.0 if "GHOSTCANDLE_SOAK" in os.environ else 40.0
"""Of the tests marked slow: ten minutes in a soak."""
