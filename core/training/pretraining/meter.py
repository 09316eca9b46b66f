"""How far a long work has come, as progress with time left; not more often than people can read."""

from __future__ import annotations

from collections.abc import Callable

from core.clock import Clock
from core.events import JobProgress

_REPORT_EVERY_S = 0.25


class Meter:
    """Fed with what is done; tells of it now and then, and at the end."""

    def __init__(self, job_id: str, title: str, total: int, clock: Clock, show: Callable[[JobProgress], None]) -> None:
        self._job_id = job_id
        self._title = title
        self._total = total
        self._clock = clock
        self._show = show
        self._started_s = clock.monotonic_s()
        self._shown_s: float | None = None

    def at(self, done: int) -> None:
        """So much of the total is done."""
        now_s = self._clock.monotonic_s()
        is_due = self._shown_s is None or now_s - self._shown_s >= _REPORT_EVERY_S
        if is_due or done >= self._total:
            self._shown_s = now_s
            left_s = (now_s - self._started_s) / done * (self._total - done) if done else None
            self._show(JobProgress(self._job_id, self._title, done, self._total, left_s))
