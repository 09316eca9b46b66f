"""Progress of the trainer through the stored candles, with time left."""

from __future__ import annotations

from collections import deque

from core.domain.clock import Clock
from core.domain.events import JobProgress

JOB_ID = "catch-up"
"""The id of these reports."""
_TITLE = "Learning from stored candles"
_FEWEST_BEHIND = 20
_CAUGHT_UP = 10
"""A lag that is no backlog: with a fast feed the trainer is always a few candles behind."""
_REPORT_EVERY_S = 0.25
_RATE_WINDOW_S = 30.0
_SHORTEST_WINDOW_S = 2.0
_FEWEST_TAKEN = 3
"""Fewer candles in a window are no rate: they come one by one."""


class CatchUpMeter:
    """Turns the number of candles left into a report now and then, and one when caught up.

    The time left follows from how fast the number of candles left shrinks: in a replay, new ones keep arriving.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._total = 0
        self._recent: deque[tuple[float, int]] = deque()
        """Time and candles left of the newest reports; the first is as old as the window, if any is."""
        self._reported_s: float | None = None

    @property
    def has_backlog(self) -> bool:
        """Whether a catch-up is being reported."""
        return self._total > 0

    def is_due(self) -> bool:
        """Whether another report, and the query for it, is due."""
        return self._reported_s is None or self._clock.monotonic_s() - self._reported_s >= _REPORT_EVERY_S

    def report(self, behind: int) -> JobProgress | None:
        """The progress with `behind` candles left, or None without a backlog."""
        now_s = self._reported_s = self._clock.monotonic_s()
        if behind < _FEWEST_BEHIND and not self.has_backlog:
            return None
        self._total = total = max(self._total, behind)
        self._recent.append((now_s, behind))
        while len(self._recent) > 1 and now_s - self._recent[1][0] >= _RATE_WINDOW_S:
            self._recent.popleft()
        if behind <= _CAUGHT_UP:
            self._forget()
            return JobProgress(JOB_ID, _TITLE, total, total, 0.0)
        return JobProgress(JOB_ID, _TITLE, total - behind, total, self._seconds_left(), has_own_estimate=True)

    def give_up(self) -> JobProgress | None:
        """No more candles will be taken: the last report, or None without a backlog."""
        if not self.has_backlog:
            return None
        total, done = self._total, self._total - self._recent[-1][1]
        self._forget()
        return JobProgress(JOB_ID, _TITLE, done, total, is_over=True)

    def _forget(self) -> None:
        self._total = 0
        self._recent.clear()

    def _seconds_left(self) -> float | None:
        """The time left; None while the backlog does not shrink."""
        (since_s, before), (now_s, behind) = self._recent[0], self._recent[-1]
        if now_s - since_s < _SHORTEST_WINDOW_S or before - behind < _FEWEST_TAKEN:
            return None
        return behind * (now_s - since_s) / (before - behind)
