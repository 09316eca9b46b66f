"""The one list of background jobs: running ones with their progress, and ended ones with their results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, auto
from pathlib import Path

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import JobProgress

_MOST_JOBS = 64
_MOST_KEPT = 50
_SETTLE_S = 2.0
_ESTIMATE_HOLDS_S = 2.0
"""Parts of the window read the list at different moments: one estimate holds for this long, so that all show it."""


class JobState(StrEnum):
    """The state of a job. ENDED: it stopped early for an unknown reason."""

    RUNNING = auto()
    CANCELLING = auto()
    DONE = auto()
    ENDED = auto()
    CANCELLED = auto()
    FAILED = auto()

    @property
    def is_over(self) -> bool:
        return self not in (JobState.RUNNING, JobState.CANCELLING)


@dataclass(frozen=True, slots=True)
class Job:
    """One long job. `report` is the newest: its id, title and progress."""

    report: JobProgress
    state: JobState
    started_at_ms: int
    doing: str = ""
    """The current part, if the job has parts."""
    ended_at_ms: int | None = None
    result: str = ""
    """A sentence: the result, or the fault. While the job runs: its findings so far."""
    page: Path | None = None
    """A report that can be opened."""
    market: Market | None = None
    """A market with candles that the job has stored; it can be opened."""
    file: Path | None = None
    """A candle file that the job has imported; it can be replayed."""

    @property
    def job_id(self) -> str:
        return self.report.job_id


class JobList:
    """Running jobs, oldest first, and the newest finished ones. A job is over when its report says so, or after `end`
    or `finish`. If a report has no time left and no estimate, it is computed from the pace so far. An estimate is
    replaced every two seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running: dict[str, Job] = {}
        self._over: list[Job] = []
        self._started: dict[str, tuple[float, int]] = {}
        self._estimated_s: dict[str, float] = {}
        """Time of each job's estimate."""

    def __len__(self) -> int:
        return len(self._running)

    def running(self) -> tuple[JobProgress, ...]:
        """Running jobs, oldest first."""
        return tuple(job.report for job in self._running.values())

    def jobs(self) -> tuple[Job, ...]:
        """Running jobs, the newest first, then finished ones, the last to end first."""
        return (*reversed(self._running.values()), *reversed(self._over))

    def find(self, job_id: str) -> Job | None:
        """The job of this id, if it is running."""
        return self._running.get(job_id)

    def apply(self, report: JobProgress) -> None:
        """Apply a report: the first of its id adds a job, the last ends it."""
        is_done = report.total > 0 and report.done >= report.total
        if report.is_over or is_done:
            if (job := self._running.get(report.job_id)) is not None:
                if report.total > 0:
                    self._running[report.job_id] = replace(job, report=report)
                self.finish(report.job_id, JobState.DONE if is_done or report.total <= 0 else JobState.ENDED, "")
            return
        if report.job_id not in self._running and len(self._running) >= _MOST_JOBS:
            return
        self._advance(report, "")

    def begin(self, job_id: str, title: str) -> None:
        """Add a job of unknown length; it ends with `finish`, whatever progress it reports."""
        self._advance(JobProgress(job_id, title, 0, 0), "")

    def advance(self, job_id: str, doing: str, done: int, total: int, seconds_left: float | None) -> None:
        """Set the progress of the current part. An unknown id is no error."""
        job = self._running.get(job_id)
        if job is None:
            return
        if job.doing != doing or done < job.report.done:
            self._forget_pace(job_id)  # another part has another pace
        if done >= total:  # the next part has not reported its length yet
            done, total, seconds_left = 0, 0, None
        self._advance(JobProgress(job_id, job.report.title, done, total, seconds_left), doing)

    def set_finding(self, job_id: str, sentence: str) -> None:
        """Set the job's newest finding, shown until it ends. An unknown id is no error."""
        job = self._running.get(job_id)
        if job is not None:
            self._running[job_id] = replace(job, result=sentence)

    def cancelling(self, job_id: str, result: str = "") -> None:
        """Mark a job that was asked to end. result: shown once it has ended, if it reports none itself."""
        job = self._running.get(job_id)
        if job is not None:
            report = replace(job.report, seconds_left=None)
            self._running[job_id] = replace(job, state=JobState.CANCELLING, report=report, result=result)

    def finish(
        self,
        job_id: str,
        state: JobState,
        result: str,
        page: Path | None = None,
        market: Market | None = None,
        file: Path | None = None,
    ) -> Job | None:
        """End the job in this state. Returns None for an unknown id."""
        job = self._running.pop(job_id, None)
        self._forget_pace(job_id)
        if job is None:
            return None
        if state is JobState.ENDED and job.state is JobState.CANCELLING:
            state, result = JobState.CANCELLED, result or job.result
        report = replace(job.report, seconds_left=None)
        if state is JobState.DONE:
            report = replace(report, done=max(report.total, 1), total=max(report.total, 1))
        over = Job(report, state, job.started_at_ms, "", self._clock.now_ms(), result, page, market, file)
        self._over = [*(each for each in self._over if each.job_id != job_id), over][-_MOST_KEPT:]
        return over

    def end(self, job_id: str) -> None:
        """End the job as abandoned. An unknown id is no error."""
        self.finish(job_id, JobState.ENDED, "")

    def drop(self, job_id: str) -> None:
        """Remove the job from the list without a result; it continues unseen. An unknown id is no error."""
        self._running.pop(job_id, None)
        self._forget_pace(job_id)

    def clear_over(self) -> None:
        self._over.clear()

    def _advance(self, report: JobProgress, doing: str) -> None:
        self._started.setdefault(report.job_id, (self._clock.monotonic_s(), report.done))
        before = self._running.get(report.job_id)
        report = replace(report, seconds_left=self._estimate(report, before))
        if before is not None and before.state is JobState.CANCELLING:
            report = replace(report, seconds_left=None)
        if before is None:
            self._running[report.job_id] = Job(report, JobState.RUNNING, self._clock.now_ms(), doing)
        else:
            self._running[report.job_id] = replace(before, report=report, doing=doing)

    def _forget_pace(self, job_id: str) -> None:
        self._started.pop(job_id, None)
        self._estimated_s.pop(job_id, None)

    def _estimate(self, report: JobProgress, before: Job | None) -> float | None:
        now_s, shown = self._clock.monotonic_s(), None if before is None else before.report.seconds_left
        is_held = now_s - self._estimated_s.get(report.job_id, -_ESTIMATE_HOLDS_S) < _ESTIMATE_HOLDS_S
        if is_held and shown is not None and report.total > 0:
            return shown
        self._estimated_s[report.job_id] = now_s
        is_known = report.has_own_estimate or report.seconds_left is not None
        return report.seconds_left if is_known else self._seconds_left(report)

    def _seconds_left(self, report: JobProgress) -> float | None:
        started_s, done_at_start = self._started[report.job_id]
        seconds = self._clock.monotonic_s() - started_s
        progress = report.done - done_at_start
        if seconds < _SETTLE_S or progress <= 0 or report.total <= 0:
            return None
        return seconds * (report.total - report.done) / progress
