"""Opens the Sweeps page and its dialog, runs sweeps as jobs, and takes settings from a cell."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from core.domain.dates import calendar_moment
from core.domain.events import Severity
from core.files.durable import write_durably
from core.storage.folder import DataFolder
from core.sweeps.plan import SweepPlan
from core.sweeps.plan_text import plan_text
from core.sweeps.rows import CellRow
from desktop.actions import ActionId
from desktop.dialogs.messages import open_dialog
from desktop.jobs.job_commands import Order
from desktop.jobs.manager import JobManager
from desktop.layouts.pages import Pages
from desktop.state.job_list import Job
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.state.training_words import is_learning
from desktop.sweeps.apply import applied_text, with_cell
from desktop.sweeps.orders import PLAN_NAME, sweep_order
from desktop.ui.banner import Notice
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from desktop.sweeps.dialog import SweepDialog
    from desktop.sweeps.page import SweepsPage

_KEY = "sweep"


class Sweeps(QObject):
    """The page is made when it is first shown. Call `finish` before the window is deleted."""

    def __init__(
        self, shell: Shell, pages: Pages, state: RunState, jobs: JobManager, folder: DataFolder, theme: Theme
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._pages, self._state, self._jobs = shell, pages, state, jobs
        self._root, self._theme = folder.sweeps, theme
        self.page: SweepsPage | None = None
        self._job_ids: dict[Path, str] = {}
        """The newest job of each sweep that was started here."""
        shell.actions.wire({ActionId.SWEEP: self.ask, ActionId.SWEEPS: self.toggle})
        pages.currentChanged.connect(self._on_page)
        state.jobs_changed.connect(self._on_jobs)

    @Slot()
    def toggle(self) -> None:
        """Show the page, or the chart again."""
        if self.page is not None and self._pages.currentWidget() is self.page:
            self._pages.show_first()
        else:
            self.show()

    def show(self) -> SweepsPage:
        """Show the page; its table has the focus."""
        page = self.page or self._make_page()
        self._pages.show_alone(page)
        page.table.setFocus()
        return page

    @Slot()
    def ask(self) -> SweepDialog:
        """Ask for a new sweep."""
        from desktop.sweeps.dialog import SweepDialog  # noqa: PLC0415 - after the first paint

        now = calendar_moment(self._state.clock.now_ms()).astimezone()
        dialog = SweepDialog(self._shell.settings.current, self._root, now, self._theme, self._shell.window)
        if is_learning(self._state):
            dialog.offer_waiting()
        dialog.planned.connect(self.begin)
        return open_dialog(dialog)

    @Slot(object, object)
    def begin(self, order: Order, plan: SweepPlan) -> None:
        """Store the plan in the sweep's folder, start the job, and show the page."""
        folder = Path(order.arguments[order.arguments.index("--folder") + 1])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_durably(folder / PLAN_NAME, plan_text(plan).encode())
        except OSError as error:
            text = translate("Sweeps", "The plan could not be written to {0} ({1}). Free space, then try again.")
            self._notify(text.format(folder, error.strerror or error), Severity.ERROR)
            return
        self._run(folder, order)
        self.show().open(folder)

    def finish(self) -> bool:
        """Wait until no thread reads a sweep. False on a timeout."""
        return self.page is None or self.page.finish()

    def _make_page(self) -> SweepsPage:
        from desktop.sweeps.page import SweepsPage  # noqa: PLC0415 - after the first paint

        page = self.page = SweepsPage(self._root, self._theme)
        page.new_requested.connect(self.ask)
        page.open_requested.connect(self._ask_folder)
        page.run_requested.connect(self._run_or_stop)
        page.report_written.connect(self._open_report)
        page.trouble.connect(self._notify_trouble)
        page.use_requested.connect(self.use)
        page.left.connect(self._leave)
        page.sweeps.currentIndexChanged.connect(self._on_jobs)
        return page

    def _run(self, folder: Path, order: Order) -> None:
        job_id = self._jobs.begin(order)
        if job_id is not None:
            self._job_ids[folder] = job_id
            self._on_jobs()

    def _job_of(self, folder: Path | None) -> Job | None:
        """The running job of a sweep."""
        job_id = None if folder is None else self._job_ids.get(folder)
        return None if job_id is None else self._state.jobs.find(job_id)

    @Slot()
    def _on_jobs(self) -> None:
        if self.page is not None:
            self.page.show_job(self._job_of(self.page.folder))

    @Slot()
    def _on_page(self) -> None:
        is_shown = self.page is not None and self._pages.currentWidget() is self.page
        self._shell.actions[ActionId.SWEEPS].setChecked(is_shown)

    @Slot()
    def _leave(self) -> None:
        self._pages.show_first()

    @Slot(object)
    def _run_or_stop(self, folder: Path) -> None:
        if self._job_of(folder) is not None:
            self._jobs.cancel(self._job_ids[folder])
        else:
            self._run(folder, sweep_order(folder, folder.name))

    @Slot()
    def _ask_folder(self) -> None:
        dialog = QFileDialog(
            self._shell.window, translate("Sweeps", "Open the folder of a sweep"), str(self._root.parent)
        )
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._open_folder)
        open_dialog(dialog)

    @Slot(str)
    def _open_folder(self, folder: str) -> None:
        self.show().open(Path(folder))

    @Slot(object)
    def _open_report(self, report: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(report))):
            self._notify(translate("Sweeps", "No browser responded. The report is {0}.").format(report))

    @Slot(object, str)
    def use(self, cell: CellRow, proof: str) -> None:
        """Take the cell's settings for the next run. proof: what is proven of them, and what is not."""
        before = self._shell.settings.current
        try:
            after = with_cell(before, cell)
        except ValueError as error:
            self._notify(str(error), Severity.WARNING)
            return
        self._shell.settings.change(after)
        undo = partial(self._shell.settings.change, before)
        text = f"{applied_text(cell)} {proof}"
        notice = Notice(_KEY, Severity.INFO, text, action=translate("Sweeps", "&Undo"), on_action=undo, is_answer=True)
        self._shell.banner.show_notice(notice)

    @Slot(str)
    def _notify_trouble(self, sentence: str) -> None:
        self._notify(sentence, Severity.WARNING)

    def _notify(self, text: str, severity: Severity = Severity.INFO) -> None:
        self._shell.banner.notify(text, severity, _KEY, is_answer=True)
