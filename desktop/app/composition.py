"""The composition root: builds every part once, connects them, and takes them down in order."""

from __future__ import annotations

import logging
from dataclasses import replace

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock, SystemClock
from core.domain.events import CANDLE_SET_ASIDE, EventBatch, Incident, JobProgress, Severity, TrainerReady
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.holds import RateLimitHolds
from core.market.shown_names import shown_market
from core.settings import tree as settings_file
from core.settings.tree import MarketSettings, Settings
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.training.commands import (
    ApplyDeletions,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetDevice,
    SetDuty,
    SetLearningRate,
    SetPaused,
    StepOnce,
)
from core.training.hosting.catch_up import JOB_ID
from desktop.actions import ActionId
from desktop.app.backup_words import BackupWords
from desktop.app.context import Context
from desktop.app.database_opening import CHECK_JOB, CONVERSION_JOB, DatabaseOpener
from desktop.app.start_messages import tell_of_start
from desktop.app.watchlist import Watching
from desktop.chart.controllers.ensemble import ChartEnsemble
from desktop.chart.widget import ChartWidget
from desktop.checkpoints.exchange import FILES_JOB
from desktop.checkpoints.tools import CheckpointTools
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.welcome import WelcomeDialog
from desktop.finder.finder import Finder
from desktop.jobs.manager import JobDesk
from desktop.layouts.arrangements import DockSizes
from desktop.layouts.on_screen import ScreenKeeper, take_first_size
from desktop.layouts.store import LayoutStore
from desktop.notifications.watch import RunWatch
from desktop.services.accuracy_watch import AccuracyWatch
from desktop.services.backup_watch import BackupWatch
from desktop.services.disk_space_watch import RoomWatch
from desktop.services.file_reading import READING_JOB
from desktop.services.machine_watch import MachineWatch
from desktop.services.remote_commands import VISIT_JOB, HistoryVisits
from desktop.services.run_controller import RunController
from desktop.services.training_break import LONG_MINUTES, SHORT_MINUTES, TrainingBreak
from desktop.state.database import WindowDatabase
from desktop.state.feed_record import exchange_market
from desktop.state.library import Library
from desktop.state.run_state import DRIFTS_KEPT, INCIDENTS_KEPT, RunState
from desktop.state.step_history import STEPS_KEPT
from desktop.ui.banner import Notice
from desktop.ui.first_paint import FirstPaint
from desktop.ui.focus_ring import FocusRing
from desktop.ui.interface_size import InterfaceSize, set_font
from desktop.ui.resources import icon_path
from desktop.ui.theme import Theme
from desktop.ui.translation import translate
from desktop.window.main_window import MainWindow

_ENDS_WITHIN_MS = 60_000
"""An older database may just be brought up to date."""
_FELL_BACK = "feed"
"""The banner's key of why another market is shown than the one that was asked for."""
_REFUSED = "refused market"
"""That of why the market is still the one before."""
_VISIT = "history command"
"""That of what a command beside the window has stored."""
_log = logging.getLogger("ghostcandle")


class Application(QObject):
    """Everything that one window needs. Lives from `start` to `finished`."""

    def __init__(self, context: Context, qt: QApplication, clock: Clock | None = None) -> None:
        super().__init__()
        self._context = context
        self._clock = clock or SystemClock()
        self._database = WindowDatabase(context.folder)
        self._library = Library(self._database, self._clock)
        self.theme = Theme(parent=self)
        self.theme.apply_to(qt)
        set_font(qt, context.settings.appearance)
        FocusRing(qt, self.theme, self)
        self.state = RunState(self._clock, self)
        self.chart = ChartWidget(self.theme, self._clock)
        self._layout = None if context.is_safe_mode else LayoutStore(context.folder.layout, context.settings.appearance)
        self.window = MainWindow(
            self.state, self.theme, self.chart, self._library, context.settings, context.folder.root, self._layout
        )
        interface_size = InterfaceSize(self.window, context.settings.appearance)
        DockSizes(self.window, self.window.docks.values()).follow(interface_size)
        self.window.setWindowIcon(QIcon(str(icon_path())))
        self.charting = self._make_charting(context.folder)
        self.run_watch = RunWatch(self.window, self.state, self.window.messages)
        holds = RateLimitHolds(self._clock)
        is_stored = self._database.has_candles
        self.watching = Watching(self.window, self.state, context.folder, self._clock, context.urls, is_stored, holds)
        self.runs = RunController(
            context.folder,
            self._database,
            self._clock,
            context.urls,
            limit=context.candles,
            new_run=context.new_run,
            holds=holds,
            check=self.watching.check,
            parent=self,
        )
        self.watching.check.is_watching = lambda: self.runs.is_watching
        self.browser = CheckpointTools(
            self.window,
            self.chart,
            self.state,
            self._database,
            context.folder,
            self._library.steps,
            self.runs.send,
            self._clock,
        )
        self.finder = self._make_finder()
        self._make_side_work()
        self._market: Market | None = None
        self._connect_user()
        self._connect_run()
        self.screens = ScreenKeeper(self)
        self._first_paint = FirstPaint(self.window, self)
        market = exchange_market(self.window.settings.market)
        self._opener = DatabaseOpener(context.folder, self._clock, self, market)
        self._opener.previewed.connect(self.charting.candles.preview)
        self._opener.progressed.connect(self._show_check)
        self._opener.opened.connect(self._begin)
        self._opener.failed.connect(self._on_not_opened)

    def _make_charting(self, folder: DataFolder) -> ChartEnsemble:
        past, clock = self._library.past, self._clock
        return ChartEnsemble(self.window, self.chart, self.state, self._database, folder, past, clock, self.theme)

    def _make_finder(self) -> Finder:
        """Opened by its own keys, by letters typed on the chart, and by the button over it."""
        lists = self.watching.lists
        finder = Finder(self.window, self.theme, lists.known, self._database.stored_markets, lists.request)
        lists.ready.connect(finder.take_symbols)
        self.chart.typed.connect(finder.open_markets)
        self.charting.bar.market_wanted.connect(finder.open_markets)
        return finder

    def _make_side_work(self) -> None:
        """What goes on beside the run, each on a thread, a process or a timer of its own."""
        folder = self._context.folder
        self.history_visits = HistoryVisits(folder.database, lambda: self._database.is_open, self)
        self.jobs = JobDesk(self.window, self.state, self._database, folder, self._context.urls)
        self.jobs.told.connect(self.run_watch.tell_of_job)
        self.machine = MachineWatch(self)
        self.machine.told.connect(self.window.machine.show_reading)
        self.backups = BackupWatch(folder, lambda: self.window.settings.backups, self._clock, self)
        self.backups.progressed.connect(self.state.apply)
        BackupWords(self.window, self.backups, folder)
        self.room = RoomWatch(self.state, self.window.banner, folder.root, self._clock, self)
        self.room.go_on_requested.connect(
            lambda feed, training: self.runs.go_on(self.window.settings, feed=feed, training=training)
        )
        self.training_break = TrainingBreak(self.state, self.window.banner, self._clock, self)
        self.accuracy = AccuracyWatch(self.state, folder.database, lambda: self.window.settings.model.horizons, self)
        self.window.accuracy.wanted.connect(self.accuracy.want)

    @property
    def series(self) -> CandleSeries | None:
        """The watched market's candles, at its own interval."""
        return None if self._market is None else self.charting.candles.stored

    def start(self) -> None:
        """Show the window; the feed and the trainer come after the first paint."""
        if self._context.is_safe_mode or not self._context.folder.layout.exists():
            take_first_size(self.window)
        tell_of_start(self.window, self._context, self._layout)
        self._first_paint.happened.connect(self._open_database)
        self._first_paint.happened.connect(self.machine.start)
        self.window.show()
        self.screens.bring_back()

    async def close(self) -> None:
        """End feed and training, then let go of the database and of every widget."""
        self.jobs.begin_to_close()
        self._opener.opened.disconnect()
        self._opener.skip()
        self._opener.give_up_conversion()
        if not self._opener.wait(_ENDS_WITHIN_MS):
            _log.error("The thread that checks the database did not end in time.")
        self.history_visits.close()
        self.screens.close()
        self.accuracy.close()
        self.charting.cancel_reading()
        self.training_break.close()
        self.room.close()
        if not self.backups.close():
            _log.error("The backup that was under way did not end in time.")
        if not self.machine.close():
            _log.error("The thread that looks at the machine did not end in time.")
        await self.watching.close()
        await self.runs.close()
        self.charting.cancel_reading()  # a market that was just being opened may have begun to load
        if not self.charting.wait_for_reading():
            _log.error("The thread that reads stored candles did not end in time.")
        if not self.charting.saving.finish():
            _log.error("The candles that were being exported took too long; the file was left as it was.")
        if not self.browser.finish():
            _log.error("The checkpoint files that were being read or written took too long.")
        await self.jobs.close()
        if not self.history_visits.finish():
            _log.error("The thread that stores candles for a command did not end in time.")
        self.close_database()
        self.window.deleteLater()
        self.deleteLater()

    def close_database(self) -> None:
        """The last thing: nothing may read or write after it."""
        self._database.close()

    def connect_database(self) -> None:
        """Read and write one that was looked at already. Raises StorageError."""
        self._database.connect()

    @Slot()
    def _open_database(self) -> None:
        """The first thing after the first paint. Until it is over nothing reads or writes the database: what was
        written to a damaged one would be lost when its backup takes its place."""
        self._opener.start()

    @Slot(str)
    def _on_not_opened(self, sentence: str) -> None:
        self.window.tell(sentence, Severity.ERROR, key="database")
        self.chart.set_empty_text(sentence)

    @Slot(object)
    def _show_check(self, progress: JobProgress) -> None:
        self.state.apply(progress)
        if not progress.is_over:
            self.chart.set_empty_text(translate("Window", "{0}. Candles follow.").format(progress.title))

    @Slot(object)
    def _begin(self, notice: str | None) -> None:
        """The database is whole. notice: what became of a damaged one."""
        try:
            self.connect_database()
        except StorageError as error:
            self._on_not_opened(str(error))
            return
        if notice is not None:
            self.window.tell(notice, Severity.WARNING, key="database")
        self.state.begin(None, last_run_id=self._last_run_id())
        self.backups.start()
        if self._context.is_first_start:
            welcome = WelcomeDialog(self.window.settings, self.window)
            welcome.chosen.connect(self._on_welcome)
            self.machine.told.connect(welcome.show_machine)
            open_dialog(welcome)
        else:
            self._open_market()

    @Slot(object, bool)
    def _on_welcome(self, settings: Settings, needs_file: bool) -> None:
        """Saved also where nothing was chosen: the next start asks no more."""
        self.window.change_settings(settings)
        self._save_settings(settings)
        if needs_file:
            dialog = self.window.open_market()
            dialog.rejected.connect(self._open_market)
            dialog.ask_for_file()
        else:
            self._open_market()

    @Slot()
    def _open_market(self) -> None:
        if self._database.is_open:
            self.runs.open(self.window.settings)

    def _connect_user(self) -> None:
        window, send = self.window, self.runs.send
        window.start_requested.connect(self._on_start)
        window.stop_requested.connect(self.runs.stop_training)
        window.pause_requested.connect(lambda paused: send(SetPaused(paused)))
        window.step_requested.connect(lambda: send(StepOnce()))
        window.save_checkpoint_requested.connect(lambda: send(SaveCheckpoint()))
        window.restore_requested.connect(lambda id_: send(RestoreCheckpoint(id_)))
        window.recovery_started.connect(lambda way: send(RestoreCheckpoint(way.checkpoint_id, way.changes)))
        window.deletions_requested.connect(lambda: send(ApplyDeletions()))
        window.device_requested.connect(lambda device: send(SetDevice(device)))
        window.learning_rate_changed.connect(lambda rate: send(SetLearningRate(rate)))
        window.clip_norm_changed.connect(lambda norm: send(SetClipNorm(norm)))
        window.duty_changed.connect(lambda percent: send(SetDuty(percent)))
        window.market_chosen.connect(lambda _market: self._open_market())
        window.try_again_requested.connect(self.runs.try_again)
        window.try_again_requested.connect(self.watching.try_again)  # when nothing holds it back any more
        window.settings_changed.connect(self._save_settings)
        self._connect_break()

    def _connect_break(self) -> None:
        pause = self.training_break
        pause.stop_requested.connect(self.runs.stop_training)
        pause.start_requested.connect(self._on_start)
        self.window.actions_of_window.wire(
            {
                ActionId.FREE_DEVICE: lambda: pause.begin(None),
                ActionId.FREE_DEVICE_SHORT: lambda: pause.begin(SHORT_MINUTES),
                ActionId.FREE_DEVICE_LONG: lambda: pause.begin(LONG_MINUTES),
            }
        )

    def _connect_run(self) -> None:
        runs, state, charting = self.runs, self.state, self.charting
        runs.opened.connect(self.show_market)
        runs.closed.connect(charting.add_closed)
        runs.corrected.connect(charting.correct)
        runs.forming.connect(charting.set_forming)
        runs.pace_changed.connect(charting.travel.set_pace)
        runs.told.connect(charting.take_told)
        runs.feed_event.connect(self._on_feed_event)
        self._connect_feed_record()
        runs.batch.connect(state.apply)
        runs.batch.connect(self._take_holes)
        runs.training_begins.connect(state.trainer_starts)
        runs.training_over.connect(state.trainer_is_over)
        runs.notice.connect(lambda sentence: self.window.tell(sentence, Severity.WARNING, key=_FELL_BACK))
        runs.opening.connect(self._on_opening)
        runs.asking.connect(lambda sentence: self.window.tell(sentence, key=_REFUSED, is_answer=True))
        runs.refused.connect(self._on_refused)
        charting.comparison.wait_for(lambda: runs.is_opening, runs.refused)
        runs.reading.connect(state.apply)
        state.ready.connect(self._on_ready)
        self._connect_jobs()
        visits = self.history_visits
        visits.progressed.connect(state.apply)
        visits.shown.connect(self.charting.reload)
        visits.told.connect(
            lambda sentence: self.window.banner.tell(Notice(_VISIT, Severity.INFO, sentence, passes=True))
        )

    def _connect_jobs(self) -> None:
        """Those of others that can be cancelled in the list."""
        answer = self.jobs.answer_cancel
        goes_on = translate("Window", "Training was stopped with a checkpoint; Start goes on from there.")
        answer(JOB_ID, lambda _id: self.runs.stop_training(), goes_on)
        skipped = translate("Window", "The check was left out; the next start does it.")
        answer(CHECK_JOB, lambda _id: self._opener.skip(), skipped)
        as_it_was = translate("Window", "The database is as it was.")
        answer(CONVERSION_JOB, lambda _id: self._opener.give_up_conversion(), as_it_was)
        answer(
            FILES_JOB,
            lambda _id: self.browser.exchange.cancel(),
            translate("Window", "The files before that were done."),
        )
        stays = translate("Window", "The market stays as it was.")
        answer(READING_JOB, lambda _id: self.runs.cancel_reading(), stays)
        answer(VISIT_JOB, self.history_visits.cancel, translate("Window", "What had been stored stays."))

    def _connect_feed_record(self) -> None:
        runs, record = self.runs, self.state.feed_record
        runs.opening.connect(record.begin)
        runs.opened.connect(record.opened)
        runs.notice.connect(record.fell_back)
        runs.told.connect(record.add_told)
        runs.corrected.connect(record.add_corrected)
        runs.forming.connect(record.add_forming)
        runs.closed.connect(record.add_closed)

    @Slot()
    def _on_start(self) -> None:
        if self._market is None:
            self._open_market()
        else:
            self.runs.start_training(self.window.settings)

    def _take_holes(self, batch: EventBatch) -> None:
        """A candle that was set aside is a hole on the chart too."""
        kinds = {event.kind for event in batch.events if isinstance(event, Incident)}
        if CANDLE_SET_ASIDE in kinds and self._market is not None:
            self.charting.reload(self._market)

    def _on_opening(self, _market: MarketSettings) -> None:
        """What was said of a former try holds no more."""
        self.window.banner.withdraw(_FELL_BACK)
        self.window.banner.withdraw(_REFUSED)
        self.chart.set_empty_text(translate("Chart", "Waiting for candles …"))

    def _on_refused(self, sentence: str) -> None:
        """The market that is watched stays, also in the settings."""
        settings = replace(self.window.settings, market=self.runs.settings.market)
        self.window.change_settings(settings)
        self._save_settings(settings)
        words = translate("Window", "{0} The market is still {1}.")
        told = sentence if self._market is None else words.format(sentence, shown_market(self._market))
        self.window.tell(told, Severity.WARNING, key=_REFUSED, is_answer=True)

    def show_market(self, market: Market) -> None:
        """Put this market's stored candles on the chart; what came before is gone."""
        self._market = market
        self.state.begin(None, market.interval.duration_ms, self._last_run_id(market))
        self.charting.show_market(market)
        self.window.setWindowTitle(translate("Window", "{0} – Ghostcandle").format(shown_market(market)))

    def _last_run_id(self, market: Market | None = None) -> str | None:
        """Its checkpoints are listed until a trainer says which run it goes on with."""
        try:
            return self._library.last_run_id(market)
        except StorageError as error:
            self.window.notices.storage_trouble(str(error))
            return None

    def _on_feed_event(self, event: object) -> None:
        self.state.apply(event)  # type: ignore[arg-type]
        if isinstance(event, FeedStatus):
            self.chart.set_live(event.state in (FeedState.LIVE, FeedState.SIMULATED))
            if event.state is FeedState.FAILED:
                self.chart.set_empty_text(event.sentence)

    def _on_ready(self, ready: TrainerReady) -> None:
        """The run is known: show what it has done so far."""
        library, market = self._library, self._market
        if market is None or len(self.state.steps):
            return
        self.state.add_steps(library.steps(ready.run_id, STEPS_KEPT))
        self.state.add_incidents(library.incidents(ready.run_id, INCIDENTS_KEPT))
        self.state.add_drifts(library.drifts(ready.run_id, DRIFTS_KEPT))
        forecast = library.newest_forecast(ready.run_id, market.interval)
        if forecast is not None:
            self.state.apply(forecast)

    def _save_settings(self, settings: Settings) -> None:
        if self._context.is_safe_mode:
            return
        try:
            settings_file.save(settings, self._context.folder.settings)
        except OSError as error:
            words = translate("Window", "The settings could not be saved ({0}).").format(error.strerror or error)
            self.window.tell(words, Severity.WARNING)
