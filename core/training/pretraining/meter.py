"""Progress of a long job with time left, at a readable rate."""

from __future__ import annotations

from collections.abc import Callable

from core.domain.clock import Clock
from core.domain.events import JobProgress

_REPORT_EVERY_S = 0.25


class Meter:
    """Takes the amount done; reports now and then, and at the end. A job of several parts has one count, which never
    goes back."""

    def __init__(
        self,
        job_id: str,
        title: str,
        total: int,
        clock: Clock,
        show: Callable[[JobProgress], None],
        *,
        rest: int = 0,
        pace_of_rest: float = 1.0,
    ) -> None:
        """rest: the amount of the total that is in later parts, which are `pace_of_rest` times as fast."""
        self._saved_by_pace = rest - rest / pace_of_rest
        """Units of the first part that the faster rest saves."""
        self._job_id = job_id
        self._title = title
        self._total = total
        self._clock = clock
        self._show = show
        self._started_s = clock.monotonic_s()
        self._shown_s: float | None = None
        self._before = 0

    def next_part(self, title: str, before: int, total: int) -> None:
        """`before` of the total was done in earlier parts; this part has another pace."""
        self._title, self._before, self._total, self._saved_by_pace = title, before, total, 0.0
        self._started_s, self._shown_s = self._clock.monotonic_s(), None

    def at(self, done: int) -> None:
        """This much of the part is done."""
        now_s, of_all = self._clock.monotonic_s(), self._before + done
        is_due = self._shown_s is None or now_s - self._shown_s >= _REPORT_EVERY_S
        if is_due or of_all >= self._total:
            self._shown_s = now_s
            left = self._total - of_all - self._saved_by_pace
            left_s = (now_s - self._started_s) / done * left if done else None
            self._show(JobProgress(self._job_id, self._title, of_all, self._total, left_s))
