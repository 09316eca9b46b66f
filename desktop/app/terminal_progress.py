"""The progress view of a run in a terminal: on stderr, so that stdout stays for results."""

from __future__ import annotations

import threading
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from core.domain.events import EventBatch, Incident, JobProgress, TrainerReady, TrainerStatus
from core.domain.plain_text import plain
from core.market.feeds.base import FeedState, FeedStatus
from core.training.hosting.catch_up import JOB_ID as CATCH_UP
from desktop.app.progress_lines import ProgressLines

_LONGEST_SENTENCE = 600


class TerminalProgress:
    """Shows jobs, the newest status, and incidents. Its methods may be called from any thread."""

    def __init__(self, is_shown: bool, lines: ProgressLines | None = None, *, evaluated: str = "") -> None:
        """lines: receives the output in place of the terminal. evaluated: the file, or how many, that a copy of the run
        is evaluated on; empty for a run that is not a copy."""
        self._lines = lines
        self._evaluated = evaluated
        self._has_begun = False
        """The trainer has loaded its model."""
        self._is_read = False
        is_shown = is_shown and lines is None
        self._console = Console(stderr=True, markup=False)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._is_shown = is_shown
        has_bars = is_shown and self._console.is_terminal  # elsewhere they would be an empty line
        self._progress = Progress(*columns, console=self._console, disable=not has_bars, transient=True)
        self._tasks: dict[str, TaskID] = {}
        self._titles: dict[str, str] = {}
        self._lock = threading.Lock()
        self.status: TrainerStatus | None = None
        self._unreported = ""
        """The newest status in words, until it is printed."""

    def __enter__(self) -> TerminalProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, sentence: str) -> None:
        """Print one line above the bars."""
        if self._lines is not None:
            self._lines.say(sentence)
        elif self._is_shown:
            one_line = not self._console.is_terminal  # a log file is not 80 columns wide
            self._console.print(plain(sentence, _LONGEST_SENTENCE), highlight=False, soft_wrap=one_line)

    def show_feed(self, status: FeedStatus) -> None:
        """A change of the feed's state. An evaluation has not ended with its file: it says what it does next."""
        if not self._evaluated or status.state is not FeedState.ENDED:
            self.say(status.sentence)
        elif not (self._has_begun or self._is_read):
            self._is_read = True
            self.say(f"The candles of {self._evaluated} are evaluated once the model is loaded.")
            if self._lines is not None:
                self._lines.start_part("Loading the model")

    def apply_batch(self, batch: EventBatch) -> None:
        for event in batch.events:
            self.apply(event)

    def report_status(self) -> None:
        """One line about the newest status, unless that has not changed since the last one."""
        with self._lock:
            text, self._unreported = self._unreported, ""
        if text:
            self.say(text)

    def apply(self, event: object) -> None:
        """Show a start, a job, an incident or a status; other kinds of events are not shown."""
        with self._lock:
            match event:
                case TrainerReady():
                    self._has_begun = True
                    self.say(self._beginning(event))
                case JobProgress():
                    self._show_job(event)
                case Incident(what_happened=happened, what_was_done=done):
                    where = f"In the evaluation on {self._evaluated}: " if self._evaluated else ""
                    self.say(f"{where}{happened} {done}")
                case TrainerStatus():
                    self._show_status(event)

    def _show_status(self, status: TrainerStatus) -> None:
        has_moved = self.status is None or status.step > self.status.step
        self.status = status
        loss = "–" if status.loss.current is None else f"{status.loss.current:.3f}"
        text = f"step {status.step:,}  loss {loss} {status.loss.trend.value}  {status.markets[0].accuracy.verdict}"
        if has_moved:
            self._unreported = f"{text[0].upper()}{text[1:]}"
        for task in self._tasks.values():
            self._progress.update(task, description=text[:90])

    def _beginning(self, ready: TrainerReady) -> str:
        if self._evaluated:
            what = "a new model" if ready.resumed_from is None else "the checkpoint"
            return f"Evaluating {what} on {ready.device}."
        beginning = "a new run" if ready.step == 0 else f"continued at step {ready.step:,}"
        return f"Training on {ready.device}: {beginning}."

    def _show_job(self, job: JobProgress) -> None:
        if self._evaluated and job.job_id == CATCH_UP:
            job = replace(job, title=f"Evaluating candles of {self._evaluated}")
        if self._lines is not None:
            self._lines.progress(title=job.title, done=job.done, total=job.total, seconds_left=job.seconds_left)
            return
        if job.job_id not in self._tasks:
            self._tasks[job.job_id] = self._progress.add_task(job.title, total=job.total)
            self._titles[job.job_id] = job.title
        if job.is_over:
            self._progress.remove_task(self._tasks.pop(job.job_id))
            return
        self._progress.update(self._tasks[job.job_id], completed=job.done, total=job.total)
        if self._titles[job.job_id] != job.title:  # another part of it; a status may have its place meanwhile
            self._titles[job.job_id] = job.title
            self._progress.update(self._tasks[job.job_id], description=job.title)
