"""The Jobs dock: background jobs with their progress and results, which can be cancelled and opened here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QToolButton

from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.jobs.table import job_text, jobs_model, make_table
from desktop.state.job_list import Job, JobState
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_count, format_duration, format_time
from desktop.ui.icons import put_icon
from desktop.ui.menus import Menu
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import Label, TextView, with_whole_figures
from desktop.ui.stacks import beside, divided, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate


class JobsPanel(Panel):
    """`cancel_requested` carries a job's id; `market_requested` a Market that is to be on the chart;
    `replay_requested` the path of a candle file; `trouble` a sentence."""

    cancel_requested = Signal(str)
    market_requested = Signal(object)
    replay_requested = Signal(object)
    trouble = Signal(str)

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self.can_cancel: Callable[[str], bool] = lambda job_id: False
        self.model = jobs_model(theme, self)
        self.table = make_table(self.model, theme, translate("Jobs", "Jobs, running ones first"))
        self.count = Label()
        mute(self.count)
        self.start = QToolButton()
        self.details = TextView(translate("Jobs", "Details of the selected job"))
        self.actions_of_panel = ActionRegistry(panel_actions("Jobs"), self.table, theme)
        self._build_layout()
        nothing = translate(
            "Jobs",
            "No jobs yet. “Start” imports candles, fetches history, pretrains or evaluates, as do the menus File and "
            "Training. Learning from stored candles is listed too.",
        )
        self._empty = EmptyState(nothing, self.table.viewport())
        self._connect()
        self._update_actions()

    def offer(self, actions: Sequence[QAction]) -> None:
        """Put these actions into the menu of the start button."""
        menu = Menu("", self.start)
        menu.addActions(list(actions))
        self.start.setMenu(menu)

    def selected(self) -> Job | None:
        return next(iter(self.model.chosen(self.table)), None)

    def select(self, job_id: str) -> None:
        """Select a job, the newest of its id."""
        self.refresh()
        row = next((row for row, job in enumerate(self.model.rows) if job.job_id == job_id), None)
        if row is not None:
            self.table.selectRow(row)

    def refresh(self) -> None:
        jobs = self._state.jobs.jobs()
        self.model.show(jobs)
        running = len(self._state.jobs)
        set_text(self.count, translate("Jobs", "{0} running").format(format_count(running)) if running else "")
        self._empty.update_state(is_empty=not jobs, is_loading=False)
        self._update_actions()

    def tick(self) -> None:
        job = self.selected()
        if job is not None and not job.state.is_over:
            self._show_details()

    def _build_layout(self) -> None:
        buttons = self.actions_of_panel.tool_bar(translate("Jobs", "Job actions"))
        self.start.setText(translate("Jobs", "&Start"))
        self.start.setToolTip(translate("Jobs", "Import candles, fetch history, pretrain, or evaluate"))
        self.start.setAccessibleName(translate("Jobs", "Start a job"))
        self.start.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.start.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.start.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        put_icon(self.start, "plus", self.theme)
        buttons.insertWidget(buttons.actions()[0], self.start)
        top = beside(None, self.count, None, buttons, spacing=8)
        split = divided(self.table, self.details, shares=(2, 1))
        stacked(self, top, split, stretched=split, margins=(6, 4, 6, 4), spacing=4)

    def _connect(self) -> None:
        self._state.jobs_changed.connect(self.mark_stale)
        self.table.selectionModel().selectionChanged.connect(self._update_actions)
        self.table.doubleClicked.connect(lambda _index: self._open())
        self.actions_of_panel.offer_menu(self.table, needs_row=False)
        ids = ActionId
        self.actions_of_panel.wire({ids.JOB_CANCEL: self._cancel, ids.JOB_OPEN: self._open})
        self.actions_of_panel.wire({ids.JOB_REPLAY: self._replay, ids.JOB_CLEAR: self._clear})

    def _update_actions(self) -> None:
        job, actions = self.selected(), self.actions_of_panel
        can_cancel = job is not None and job.state is JobState.RUNNING and self.can_cancel(job.job_id)
        actions[ActionId.JOB_CANCEL].setEnabled(can_cancel)
        can_open = job is not None and (job.page is not None or job.market is not None)
        actions[ActionId.JOB_OPEN].setEnabled(can_open)
        actions[ActionId.JOB_REPLAY].setEnabled(job is not None and job.file is not None)
        actions[ActionId.JOB_CLEAR].setEnabled(any(each.state.is_over for each in self.model.rows))
        self._show_details()

    def _show_details(self) -> None:
        job = self.selected()
        self.details.show_text("" if job is None else with_whole_figures(self._account(job)))
        self.details.setVisible(job is not None)

    def _account(self, job: Job) -> str:
        began = translate("Jobs", "Started {0}").format(format_time(job.started_at_ms, seconds=True))
        until_ms = job.ended_at_ms or self._state.clock.now_ms()
        took = format_duration(max(until_ms - job.started_at_ms, 0) / 1000.0)
        lasted = translate("Jobs", "took {0}") if job.state.is_over else translate("Jobs", "running for {0}")
        account = f"{job.report.title}\n{began}, {lasted.format(took)}\n\n{job_text(job)}"
        return account if job.state.is_over or not job.result else f"{account}\n{job.result}"

    def _cancel(self) -> None:
        job = self.selected()
        if job is not None:
            self.cancel_requested.emit(job.job_id)

    def _open(self) -> None:
        job = self.selected()
        if job is not None and job.page is not None:
            self.open_page(job.page)
        elif job is not None and job.market is not None:
            self.market_requested.emit(job.market)

    def _replay(self) -> None:
        job = self.selected()
        if job is not None and job.file is not None:
            self.replay_requested.emit(job.file)

    def open_page(self, page: Path) -> None:
        """Open a report in the browser."""
        if not page.is_file():
            self.trouble.emit(translate("Jobs", "The report {0} no longer exists.").format(page))
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))):
            self.trouble.emit(translate("Jobs", "No browser responded. The report is {0}.").format(page))

    def _clear(self) -> None:
        self._state.jobs.clear_over()
        self._state.jobs_changed.emit()
