"""The one way to show long work: what is under way, and a status-bar widget with progress and time left."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QWidget

from core.clock import Clock
from core.events import JobProgress
from desktop.formatting import format_count, format_duration
from desktop.icons import tabular

_MOST_JOBS = 64
_SETTLE_S = 2.0


class JobList:
    """Long works under way, oldest first. A work is over when its report says so, or when it is `end`ed.

    Where a report does not tell the time left, it is worked out from the pace so far.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: dict[str, JobProgress] = {}
        self._started: dict[str, tuple[float, int]] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def running(self) -> tuple[JobProgress, ...]:
        """All that is under way, oldest first."""
        return tuple(self._jobs.values())

    def apply(self, report: JobProgress) -> None:
        """Take a report: the first of its id adds a work, the last removes it."""
        if report.is_over or (report.total > 0 and report.done >= report.total):
            self.end(report.job_id)
            return
        if report.job_id not in self._jobs and len(self._jobs) >= _MOST_JOBS:
            return
        self._started.setdefault(report.job_id, (self._clock.monotonic_s(), report.done))
        if report.seconds_left is None:
            report = replace(report, seconds_left=self._seconds_left(report))
        self._jobs[report.job_id] = report

    def end(self, job_id: str) -> None:
        """Forget a work that is over or given up. An unknown id is no error."""
        self._jobs.pop(job_id, None)
        self._started.pop(job_id, None)

    def clear(self) -> None:
        """Forget all."""
        self._jobs.clear()
        self._started.clear()

    def _seconds_left(self, report: JobProgress) -> float | None:
        started_s, done_at_start = self._started[report.job_id]
        seconds = self._clock.monotonic_s() - started_s
        progress = report.done - done_at_start
        if seconds < _SETTLE_S or progress <= 0 or report.total <= 0:
            return None
        return seconds * (report.total - report.done) / progress


class JobBar(QWidget):
    """Shows the oldest work of a list; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel()
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setFixedSize(QSize(110, 10))
        self._left = QLabel()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 0, 6, 0)
        layout.setSpacing(6)
        for part in (self._title, self._progress, self._left):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._left.setFont(tabular(self.font()))
        self.hide()

    def show_jobs(self, jobs: tuple[JobProgress, ...]) -> None:
        """Show the first of `jobs`, and how many more there are."""
        if not jobs:
            self.hide()
            return
        job = jobs[0]
        more = f" (and {len(jobs) - 1} more)" if len(jobs) > 1 else ""
        self._title.setText(job.title + more)
        # A range of 0 to 0 is Qt's way to say that the length is not known.
        self._progress.setRange(0, max(job.total, 0))
        self._progress.setValue(min(job.done, job.total))
        self._left.setText("" if job.seconds_left is None else f"{format_duration(job.seconds_left)} left")
        self.setToolTip("\n".join(_describe(each) for each in jobs))
        self.show()


def _describe(job: JobProgress) -> str:
    if job.total <= 0:
        return job.title
    return f"{job.title}: {format_count(job.done)} of {format_count(job.total)}"
