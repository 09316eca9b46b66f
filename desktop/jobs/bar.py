"""The status bar's word on long work: the oldest that is under way, and how long it takes yet."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from core.domain.events import JobProgress
from core.domain.plain_text import plain
from desktop.ui.elided import ElidedLabel
from desktop.ui.formatting import format_count, format_duration
from desktop.ui.icons import tabular
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.stacks import beside
from desktop.ui.translation import translate

_LONGEST_TITLE = 60
"""Characters: the feed's sentence is beside it."""


class JobBar(QWidget):
    """Shows the oldest work of a list; hidden while there is none. `clicked`: all of them are wanted."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel()
        self._progress = QProgressBar(textVisible=False)
        self._progress.setFixedSize(QSize(110, 10))
        self._progress.setAccessibleName(translate("Jobs", "Progress of the oldest job"))
        self._left = Label()
        layout = beside(self, margins=(6, 0, 6, 0), spacing=6)
        for part in (self.title, self._progress, self._left):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._left.setFont(tabular(self.font()))
        self.hide()

    def show_jobs(self, jobs: tuple[JobProgress, ...]) -> None:
        """Show the first of `jobs`, and how many more there are."""
        if not jobs:
            self.hide()
            return
        job = jobs[0]
        more = translate("Jobs", " (and {0} more)").format(len(jobs) - 1) if len(jobs) > 1 else ""
        self.title.setText(plain(job.title, _LONGEST_TITLE) + more)
        # A range of 0 to 0 is Qt's way to say that the length is not known.
        self._progress.setRange(0, max(job.total, 0))
        self._progress.setValue(min(job.done, job.total))
        left = job.seconds_left
        self._left.setText("" if left is None else translate("Jobs", "{0} left").format(format_duration(left)))
        lines = [*(self._describe(each) for each in jobs), translate("Jobs", "Click for the list of jobs.")]
        self.setToolTip(paragraphs("\n".join(lines)))
        self.show()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()
        super().mouseReleaseEvent(event)

    def _describe(self, job: JobProgress) -> str:
        if job.total <= 0:
            return job.title
        done, total = format_count(job.done), format_count(job.total)
        return translate("Jobs", "{0}: {1} of {2}").format(job.title, done, total)
