"""Starts and ends jobs: dialogs, child processes, the list, and the storage of evaluations."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QEvent, QObject, Signal, Slot

from core.checkpoints.row import CheckpointRow, evaluation_of
from core.domain.candle import Market
from core.domain.dates import calendar_moment
from core.domain.events import Severity
from core.market.feeds.venue import ExchangeUrls
from core.market.shown_names import shown_market, shown_symbol
from core.storage.browsing import add_evaluation
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.dialogs.messages import open_dialog
from desktop.jobs.child import ChildProcess, Ending
from desktop.jobs.job_commands import Order, in_fields, share_order
from desktop.jobs.panel import JobsPanel
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.job_list import JobState
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.state.training_words import is_learning
from desktop.ui.banner import Notice
from desktop.ui.file_drop import FileDrop
from desktop.ui.plain_text import MessageBox
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from desktop.jobs.form import JobDialog
    from desktop.jobs.history_dialogs import BackfillDialog, ImportDialog
    from desktop.jobs.model_dialogs import EvaluateDialog, PretrainDialog

MOST_AT_ONCE = 4
_OFFERED = 30
_URLS_VARIABLE = "GHOSTCANDLE_EXCHANGE_URLS"
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_PATIENCE_S = 25.0
_KEY = "job"
_log = logging.getLogger("ghostcandle")

Dialog = TypeVar("Dialog", bound="JobDialog")


class JobManager(QObject):
    """Owns the window's child processes. Call `close` before the window is deleted."""

    began = Signal()
    """A job of the user's was started: the list is to be shown."""
    job_ended = Signal(object)
    """Job: done or failed, not cancelled."""

    def __init__(
        self,
        shell: Shell,
        state: RunState,
        source: CheckpointSource,
        panel: JobsPanel,
        market_choice: MarketChoice,
        database: WindowDatabase,
        folder: DataFolder,
        urls: ExchangeUrls | None = None,
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._state, self._database, self._folder = shell, state, database, folder
        self._urls = urls
        self._children: dict[str, tuple[ChildProcess, Order]] = {}
        self._waiting: dict[str, Order] = {}
        """Orders by their job's id, until training is paused or over."""
        self._cancellers: list[tuple[str, Callable[[str], object], str]] = []
        self._number = 0
        self._may_close = self._is_closed = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._source, self._panel, self._market_choice = source, panel, market_choice
        panel.can_cancel = self.can_cancel
        panel.cancel_requested.connect(self.cancel)
        panel.market_requested.connect(self._open_market)
        panel.replay_requested.connect(market_choice.replay_file)
        panel.trouble.connect(lambda sentence: self._notify(sentence, is_bad=True))
        shell.actions.wire(
            {
                ActionId.IMPORT_CANDLES: lambda: self.ask_import(),
                ActionId.FETCH_HISTORY: self.ask_backfill,
                ActionId.PRETRAIN: self.ask_pretraining,
                ActionId.EVALUATE: lambda: self.ask_evaluation(None),
                ActionId.SHARE_RUN: self.share_run,
            }
        )
        for signal in (state.status_changed, state.run_changed, state.feed_changed):
            signal.connect(self._start_waiting)
        shell.window.installEventFilter(self)
        FileDrop(shell.window, self.ask_import)

    def answer_cancel(self, prefix: str, cancel: Callable[[str], object], result: str) -> None:
        """Cancel jobs of other parts, whose ids begin with `prefix`. result: the sentence in the list."""
        self._cancellers.append((prefix, cancel, result))

    def can_cancel(self, job_id: str) -> bool:
        return job_id in self._children or job_id in self._waiting or bool(self._answers(job_id))

    @Slot(str)
    def cancel(self, job_id: str) -> None:
        """Ask a job to end; complete results are kept."""
        if not self.can_cancel(job_id) or self._state.jobs.find(job_id) is None:
            return
        if (order := self._waiting.pop(job_id, None)) is not None:
            self._state.jobs.finish(job_id, JobState.CANCELLED, order.cancelled)
            self._state.jobs_changed.emit()
            return
        answers = self._answers(job_id)
        self._state.jobs.cancelling(job_id, " ".join(result for _cancel, result in answers))
        self._state.jobs_changed.emit()
        if job_id in self._children:
            self._children[job_id][0].cancel()
        for cancel, _result in answers:
            cancel(job_id)

    def _answers(self, job_id: str) -> list[tuple[Callable[[str], object], str]]:
        return [(cancel, result) for prefix, cancel, result in self._cancellers if job_id.startswith(prefix)]

    def begin(self, order: Order) -> str | None:
        """Start it, and show it in the list. Returns its id, or None, with a notice, if it was not started."""
        if self._is_closed or len(self._children) >= MOST_AT_ONCE:
            text = translate("Jobs", "{0} jobs are running. Wait for one or cancel one, then try again.")
            self._notify(text.format(len(self._children)), is_bad=True)
            return None
        self._number += 1
        job_id = f"own job {self._number}"
        if order.waits and is_learning(self._state):
            self._waiting[job_id] = order
            self._list(job_id, order)
            self._state.jobs.advance(job_id, translate("Jobs", "Waits until training is paused or over"), 0, 0, None)
            self._state.jobs_changed.emit()
            return job_id
        try:
            scratch = self._make_folder(job_id, order)
        except OSError as error:
            text = translate("Jobs", "“{0}” could not be started: the data folder cannot be written ({1}).")
            self._notify(text.format(order.title, error.strerror or error), is_bad=True)
            return None
        environment = self._environment(scratch if order.works_aside else None)
        child = ChildProcess(self._command_line(order.arguments), environment, self)
        child.progressed.connect(lambda *progress: self._on_progress(job_id, *progress))
        child.message_received.connect(lambda sentence: self._on_message(job_id, sentence))
        child.over.connect(lambda ending: self._on_over(job_id, ending))
        self._children[job_id] = (child, order)
        self._idle.clear()
        self._list(job_id, order)
        child.start()
        return job_id

    def _list(self, job_id: str, order: Order) -> None:
        self._state.jobs.begin(job_id, order.title)
        self._state.jobs_changed.emit()
        if not order.has_own_page:
            self.began.emit()
        self._panel.select(job_id)

    @Slot()
    def _start_waiting(self) -> None:
        """Start what waited for training to end, unless the window is being closed."""
        if not self._waiting or is_learning(self._state):
            return
        waiting, self._waiting = self._waiting, {}
        for job_id, order in waiting.items():
            self._state.jobs.drop(job_id)
            self.begin(order)

    def ask_import(self, files: Sequence[Path] = ()) -> ImportDialog:
        """files: already chosen."""
        from desktop.jobs.history_dialogs import ImportDialog  # noqa: PLC0415 - after the first paint

        def start_child(arguments: Sequence[str], owner: QObject) -> ChildProcess:
            """A child that is not in the list; `owner` ends it."""
            return ChildProcess(self._command_line(arguments), self._environment(None), owner)

        return self._ask(ImportDialog(self._shell.window, start_child=start_child, files=files))

    @Slot()
    def ask_backfill(self) -> BackfillDialog:
        from desktop.jobs.history_dialogs import BackfillDialog  # noqa: PLC0415 - after the first paint

        return self._ask(
            BackfillDialog(self._shell.settings.current.market, self._state.clock.now_ms(), self._shell.window)
        )

    @Slot()
    def ask_pretraining(self) -> PretrainDialog:
        from desktop.jobs.model_dialogs import PretrainDialog  # noqa: PLC0415 - after the first paint

        return self._ask_beside(PretrainDialog(self._shell.settings.current.training.device, self._shell.window))

    @Slot(object)
    def ask_evaluation(self, chosen: CheckpointRow | None) -> EvaluateDialog:
        """Ask for the checkpoint and the file. chosen: preselected; None: the best of the run."""
        from desktop.jobs.model_dialogs import EvaluateDialog  # noqa: PLC0415 - after the first paint

        source, catalog, best = self._source, self._source.catalog, self._source.best()
        ids = [] if chosen is None else [chosen.info.checkpoint_id]
        newest = source.checkpoints()[:_OFFERED]
        ids += [info.checkpoint_id for info in (*((best,) if best is not None else ()), *newest)]
        offered = [row for id_ in dict.fromkeys(ids) if (row := catalog.get(id_)) is not None]
        first = offered[0].info.checkpoint_id if offered else None
        device = self._shell.settings.current.training.device
        dialog = EvaluateDialog(offered, first, self._folder.reports, self._now(), device, self._shell.window)
        return self._ask_beside(dialog)

    @Slot()
    def share_run(self) -> None:
        run_id, market = self._state.run_id, self._state.market
        if run_id is None or market is None:
            self._notify(translate("Jobs", "There is no run to share yet. Start training first."), is_bad=True)
            return
        self.begin(share_order(run_id, market, self._folder.reports, self._now()))

    def _now(self) -> datetime:
        return calendar_moment(self._state.clock.now_ms()).astimezone()

    def begin_to_close(self) -> None:
        """Ask all children to end, and start no other."""
        self._is_closed = True
        for job_id in (*self._waiting, *self._children):
            self.cancel(job_id)

    async def close(self) -> None:
        """Ask all children to end, wait, and kill those that do not."""
        self.begin_to_close()
        try:
            await asyncio.wait_for(self._idle.wait(), _PATIENCE_S)
        except TimeoutError:
            _log.error("A job did not end in time and was killed.")
        self.kill()
        shutil.rmtree(self._folder.jobs, ignore_errors=True)

    def kill(self) -> None:
        for child, _order in list(self._children.values()):
            child.kill()

    def let_close(self) -> None:
        """Close the window without the question, as there may be no user to answer it."""
        self._may_close = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A window with running jobs asks before it closes."""
        if event.type() is QEvent.Type.Close and (self._children or self._waiting) and not self._may_close:
            event.ignore()
            self._ask_to_close()
            return True
        return False

    def _ask_to_close(self) -> None:
        box = MessageBox(self._shell.window)
        box.setIcon(MessageBox.Icon.Question)
        box.setWindowTitle(translate("Jobs", "Jobs are running"))
        orders = (*(order for _child, order in self._children.values()), *self._waiting.values())
        titles = "\n".join(order.title for order in orders)
        box.setText(translate("Jobs", "Close the window and end the jobs?") + f"\n\n{titles}")
        box.setInformativeText(translate("Jobs", "Completed parts are kept; nothing half-written is left behind."))
        end = box.addButton(translate("Jobs", "&End jobs and close"), MessageBox.ButtonRole.DestructiveRole)
        stay = box.addButton(translate("Jobs", "&Keep open"), MessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)

        def close_window() -> None:
            self.let_close()
            self._shell.window.close()

        end.clicked.connect(close_window)
        open_dialog(box)

    def _ask_beside(self, dialog: Dialog) -> Dialog:
        """Ask for a job that takes as much of the machine as training does."""
        if is_learning(self._state):
            dialog.offer_waiting()
        return self._ask(dialog)

    def _ask(self, dialog: Dialog) -> Dialog:
        dialog.ordered.connect(self.begin)
        return open_dialog(dialog)

    def _make_folder(self, job_id: str, order: Order) -> Path:
        """A folder for the child's temporary files, deleted when it ends. Raises OSError."""
        if not self._children:
            shutil.rmtree(self._folder.jobs, ignore_errors=True)  # of a window that crashed
        scratch = self._folder.jobs / job_id.replace(" ", "-")
        scratch.mkdir(parents=True, exist_ok=True)
        if order.page is not None:
            order.page.parent.mkdir(parents=True, exist_ok=True)
        return scratch

    def _command_line(self, arguments: Sequence[str]) -> list[str]:
        command, *rest = arguments
        return [command, "--json", "--progress-lines", "--data-dir", str(self._folder.root), *rest]

    def _environment(self, scratch: Path | None) -> Mapping[str, str]:
        variables = {} if scratch is None else dict.fromkeys(_TEMPORARY, str(scratch))
        if self._urls is not None:
            variables[_URLS_VARIABLE] = json.dumps(asdict(self._urls))
        return variables

    def _on_progress(self, job_id: str, doing: str, done: int, total: int, seconds_left: float | None) -> None:
        self._state.jobs.advance(job_id, doing, done, total, seconds_left)
        self._state.jobs_changed.emit()

    def _on_message(self, job_id: str, sentence: str) -> None:
        self._state.jobs.set_finding(job_id, sentence)
        self._state.jobs_changed.emit()

    def _on_over(self, job_id: str, ending: Ending) -> None:
        child, order = self._children.pop(job_id)
        child.deleteLater()
        shutil.rmtree(self._folder.jobs / job_id.replace(" ", "-"), ignore_errors=True)
        state, result, market = self._outcome(order, ending)
        page = order.page if state is JobState.DONE and order.page is not None and order.page.is_file() else None
        if state is JobState.DONE and order.checkpoint_id is not None and ending.summary is not None:
            result = f"{result} {self._store_evaluation(ending.summary, page)}"
        file = None if market is None or ending.summary is None else order.replayable_of(ending.summary)
        job = self._state.jobs.finish(job_id, state, result.strip(), page, market, file)
        self._state.jobs_changed.emit()
        if not self._children:
            self._idle.set()
        self._announce(order, state, result, page, market, file)
        if job is not None and not self._is_closed and state is not JobState.CANCELLED:
            self.job_ended.emit(job)

    def _outcome(self, order: Order, ending: Ending) -> tuple[JobState, str, Market | None]:
        """The job's result, with the market to open if it is done and has one."""
        if ending.summary is None and ending.was_cancelled:
            return JobState.CANCELLED, order.cancelled, None
        if ending.summary is None:
            return JobState.FAILED, in_fields(ending.sentence), None
        try:
            result = order.summarise(ending.summary)
        except (KeyError, TypeError, ValueError, StopIteration):
            _log.exception("A job's answer does not have the expected form.")
            text = translate("Jobs", "It finished, but its result could not be read; see the log for details.")
            return JobState.FAILED, text, None
        if ending.summary.get("interrupted"):
            return JobState.CANCELLED, result, None
        try:
            return JobState.DONE, result, order.market_of(ending.summary)
        except (KeyError, TypeError, ValueError):  # the summary does not name it well
            return JobState.DONE, result, None

    def _store_evaluation(self, summary: Mapping[str, Any], page: Path | None) -> str:
        """Store the evaluation with the checkpoint. Returns a sentence about the result."""
        if not self._database.is_open:
            return ""
        try:
            named = "" if page is None else self._folder.relative(page)
            found = evaluation_of(summary, self._state.clock.now_ms(), named)
            add_evaluation(self._database.db, found)
        except (StorageError, KeyError, TypeError, ValueError) as error:
            return translate("Jobs", "It could not be stored with the checkpoint: {0}").format(error)
        self._source.read_again([found.checkpoint_id])
        return translate("Jobs", "It is stored with the checkpoint, in the column Evaluated.")

    def _announce(
        self,
        order: Order,
        state: JobState,
        result: str,
        page: Path | None,
        market: Market | None,
        file: Path | None,
    ) -> None:
        """file: can be replayed."""
        if self._is_closed:
            return
        severity = Severity.WARNING if state is JobState.FAILED else Severity.INFO
        template = {
            JobState.DONE: translate("Jobs", "{0}: {1}") if page is None else translate("Jobs", "{0}: done."),
            JobState.CANCELLED: translate("Jobs", "{0}: cancelled. {1}"),
        }.get(state, translate("Jobs", "{0} failed: {1}"))
        text, passes = template.format(order.title, result), state is not JobState.FAILED
        notice = Notice(_KEY, severity, text, details=result, is_answer=True, passes=passes)
        if page is not None:
            notice = replace(
                notice, action=translate("Jobs", "Open report"), on_action=lambda: self._panel.open_page(page)
            )
        elif market is not None and market != self._state.market:
            notice = replace(
                notice,
                action=translate("Jobs", "Open {0}").format(shown_symbol(market.venue, market.symbol)),
                on_action=lambda: self._market_choice.open_stored(market),
            )
        if file is not None:
            replay = partial(self._market_choice.replay_file, file)
            notice = replace(notice, option=translate("Jobs", "Replay {0}").format(file.name), on_option=replay)
        self._shell.banner.show_notice(notice)

    def _open_market(self, market: Market) -> None:
        if market == self._state.market:
            self._notify(translate("Jobs", "{0} is on the chart already.").format(shown_market(market)))
        else:
            self._market_choice.open_stored(market)

    @Slot(str)
    def open_page(self, file: str) -> None:
        """file: relative to the data folder, as it is stored."""
        try:
            self._panel.open_page(self._folder.absolute(file))
        except StorageError as error:
            self._notify(str(error), is_bad=True)

    def _notify(self, sentence: str, *, is_bad: bool = False) -> None:
        self._shell.banner.notify(sentence, Severity.WARNING if is_bad else Severity.INFO, key=_KEY, is_answer=True)
