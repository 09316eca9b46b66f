"""The table of the Jobs dock: each job's title, progress, time left and result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView

from desktop.state.job_list import Job, JobState
from desktop.ui.formatting import MISSING, format_count, format_duration, format_percent
from desktop.ui.icons import icon
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.plain_text import ElidedCells
from desktop.ui.tables import RIGHT, Column, PaintedCell, RowsModel, style_table, write_line
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

JOB, PROGRESS, TIME_LEFT, RESULT = range(4)
_BAR_PX, _BAR_WIDTH_PX, _GAP_PX = 8, 130, 8
_BESIDE_PX, _LEAST_RESULT_PX = 6, 80
_ICONS = {
    JobState.RUNNING: "progress-clock",
    JobState.CANCELLING: "progress-close",
    JobState.DONE: "check-circle-outline",
    JobState.ENDED: "stop-circle-outline",
    JobState.CANCELLED: "cancel",
    JobState.FAILED: "alert-circle-outline",
}
_STATES = {
    JobState.RUNNING: QT_TRANSLATE_NOOP("Jobs", "Running"),
    JobState.CANCELLING: QT_TRANSLATE_NOOP("Jobs", "Cancelling…"),
    JobState.DONE: QT_TRANSLATE_NOOP("Jobs", "Done"),
    JobState.ENDED: QT_TRANSLATE_NOOP("Jobs", "Interrupted"),
    JobState.CANCELLED: QT_TRANSLATE_NOOP("Jobs", "Cancelled"),
    JobState.FAILED: QT_TRANSLATE_NOOP("Jobs", "Failed"),
}


def share_of(job: Job) -> float | None:
    """How much of it is done, in 0..1; None if its length is not known."""
    report = job.report
    return None if report.total <= 0 else min(max(report.done / report.total, 0.0), 1.0)


def jobs_model(theme: Theme, parent: QObject) -> RowsModel[Job]:
    """Jobs in the order of the list: running ones first."""

    def sign(job: Job) -> QIcon:
        return icon(_ICONS[job.state], colour_of(job, theme.palette), theme.palette.inverse_text)

    def column(title: str, text: Callable[[Job], str]) -> Column[Job]:
        return Column(title, text, spoken=lambda job: f"{title}: {text(job)}")

    columns = (
        replace(column(translate("Jobs", "Job"), lambda job: job.report.title), icon=sign),
        column(translate("Jobs", "Progress"), _progress),
        column(translate("Jobs", "Time left"), _time_left),
        column(translate("Jobs", "State"), lambda job: " ".join(job_text(job).split())),
    )
    return RowsModel(
        columns,
        parent,
        tooltip=lambda job: f"{job.report.title}\n{job_text(job)}",
        key=lambda job: (job.job_id, job.started_at_ms),
    )


def job_text(job: Job) -> str:
    """The job's state, with its current activity or its result."""
    state, report = translate("Jobs", _STATES[job.state]), job.report
    if job.state is JobState.RUNNING:
        if report.total <= 0:
            return job.doing or state
        count = translate("Jobs", "{0} of {1}").format(format_count(report.done), format_count(report.total))
        return f"{job.doing}: {count}" if job.doing else count
    if job.state is JobState.CANCELLING:
        return state
    return f"{state}. {job.result}" if job.result else f"{state}."


def _progress(job: Job) -> str:
    share = 1.0 if job.state is JobState.DONE else share_of(job)
    return MISSING if share is None else format_percent(share, 0)


def _time_left(job: Job) -> str:
    if job.state.is_over:
        return ""
    left = job.report.seconds_left
    return MISSING if left is None else format_duration(left)


class ProgressCell(PaintedCell):
    def draw(self, painter: QPainter, place: QRect, row: Job, *, is_selected: bool) -> None:
        palette, room, share = self.theme.palette, place.adjusted(_BESIDE_PX, 0, -_BESIDE_PX, 0), _progress(row)
        ink = self.ink(is_selected=is_selected)
        longest = max(map(painter.fontMetrics().horizontalAdvance, (share, format_percent(1.0, 0))))
        width = room.width() - longest - _GAP_PX
        bar = QRect(room.left(), room.center().y() - _BAR_PX // 2, max(width, 0), _BAR_PX)
        if is_selected:  # on the selection's own ground
            _paint_bar(painter, bar, share_done(row), ink, ink, None)
        else:
            _paint_bar(painter, bar, share_done(row), palette.outline, colour_of(row, palette), palette.background)
        write_line(painter, room, share, ink, RIGHT)


def share_done(job: Job) -> float:
    """How much of its bar is full, 0 to 1."""
    return 1.0 if job.state is JobState.DONE else share_of(job) or 0.0


def _paint_bar(
    painter: QPainter, bar: QRect, share: float, outline: QColor, fill: QColor, ground: QColor | None
) -> None:
    painter.setPen(outline)
    painter.setBrush(Qt.BrushStyle.NoBrush if ground is None else ground)
    painter.drawRect(bar.adjusted(0, 0, -1, -1))
    painter.fillRect(QRect(bar.left(), bar.top(), round(share * bar.width()), bar.height()), fill)


def colour_of(job: Job, palette: Palette) -> QColor:
    return {
        JobState.RUNNING: palette.accent,
        JobState.DONE: palette.good,
        JobState.FAILED: palette.bad,
    }.get(job.state, palette.muted_text)


class _JobsTable(QTableView):
    """Titles are as wide as they need. Without room the result goes first, which the details have too, then the bar;
    a time left has no room before a job has one."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        model = self.model()
        times = {str(model.index(row, TIME_LEFT).data()) for row in range(model.rowCount())} - {"", MISSING}
        self.setColumnHidden(TIME_LEFT, not times)
        advance = self.fontMetrics().horizontalAdvance
        time = advance("59 min 59 s") + 24 if times else 0
        title, share = self.sizeHintForColumn(JOB) + 8, advance(format_percent(1.0, 0)) + 2 * _BESIDE_PX
        room = self.viewport().width() - time
        progress = min(max(room - title, share), _BAR_WIDTH_PX)
        for column, width in ((TIME_LEFT, time), (PROGRESS, progress), (JOB, max(min(title, room - progress), share))):
            self.setColumnWidth(column, width)
        self.setColumnHidden(RESULT, room - progress - title < _LEAST_RESULT_PX)


def make_table(model: RowsModel[Job], theme: Theme, name: str) -> QTableView:
    """The view of a model. name: what a screen reader calls it."""
    table = _JobsTable()
    table.setModel(model)
    table.setItemDelegateForColumn(PROGRESS, ProgressCell(theme, table))
    table.setItemDelegateForColumn(RESULT, ElidedCells(table))
    style_table(table, name, several=False)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    space_rows(table, 8)
    header = table.horizontalHeader()
    header.setSectionResizeMode(JOB, QHeaderView.ResizeMode.Fixed)
    header.setSectionResizeMode(RESULT, QHeaderView.ResizeMode.Stretch)
    for column in (PROGRESS, TIME_LEFT):
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
    follow_interface_size(table, table.fit)
    model.layoutChanged.connect(table.fit)
    model.dataChanged.connect(table.fit)
    return table
