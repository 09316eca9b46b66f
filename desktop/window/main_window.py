"""The main window: the chart in the middle, panels in docks, and signals for what the user wants."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QVBoxLayout, QWidget

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.events import Severity, TrainerState
from core.domain.watchlist import WatchedMarket, Watchlist
from core.logs.merged import LogBook
from core.settings.tree import MarketSettings, Settings
from core.storage.folder import DataFolder
from desktop.actions import ActionId, ActionRegistry
from desktop.actions.table import standard_actions
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.dialogs.market import AskMarket, MarketDialog
from desktop.dialogs.messages import open_about, open_dialog
from desktop.dialogs.preferences import PreferencesDialog
from desktop.dialogs.setting_words import with_change
from desktop.jobs.panel import JobsPanel
from desktop.layouts.arrangements import COMPARE, EVERYTHING, TRAIN, WATCH, Arrangement, DockToggle, arrange, size
from desktop.layouts.full_screen import FullScreen
from desktop.layouts.menu import LayoutMenu
from desktop.layouts.store import LayoutStore
from desktop.layouts.tab_order import float_dock_of, is_behind, scroll_to
from desktop.notifications.messages import DesktopMessages
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.best_checkpoint import BestCheckpointPanel
from desktop.panels.feed.panel import FeedPanel
from desktop.panels.gradients.panel import GradientsPanel
from desktop.panels.incidents import IncidentsPanel
from desktop.panels.log import LogPanel
from desktop.panels.loss.panel import LossPanel
from desktop.panels.watchlist.panel import WatchlistPanel
from desktop.state.checkpoint_source import CheckpointLibrary, CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, Notice
from desktop.ui.panel_base import Panel, Refresher
from desktop.ui.theme import Mode, Theme
from desktop.ui.translation import translate
from desktop.window.controls import TrainingInputs, keep_room_for_resume, make_tool_bar
from desktop.window.divergence_recovery import start_recovery
from desktop.window.docks import in_docks
from desktop.window.help import list_shortcuts, open_data_folder, read_documentation
from desktop.window.machine_strip import MachineStrip
from desktop.window.notices import NoticeWriter
from desktop.window.status_bar import StatusPanel
from desktop.window.training_actions import TrainingOffer

_THEME_ACTIONS: dict[Mode, ActionId] = {
    "system": ActionId.THEME_SYSTEM,
    "dark": ActionId.THEME_DARK,
    "light": ActionId.THEME_LIGHT,
}
_MOST_PASSED_BY = 100
_REFUSED = "refused input"


class MainWindow(QMainWindow):
    """Shows the state; everything that the user asks for leaves as a signal. It starts, stops and stores nothing."""

    start_requested = Signal()
    pause_requested = Signal(bool)
    """True to pause, False to go on."""
    step_requested = Signal()
    stop_requested = Signal()
    save_checkpoint_requested = Signal()
    preview_requested = Signal(str)
    """A checkpoint's id: its ghosts are wanted on the chart, before the model is taken back to it."""
    restore_requested = Signal(str)
    """A checkpoint's id."""
    recovery_started = Signal(object)
    """DivergenceRecovery: its settings were announced; its checkpoint is to be restored."""
    deletions_requested = Signal()
    """Requests to delete checkpoints lie in the table."""
    device_requested = Signal(str)
    """A device's name, as in the settings."""
    learning_rate_changed = Signal(float)
    clip_norm_changed = Signal(float)
    duty_changed = Signal(int)
    """In percent of the time."""
    market_chosen = Signal(object)
    """MarketSettings. `settings_changed` comes too, with the same market in it."""
    try_again_requested = Signal()
    """Connect to the exchange anew, now."""
    settings_shown = Signal(object)
    """Settings: the whole tree, as the window now shows it, from wherever the change came."""
    settings_changed = Signal(object)
    """Settings: the whole tree, to be stored."""
    closing = Signal()
    """The window is being closed; its layout has been saved."""

    def __init__(
        self,
        state: RunState,
        theme: Theme,
        chart: QWidget,
        library: CheckpointLibrary,
        settings: Settings,
        data_folder: Path,
        layout_store: LayoutStore | None = None,
    ) -> None:
        """Without a layout store, the default layout is used and nothing saved."""
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Ghostcandle")
        self._state, self._theme, self._settings = state, theme, settings
        self._data_folder, self._layout_store = data_folder, layout_store
        self.chart = chart
        self.ask_market: AskMarket | None = None
        """Asks an exchange whether it has a market that was typed."""
        self.source = CheckpointSource(library, state, self)
        self.banner = Banner(theme)
        self.messages = DesktopMessages(self)
        self.messages.clicked.connect(self.come_to_front)
        self.docks = self._make_docks()
        toggles = {action_id: dock.toggleViewAction() for action_id, dock in self.docks.items()}
        self.actions_of_window = ActionRegistry(standard_actions(), self, toggles)
        self.inputs = TrainingInputs(
            settings.training.learning_rate, settings.gradients.clip_norm, settings.training.duty_percent
        )
        self.status = StatusPanel(state, theme)
        self._refresher = Refresher(self)
        self._build()
        self.layouts = LayoutMenu(
            self,
            self.actions_of_window.menu_of(ActionId.KEEP_LAYOUT),
            layout_store,
            partial(self.tell, key="layout", is_answer=True),
        )
        self._connect()
        self._wire_actions()
        self.notices = NoticeWriter(
            state,
            self.banner,
            on_start=self.start_requested.emit,
            on_choose_market=self.open_market,
            on_show_incidents=lambda: self.show_dock(ActionId.SHOW_INCIDENTS),
            on_use_gpu=lambda: self.device_requested.emit("cuda"),
            on_resume=lambda: self.pause_requested.emit(False),
            on_recovery=lambda way: start_recovery(self, state, way),
            parent=self,
        )
        self._show_settings()
        self.actions_of_window.apply_palette(theme.palette)
        keep_room_for_resume(self._tool_bar, self.actions_of_window)
        FullScreen(self, self.actions_of_window[ActionId.FULL_SCREEN])
        TrainingOffer(state, self.actions_of_window, self.inputs, theme, self)
        chart.setFocus()
        self._needs_default_sizes = layout_store is None or not layout_store.restore(self)
        if self._needs_default_sizes:
            self.reset_layout()

    @property
    def settings(self) -> Settings:
        """The tree as it is now."""
        return self._settings

    def has_stale_panels(self) -> bool:
        """True while a panel on the screen shows less than the state knows."""
        return self._refresher.has_stale_panels

    def apply_settings(self, settings: Settings) -> None:
        """Take a tree that came from elsewhere; emits nothing."""
        before, self._settings = self._settings, settings
        self._show_settings()
        self._show_rates(before)

    def tell(
        self, text: str, severity: Severity = Severity.INFO, key: str = "notice", *, is_answer: bool = False
    ) -> None:
        """Show a sentence in the banner. One with the same key replaces the former.

        is_answer: it answers what the user has just done, so it is seen at once, and passes.
        """
        self.banner.tell(Notice(key, severity, text, is_answer=is_answer, passes=is_answer))

    def show_dock(self, action_id: ActionId) -> None:
        """Open a dock and bring it before those that share its place."""
        self.docks[action_id].show()
        self.docks[action_id].raise_()

    def come_to_front(self) -> None:
        """What a second start asks for."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def open_market(self) -> MarketDialog:
        """Ask for another market."""
        dialog = MarketDialog(self._settings.market, self, ask=self.ask_market)
        dialog.chosen.connect(self._on_market)
        open_dialog(dialog)
        return dialog

    def open_preferences(self) -> PreferencesDialog:
        """Ask for other settings."""
        dialog = PreferencesDialog(self._settings, self)
        dialog.applied.connect(self.change_settings)
        open_dialog(dialog)
        return dialog

    def reset_layout(self) -> None:
        """Put all panels back where they were at first."""
        self.arrange(EVERYTHING)

    def arrange(self, arrangement: Arrangement) -> None:
        """Put the panels where they belong for a purpose."""
        arrange(self, self.docks, arrangement)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresher.resume()
        if self._needs_default_sizes:
            # Sizes that were asked for before the window had one do not hold, and left to itself the layout takes these
            # after the first frame.
            self._needs_default_sizes = False
            size(self, self.docks, EVERYTHING)
            if (layout := self.layout()) is not None:
                layout.activate()

    def focusNextPrevChild(self, is_forward: bool) -> bool:
        """Tab passes by what lies behind another dock's tab: the keys would be where nobody sees them."""
        for _ in range(_MOST_PASSED_BY):
            if not super().focusNextPrevChild(is_forward):
                return False
            now = self.focusWidget()
            if now is None or not is_behind(now):
                break
        if now is not None:
            scroll_to(now)
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        self._refresher.stop()
        if self._layout_store is not None:
            self._layout_store.save(self)
        self.messages.hide()
        self.closing.emit()
        super().closeEvent(event)

    def _make_docks(self) -> dict[ActionId, QDockWidget]:
        state, theme = self._state, self._theme
        self.best_checkpoint = BestCheckpointPanel(self.source, theme)
        self.checkpoints = CheckpointsPanel(self.source, theme)
        self.gradients = GradientsPanel(state, theme, self._settings)
        self.feed = FeedPanel(state, theme)
        self.accuracy = AccuracyPanel(state, theme)
        self.watchlist = WatchlistPanel(state, theme, self._settings.watchlist.markets)
        self.jobs = JobsPanel(state, theme)
        self.log = LogPanel(LogBook(DataFolder(self._data_folder).logs), theme, state.clock.now_ms)
        panels: dict[ActionId, tuple[str, Panel]] = {
            ActionId.SHOW_LOSS: (translate("Window", "Loss"), LossPanel(state, theme)),
            ActionId.SHOW_GRADIENTS: (translate("Window", "Gradients"), self.gradients),
            ActionId.SHOW_ACCURACY: (translate("Window", "Accuracy"), self.accuracy),
            ActionId.SHOW_BEST: (translate("Window", "Best checkpoint"), self.best_checkpoint),
            ActionId.SHOW_CHECKPOINTS: (translate("Window", "Checkpoints"), self.checkpoints),
            ActionId.SHOW_INCIDENTS: (translate("Window", "Incidents"), IncidentsPanel(state, theme)),
            ActionId.SHOW_FEED: (translate("Window", "Feed"), self.feed),
            ActionId.SHOW_WATCHLIST: (translate("Window", "Watchlist"), self.watchlist),
            ActionId.SHOW_LOG: (translate("Window", "Log"), self.log),
            ActionId.SHOW_JOBS: (translate("Window", "Jobs"), self.jobs),
        }
        docks = in_docks(self, panels)
        docks[ActionId.SHOW_WATCHLIST].visibilityChanged.connect(self.watchlist.set_seen)
        return docks

    def _build(self) -> None:
        self.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks)
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.chart, 1)
        self.setCentralWidget(middle)
        self.actions_of_window.fill_menu_bar(self.menuBar())
        self.machine = MachineStrip(self._theme)
        self.menuBar().setCornerWidget(self.machine, Qt.Corner.TopRightCorner)
        self._tool_bar = make_tool_bar(self.actions_of_window, self.inputs)
        self.addToolBar(self._tool_bar)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addPermanentWidget(self.status, 1)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        for panel in (*(dock.widget() for dock in self.docks.values()), self.status):
            if isinstance(panel, Panel):
                self._refresher.add(panel)

    def _connect(self) -> None:
        self._theme.changed.connect(self.actions_of_window.apply_palette)
        self.pause_requested.connect(self._state.ask_pause)
        self.inputs.learning_rate_changed.connect(self._on_learning_rate)
        self.inputs.clip_norm_changed.connect(self._on_clip_norm)
        self.inputs.duty_changed.connect(self._on_duty)
        self.inputs.refused.connect(
            lambda sentence: self.tell(sentence, Severity.WARNING, key=_REFUSED, is_answer=True)
        )
        self.gradients.change_requested.connect(
            lambda change: self.change_settings(with_change(self._settings, change))
        )
        self.gradients.recovery_requested.connect(lambda way: start_recovery(self, self._state, way))
        self.best_checkpoint.restore_requested.connect(self.preview_requested)
        self.checkpoints.restore_requested.connect(self.preview_requested)
        self.checkpoints.arranged.connect(lambda browser: self._store(replace(self._settings, browser=browser)))
        self.feed.try_again_requested.connect(self.try_again_requested)
        self.feed.venue_requested.connect(self._on_venue)
        self.watchlist.market_requested.connect(self.watch)
        self.watchlist.markets_changed.connect(self._on_watchlist)
        self.status.jobs.clicked.connect(lambda: self.show_dock(ActionId.SHOW_JOBS))
        self.log.trouble.connect(lambda sentence: self.tell(sentence, key="log folder"))
        self.source.deletion_requested.connect(self.deletions_requested)
        self.source.trouble.connect(lambda sentence: self.notices.storage_trouble(sentence))

    def _wire_actions(self) -> None:
        ids = ActionId
        actions = self.actions_of_window
        actions.wire(
            {
                ids.START: self.start_requested.emit,
                ids.PAUSE: lambda: self.pause_requested.emit(self._state.trainer_state is not TrainerState.PAUSED),
                ids.STEP_ONCE: self.step_requested.emit,
                ids.STOP: self.stop_requested.emit,
                ids.SAVE_CHECKPOINT: self.save_checkpoint_requested.emit,
                ids.CHOOSE_MARKET: self.open_market,
                ids.PREFERENCES: self.open_preferences,
                ids.OPEN_DATA_FOLDER: lambda: open_data_folder(self, self._data_folder),
                ids.LAYOUT_WATCH: lambda: self.arrange(WATCH),
                ids.LAYOUT_TRAIN: lambda: self.arrange(TRAIN),
                ids.LAYOUT_COMPARE: lambda: self.arrange(COMPARE),
                ids.KEEP_LAYOUT: self.layouts.ask_name,
                ids.RESET_LAYOUT: self.reset_layout,
                ids.FLOAT_PANEL: self._float_panel,
                ids.SHORTCUTS: lambda: list_shortcuts(self),
                ids.DOCUMENTATION: lambda: read_documentation(self),
                ids.ABOUT: lambda: open_about(self, self.windowIcon(), self.status.device.text()),
                ids.QUIT: self.close,
                **{theme: self._on_appearance for theme in _THEME_ACTIONS.values()},
            }
        )
        jobs = (ids.IMPORT_CANDLES, ids.FETCH_HISTORY, ids.PRETRAIN, ids.EVALUATE)
        self.jobs.offer([actions[action_id] for action_id in jobs])
        for dock in self.docks.values():
            DockToggle(dock)

    def _on_learning_rate(self, value: float) -> None:
        self.banner.withdraw(_REFUSED)
        self.learning_rate_changed.emit(value)
        self._store(replace(self._settings, training=replace(self._settings.training, learning_rate=value)))

    def _on_clip_norm(self, value: float) -> None:
        self.banner.withdraw(_REFUSED)
        self.clip_norm_changed.emit(value)
        self._store(replace(self._settings, gradients=replace(self._settings.gradients, clip_norm=value)))

    def _on_duty(self, percent: int) -> None:
        self.duty_changed.emit(percent)
        self._store(replace(self._settings, training=replace(self._settings.training, duty_percent=percent)))

    def _on_market(self, market: MarketSettings) -> None:
        """It was chosen with its interval, which is what the chart shows from now on."""
        self.change_chart(interval="market")
        self._open(market)

    def _open(self, market: MarketSettings) -> None:
        self.banner.withdraw_passing()
        self._store(replace(self._settings, market=market))
        self.market_chosen.emit(market)

    def _on_venue(self, venue: str) -> None:
        self._open(replace(self._settings.market, venue=venue))

    def watch(self, watched: WatchedMarket) -> None:
        """Put this market on the chart. It is an exchange's: a replay ends with it."""
        market = self._settings.market
        where = replace(market, venue=watched.venue, symbol=watched.symbol, interval=watched.interval)
        self._on_market(where if market.feed in ("auto", "live") else replace(where, feed="live"))

    def open_stored(self, market: Market) -> None:
        """Put a market of which candles are stored on the chart: an exchange's with what follows them."""
        if market.venue not in (FILE_VENUE, SIMULATED_VENUE):
            self.watch(WatchedMarket(market.venue, market.symbol, str(market.interval)))
            return
        asked, interval = self._settings.market, str(market.interval)
        self._on_market(replace(asked, feed="stored", venue=market.venue, symbol=market.symbol, interval=interval))

    def _on_watchlist(self, markets: Watchlist) -> None:
        self._store(replace(self._settings, watchlist=replace(self._settings.watchlist, markets=markets)))

    def change_settings(self, settings: Settings) -> None:
        """The user wants these settings: show, store and announce them."""
        before = self._settings
        self._store(settings)
        self._show_settings()
        self._show_rates(before)
        if settings.training.learning_rate != before.training.learning_rate:
            self.learning_rate_changed.emit(settings.training.learning_rate)
        if settings.gradients.clip_norm != before.gradients.clip_norm:
            self.clip_norm_changed.emit(settings.gradients.clip_norm)
        if settings.training.duty_percent != before.training.duty_percent:
            self.duty_changed.emit(settings.training.duty_percent)

    def change_chart(self, **changes: Any) -> None:
        """The user wants the chart otherwise: fields of `ChartSettings` by name."""
        self.change_settings(replace(self._settings, chart=replace(self._settings.chart, **changes)))

    def _on_appearance(self) -> None:
        """A switch of the View menu was used."""
        actions = self.actions_of_window
        theme = next(name for name, action_id in _THEME_ACTIONS.items() if actions[action_id].isChecked())
        appearance = replace(self._settings.appearance, theme=theme)
        self._store(replace(self._settings, appearance=appearance))
        self._show_settings()

    def _store(self, settings: Settings) -> None:
        if settings != self._settings:
            self._settings = settings
            self.gradients.show_settings(settings)
            self.settings_changed.emit(settings)

    def _show_settings(self) -> None:
        """Make theme, chart, actions and inputs agree with the settings."""
        appearance = self._settings.appearance
        actions = self.actions_of_window
        actions[_THEME_ACTIONS[appearance.theme]].setChecked(True)
        self._theme.set_mode(appearance.theme)
        self._theme.set_colours(appearance.colours, is_swapped=appearance.swap_colours)
        self.inputs.show_duty(self._settings.training.duty_percent)
        self.gradients.show_settings(self._settings)
        self.watchlist.show_markets(self._settings.watchlist.markets)
        self.checkpoints.show_settings(self._settings.browser)
        self.settings_shown.emit(self._settings)

    def _show_rates(self, before: Settings) -> None:
        """Where they were changed: the trainer may go by lower ones than are set, after a rollback, and says so."""
        rates = (self._settings.training.learning_rate, self._settings.gradients.clip_norm)
        if rates != (before.training.learning_rate, before.gradients.clip_norm):
            self.inputs.show_values(*rates)

    def _float_panel(self) -> None:
        if not float_dock_of(QApplication.focusWidget()):
            words = translate("Window", "No panel has the keys. Go to one with Tab or a click, then try again.")
            self.tell(words, key="layout", is_answer=True)
