"""Progress of the trainer through the stored candles, with time left."""

from __future__ import annotations

from core.domain.clock import Clock
from core.domain.events import JobProgress

JOB_ID = "catch-up"
"""The id of these reports."""
_TITLE = "Learning from stored candles"
_FEWEST_BEHIND = 20
_CAUGHT_UP = 10
"""With a fast feed the trainer is always a few candles behind; those are no backlog."""
_REPORT_EVERY_S = 0.25


class CatchUpMeter:
    """Takes the number of candles left; returns a report now and then, and one when caught up."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._total = 0
        self._behind = 0
        self._started_s = 0.0
        self._reported_s: float | None = None

    def is_due(self) -> bool:
        """Whether another report, and the query for it, is due."""
        return self._reported_s is None or self._clock.monotonic_s() - self._reported_s >= _REPORT_EVERY_S

    def report(self, behind: int) -> JobProgress | None:
        """The progress with `behind` candles left, or None without a backlog."""
        now_s = self._clock.monotonic_s()
        self._reported_s = now_s
        if self._total == 0:
            if behind < _FEWEST_BEHIND:
                return None
            self._total, self._started_s = behind, now_s
        self._total, self._behind = max(self._total, behind), behind
        total = self._total
        if behind <= _CAUGHT_UP:
            self._total = 0
            return JobProgress(JOB_ID, _TITLE, total, total, 0.0)
        done = total - behind
        left_s = (now_s - self._started_s) / done * behind if done else None
        return JobProgress(JOB_ID, _TITLE, done, total, left_s)

    def give_up(self) -> JobProgress | None:
        """No more candles will be taken: the last report, or None without a backlog."""
        total, self._total = self._total, 0
        return JobProgress(JOB_ID, _TITLE, total - self._behind, total, is_over=True) if total else None
