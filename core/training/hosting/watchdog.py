"""Whether a trainer that owes an answer has been silent for too long."""

from __future__ import annotations

import math
import statistics
from collections import deque

from core.domain.clock import Clock

_FIRST_ANSWER_S = 120.0
"""Time limit of each part of a start: importing torch, opening the database, restoring a checkpoint."""
_TIMES_USUAL = 20.0
_FEWEST_FOR_USUAL = 100
"""Answers needed: among fewer, one slow answer (such as the first step's) would set the usual time."""
_TIMES_SLOW = 3.0
"""A slow answer may be repeated and slower; a hang must still be noticed soon."""
_ANSWERS_REMEMBERED = 256
_SLACK_S = 1.0


class Watchdog:
    """Notified of each request, each answer or part of the work for one, and each poll.

    Only time spent polling counts as silence. A suspended machine, a stopped parent, or a stopped group of processes is
    silent too, but the trainer is not to blame for that.
    """

    def __init__(self, clock: Clock, hang_s: float) -> None:
        self._clock = clock
        self._hang_s = hang_s
        self._owed = 0
        self._has_answered = False
        self.silence_s = 0.0
        self._polled_at_s = clock.monotonic_s()
        self._answer_times_s: deque[float] = deque(maxlen=_ANSWERS_REMEMBERED)

    @property
    def limit_s(self) -> float:
        """The allowed silence: the configured time, or longer if answers were slow."""
        if not self._has_answered:
            return max(_FIRST_ANSWER_S, self._hang_s)
        times_s = self._answer_times_s
        usual_s = statistics.median(times_s) if len(times_s) >= _FEWEST_FOR_USUAL else 0.0
        return max(self._hang_s, _TIMES_USUAL * usual_s, _TIMES_SLOW * max(times_s, default=0.0))

    @property
    def left_s(self) -> float:
        """Allowed silence left; infinite while no answer is owed."""
        return max(self.limit_s - self.silence_s, 0.0) if self._owed else math.inf

    @property
    def is_overdue(self) -> bool:
        return self.left_s <= 0.0

    def request_sent(self) -> None:
        """A request was sent: one more answer is owed."""
        if self._owed == 0:
            self._reset_silence()
        self._owed += 1

    def polled(self, waited_s: float) -> None:
        """A poll of at most `waited_s` has ended."""
        now_s = self._clock.monotonic_s()
        if self._owed:
            self.silence_s += min(now_s - self._polled_at_s, waited_s + _SLACK_S)
        self._polled_at_s = now_s

    def part_done(self) -> None:
        """Part of the work for an answer is done: a busy trainer is slow, and no hang. Call `polled` first."""
        if self._has_answered:
            self._answer_times_s.append(self.silence_s)
        self._reset_silence()

    def answered(self, *, is_whole: bool = True) -> None:
        """An answer arrived, or a part of one. Call `polled` first."""
        self.part_done()
        self._has_answered = True
        self._owed = max(self._owed - is_whole, 0)

    def _reset_silence(self) -> None:
        self.silence_s = 0.0
        self._polled_at_s = self._clock.monotonic_s()
