"""The composition root: builds every part once, connects them, and takes them down in order."""

from __future__ import annotations

import logging
from contextlib import suppress

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from core.domain.candle_series import CandleSeries
from core.domain.clock import SystemClock
from core.domain.events import JobProgress, Severity
from core.market.feeds.rate_limits import RateLimitHolds
from core.settings.tree import Settings
from core.storage.errors import StorageError
from core.storage.ownership import mark_ready
from core.training.hosting.catch_up import JOB_ID
from desktop.actions import ActionId
from desktop.app.context import Context
from desktop.app.database_opening import CHECK_JOB, DatabaseOpener
from desktop.app.market_services import MarketServices
from desktop.app.notices import BackupNotices, show_start_notices
from desktop.app.run_display import RunDisplay
from desktop.chart.controllers.composition import ChartEnsemble
from desktop.chart.widget import ChartWidget
from desktop.checkpoints.tools import CheckpointTools
from desktop.checkpoints.transfer import FILES_JOB
from desktop.dialogs.messages import open_dialog
from desktop.finder.finder import Finder
from desktop.jobs.manager import JobManager
from desktop.layouts.arrangements import DockSizes
from desktop.layouts.store import LayoutStore
from desktop.layouts.window_size import set_first_size
from desktop.notifications.alerts_elsewhere import AlertsElsewhere
from desktop.notifications.ghost_alerts import GhostAlerts
from desktop.notifications.run_watch import RunWatch
from desktop.overview.overview import Overview
from desktop.services.backup_watch import BackupWatch
from desktop.services.history_watch import HistoryWatch
from desktop.services.machine_watch import MachineWatch
from desktop.services.market_choice import MarketChoice
from desktop.services.passing_fault_watch import PassingFaultWatch
from desktop.services.record_watch import AccuracyWatch, LeaderboardWatch
from desktop.services.replay_wait import ReplayWait
from desktop.services.run_controller import READING_JOB, RunController
from desktop.services.step_watch import StepWatch
from desktop.services.trainer import Trainer
from desktop.services.training_break import LONG_MINUTES, SHORT_MINUTES, TrainingBreak
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.feed_record import exchange_market
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore, SettingsWriter
from desktop.sweeps.controller import Sweeps
from desktop.ui.accessible import FocusRing
from desktop.ui.banner import Banner
from desktop.ui.interface_size import InterfaceSize, set_font
from desktop.ui.paint_in_turn import FirstPaint
from desktop.ui.resources import icon_path
from desktop.ui.theme import Theme
from desktop.ui.translation import translate
from desktop.window.main_window import MainWindow

_ENDS_WITHIN_MS = 60_000
"""A slow disk may be reading a page."""
_log = logging.getLogger("ghostcandle")


class Application(QObject):
    """Everything that one window needs. Lives from `start` to `finished`."""

    def __init__(self, context: Context, qt: QApplication) -> None:
        super().__init__()
        self._context = context
        self._clock = SystemClock()
        self.database = WindowDatabase(context.folder)
        self.theme = Theme(parent=self)
        self.theme.apply_to(qt)
        set_font(qt, context.settings.appearance)
        FocusRing(qt, self.theme, self)
        self.state = RunState(self._clock, self)
        self.chart = ChartWidget(self.theme, self._clock)
        self._make_window()
        self._make_charting()
        self.run_watch = RunWatch(self._shell, self.state, self.window.messages)
        self._make_market()
        self._make_overview()
        self._make_browser()
        self.finder = self._make_finder()
        self._make_side_work()
        self.display = RunDisplay(
            self.runs,
            self.watched,
            self.state,
            self.chart,
            self.charting,
            self.alerts_elsewhere,
            self.database,
            self._shell,
        )
        self._connect_user()
        self._connect_side_work()
        self.first_paint = FirstPaint(self.window, self)
        market = exchange_market(self.settings.current.market)
        self._opener = DatabaseOpener(context.folder, self._clock, self, market)
        self._opener.previewed.connect(self.charting.candles.preview)
        self._opener.progressed.connect(self._show_check)
        self._opener.opened.connect(self._begin)
        self._opener.failed.connect(self._on_not_opened)

    def _make_window(self) -> None:
        context = self._context
        self._layout = None if context.is_safe_mode else LayoutStore(context.folder.layout, context.settings.appearance)
        self.settings = SettingsStore(context.settings, self)
        self.settings_writer = SettingsWriter(context.folder.settings, self)
        self.banner = Banner(self.theme)
        self.source = CheckpointSource(self.database, self.state, self)
        self.market_choice = MarketChoice(self.settings, self)
        self.window = MainWindow(
            self.state,
            self.theme,
            self.chart,
            self.banner,
            self.source,
            self.settings,
            self.market_choice,
            context.folder.root,
            self._layout,
        )
        self._shell, self._panels = self.window.shell, self.window.panels
        interface_size = InterfaceSize(self.window, context.settings.appearance)
        DockSizes(self.window, self.window.docks.values()).follow(interface_size)
        self.window.setWindowIcon(QIcon(str(icon_path())))

    def _make_charting(self) -> None:
        self.charting = ChartEnsemble(
            self._shell,
            self.chart,
            self.state,
            self.source,
            self.window.messages,
            self.database,
            self._context.folder,
            self.database.record,
            self.theme,
        )
        self.charting.incident_chosen.connect(self.window.show_incident)
        self.charting.checkpoint_chosen.connect(self.window.show_checkpoint)
        self.window.closing.connect(self.charting.stop)
        self.alerts_elsewhere = AlertsElsewhere(
            self._shell,
            self.state,
            self.database,
            self.window.messages,
            self._panels.markets,
            self.market_choice.watch,
        )
        self.ghost_alerts = GhostAlerts(
            self._shell, self.state, self.database, self.window.messages, self._context.folder
        )

    def _make_market(self) -> None:
        """Markets and run controller share how long an exchange asks to be left alone."""
        context = self._context
        holds = RateLimitHolds(self._clock)
        is_stored = self.database.has_candles
        self.market_services = MarketServices(
            self.settings,
            self._panels.markets,
            self.state,
            context.folder,
            self._clock,
            context.urls,
            is_stored,
            holds,
            parent=self.window,
        )
        self.window.ask_market = self.market_services.check.ask
        group = (context.settings.market, *context.others) if context.others else ()
        self.trainer = Trainer(self.database, self.state, self)
        self.watched = WatchedMarkets(
            context.folder, self.state, self.trainer, group, new_run=context.new_run, parent=self
        )
        self.runs = RunController(
            self.watched,
            self.database,
            self.state,
            context.urls,
            limit=context.candles,
            group=group,
            holds=holds,
            check=self.market_services.check,
            parent=self,
        )
        ReplayWait(self.watched, self.state, self.settings, self)
        self.market_services.check.is_watching = lambda: self.watched.market is not None
        self.market_choice.show_watched = self.runs.show
        self.market_choice.is_stored = is_stored
        self.watched.opened.connect(self.market_choice.opened)
        self.runs.refused.connect(self.market_choice.refused)

    def _make_overview(self) -> None:
        pages, file = self.window.pages, self._context.folder.database
        markets = self.state.markets
        self.overview = Overview(self._shell, pages, markets, self.database, file, self.theme, self._clock)
        self.overview.market_requested.connect(self.market_choice.open_listed)
        self.overview.list_requested.connect(self.window.show_markets)
        self.watched.opened.connect(self.overview.show_market)

    def _make_browser(self) -> None:
        self.browser = CheckpointTools(
            self._shell,
            self.chart,
            self.state,
            self.source,
            self._panels.checkpoints,
            self.database,
            self._context.folder,
            self.database.record,
            self.window.command_requested.emit,
        )
        models = self._panels.accuracy.details.models
        models.ghosts_requested.connect(self.browser.previews.make_room)
        self.browser.previews.shown.connect(models.clear_ticks)

    def _make_finder(self) -> Finder:
        """The finder opens by its shortcut, by letters typed on the chart, and by the button above it."""
        lists = self.market_services.lists
        stored = self.database.stored_markets
        finder = Finder(self._shell, self.theme, self.source, self.market_choice, lists.known, stored, lists.request)
        finder.checkpoint_chosen.connect(self.window.show_checkpoint)
        finder.setting_chosen.connect(self.window.open_setting)
        finder.indicator_chosen.connect(self.charting.indicators.add)
        lists.ready.connect(finder.update_symbols)
        self.chart.typed.connect(finder.open_markets)
        self.charting.bar.market_wanted.connect(finder.open_markets)
        return finder

    def _make_side_work(self) -> None:
        """Work beside the run, each on a separate thread, process or timer."""
        folder = self._context.folder
        self.history = HistoryWatch(self.database, self)
        self.history.changed.connect(self.charting.reload)
        self.jobs = JobManager(
            self._shell,
            self.state,
            self.source,
            self._panels.jobs,
            self.market_choice,
            self.database,
            folder,
            self._context.urls,
        )
        self.jobs.began.connect(self.window.show_jobs)
        self._panels.checkpoints.evaluate_requested.connect(self.jobs.ask_evaluation)
        self._panels.checkpoints.page_requested.connect(self.jobs.open_page)
        self.jobs.job_ended.connect(self.run_watch.notify_of_job)
        self.sweeps = Sweeps(self._shell, self.window.pages, self.state, self.jobs, folder, self.theme)
        self.machine = MachineWatch(self)
        self.machine.reading_changed.connect(self.window.status.show_reading)
        self.backups = BackupWatch(folder, lambda: self.settings.current.backups, self._clock, self)
        self.backups.progressed.connect(self.state.apply)
        BackupNotices(self._shell, self.backups, folder)
        self.faults = PassingFaultWatch(self.state, self.banner, folder, self._clock, self)
        self.faults.restart_requested.connect(
            lambda feed, training: self.runs.restart_stopped(self.settings.current, feed=feed, training=training)
        )
        self.training_break = TrainingBreak(self.state, self.banner, self._clock, self)
        self.accuracy = AccuracyWatch(self.state, folder.database, self.settings, self)
        self._panels.accuracy.wanted.connect(self.accuracy.want)
        self.leaderboard = LeaderboardWatch(self.state, folder.database, self)
        self._panels.accuracy.details.models.ranking_requested.connect(self.leaderboard.want)
        self.steps = StepWatch(self.state, self._panels.curves, folder.database, self)
        for panel in (self._panels.loss, self._panels.gradients):
            panel.wanted.connect(self.steps.want)

    @property
    def series(self) -> CandleSeries | None:
        """The watched market's candles, at its own interval."""
        return None if self.state.market is None else self.charting.candles.stored

    def start(self) -> None:
        """Show the window; the feed and the trainer come after the first paint."""
        if self._context.is_safe_mode or not self._context.folder.layout.exists():
            set_first_size(self.window)
        show_start_notices(self.banner, self._context, self._layout)
        # Until the database is open nothing reads or writes it: data written to a damaged one would be lost when its
        # backup replaces it.
        self.first_paint.happened.connect(self._opener.start)
        self.first_paint.happened.connect(self.machine.start)
        self.window.show()

    async def close(self) -> None:
        """End feed and training, then close the database and delete every widget."""
        self.jobs.begin_to_close()
        self._opener.opened.disconnect()
        self._opener.skip()
        if not self._opener.wait(_ENDS_WITHIN_MS):
            _log.error("The thread that checks the database did not end in time.")
        self.history.close()
        self.accuracy.close()
        self.leaderboard.close()
        self.steps.close()
        self.ghost_alerts.close()
        self.charting.cancel_reading()
        self.training_break.close()
        self.faults.close()
        if not self.backups.close():
            _log.error("The backup that was under way did not end in time.")
        if not self.machine.close():
            _log.error("The thread that looks at the machine did not end in time.")
        await self.market_services.close()
        await self.runs.close()
        await self.display.close()
        self.charting.cancel_reading()  # a market that was just being opened may have begun to load
        finished = self.charting.wait_for_reading(), self.overview.finish(), self.sweeps.finish()
        if not all(finished):
            _log.error("A thread that reads stored candles or sweeps did not end in time.")
        if not self.charting.saving.finish():
            _log.error("The candles that were being exported took too long; the file was left as it was.")
        if not self.browser.transfer.finish():
            _log.error("The checkpoint files that were being read or written took too long.")
        await self.jobs.close()
        if not self.settings_writer.finish():
            _log.error("The settings took too long to be written.")
        self.database.close()
        self.window.deleteLater()
        self.deleteLater()

    @Slot(str)
    def _on_not_opened(self, sentence: str) -> None:
        self.banner.notify(sentence, Severity.ERROR, key="database")
        self.chart.set_empty_text(sentence)

    @Slot(object)
    def _show_check(self, progress: JobProgress) -> None:
        self.state.apply(progress)
        if not progress.is_over:
            self.chart.set_empty_text(translate("Window", "{0}. Candles follow.").format(progress.title))

    @Slot(object)
    def _begin(self, notice: str | None) -> None:
        """Called once the database is intact. notice: how a damaged one was recovered."""
        try:
            self.database.open()
            self.history.start()
        except StorageError as error:
            self._on_not_opened(str(error))
            return
        if notice is not None:
            self.banner.notify(notice, Severity.WARNING, key="database")
        with suppress(OSError):  # history commands then wait for a window that seems to be starting
            mark_ready(self._context.folder)
        self.display.begin()
        self.backups.start()
        if self._context.is_first_start:
            from desktop.dialogs.welcome import WelcomeDialog  # noqa: PLC0415 - after the first paint

            welcome = WelcomeDialog(self.settings.current, self.window)
            welcome.chosen.connect(self._on_welcome)
            self.machine.reading_changed.connect(welcome.show_machine)
            open_dialog(welcome)
        else:
            self._open_market()

    @Slot(object)
    def _on_welcome(self, settings: Settings) -> None:
        """Save the answer even if nothing was chosen: the next start does not ask again."""
        self.settings.change(settings)
        self._open_market()

    @Slot()
    def _open_market(self) -> None:
        if self.database.is_open:
            self.runs.open(self.settings.current)

    def _connect_user(self) -> None:
        window = self.window
        window.command_requested.connect(self.trainer.send)
        window.start_requested.connect(self._on_start)
        window.stop_requested.connect(self.trainer.stop)
        window.try_again_requested.connect(self.runs.try_again)
        window.try_again_requested.connect(self.market_services.try_again)  # after the hold was dropped
        self.market_choice.chosen.connect(self._open_market)
        if not self._context.is_safe_mode:
            self.settings.changed.connect(self.settings_writer.save)
        self.settings_writer.failed.connect(self._on_not_saved)
        self.settings.changed.connect(self.runs.learn)
        pause = self.training_break
        pause.stop_requested.connect(self.trainer.stop)
        pause.start_requested.connect(self._on_start)
        self._shell.actions.wire(
            {
                ActionId.FREE_DEVICE: lambda: pause.begin(None),
                ActionId.FREE_DEVICE_SHORT: lambda: pause.begin(SHORT_MINUTES),
                ActionId.FREE_DEVICE_LONG: lambda: pause.begin(LONG_MINUTES),
            }
        )

    def _connect_side_work(self) -> None:
        """Connect the jobs of other parts that the list of jobs can cancel."""
        self.jobs.job_ended.connect(lambda _job: self.history.look())
        answer = self.jobs.answer_cancel
        stopped = translate("Window", "Training was stopped with a checkpoint; Start continues from it.")
        answer(JOB_ID, lambda _id: self.trainer.stop(), stopped)
        skipped = translate("Window", "The check was skipped; the next start runs it.")
        answer(CHECK_JOB, lambda _id: self._opener.skip(), skipped)
        before = translate("Window", "The files before it are done.")
        answer(FILES_JOB, lambda _id: self.browser.transfer.cancel(), before)
        stays = translate("Window", "The market is unchanged.")
        answer(READING_JOB, lambda _id: self.runs.cancel_reading(), stays)

    @Slot()
    def _on_start(self) -> None:
        if self.state.market is None:
            self._open_market()
        else:
            self.runs.start_training(self.settings.current)

    @Slot(str)
    def _on_not_saved(self, why: str) -> None:
        words = translate(
            "Window",
            "The settings could not be saved ({0}). They apply now; the next change, or closing the window, tries to "
            "save them again.",
        )
        self.banner.notify(words.format(why), Severity.WARNING)
