"""The main window: the chart in the middle, panels in docks, and signals for the user's requests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from core.domain.events import Incident, TrainerState
from core.logs.reading import LogBook
from core.settings.devices import gpu_name
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.commands import ApplyDeletions, SaveCheckpoint, SetDevice, SetPaused, StepOnce
from desktop.actions import ActionId, ActionRegistry, SharedKeys, menu_actions
from desktop.dialogs.documentation import open_documentation
from desktop.dialogs.messages import open_about, open_dialog
from desktop.dialogs.shortcuts import ShortcutsDialog, chart_gestures, shortcut_lines
from desktop.layouts.arrangements import (
    COMPARE,
    TRAIN,
    WATCH,
    Arrangement,
    DockToggle,
    arrange,
    float_dock_of,
    has_room,
    is_behind,
    open_dock,
    size,
)
from desktop.layouts.menu import LayoutMenu
from desktop.layouts.pages import Pages
from desktop.layouts.store import LayoutStore
from desktop.layouts.window_size import FullScreen
from desktop.notifications.messages import DesktopMessages
from desktop.panels.events.rows import EventKind
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.shell import Shell
from desktop.ui.banner import Banner
from desktop.ui.panel_base import Panel, Refresher
from desktop.ui.scrolling import scroll_to
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Mode, Theme
from desktop.ui.translation import translate
from desktop.window.controls import TrainingActions, TrainingBar, TrainingInputs
from desktop.window.panels import Panels, in_docks
from desktop.window.rates import TrainingRates
from desktop.window.state_notices import NoticeWriter
from desktop.window.status_bar import StatusPanel

if TYPE_CHECKING:
    from desktop.dialogs.market import AskMarket, MarketDialog
    from desktop.dialogs.preferences import PreferencesDialog

_THEME_ACTIONS: dict[Mode, ActionId] = {
    "system": ActionId.THEME_SYSTEM,
    "dark": ActionId.THEME_DARK,
    "light": ActionId.THEME_LIGHT,
}
_MOST_SKIPPED = 100


class MainWindow(QMainWindow):
    """Shows the state. The user's requests leave as signals; it starts, stops and stores nothing."""

    command_requested = Signal(object)
    """TrainerCommand"""
    start_requested = Signal()
    stop_requested = Signal()
    try_again_requested = Signal()
    """Reconnect to the exchange now."""
    closing = Signal()
    """The window is being closed; its layout has been saved."""

    def __init__(
        self,
        state: RunState,
        theme: Theme,
        chart: QWidget,
        banner: Banner,
        source: CheckpointSource,
        settings: SettingsStore,
        market_choice: MarketChoice,
        data_folder: Path,
        layout_store: LayoutStore | None = None,
    ) -> None:
        """Without a layout store, the default layout is used and nothing saved."""
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Ghostcandle")
        self._state, self._theme, self._settings, self._market_choice = state, theme, settings, market_choice
        self._data_folder, self._layout_store = data_folder, layout_store
        self.chart, self.banner = chart, banner
        self.ask_market: AskMarket | None = None
        """Asks an exchange whether it has a typed market."""
        self.messages = DesktopMessages(self)
        self.panels = Panels(state, theme, source, settings, LogBook(DataFolder(data_folder).logs), self)
        self.docks = in_docks(self, self.panels.titled())
        self.docks[ActionId.SHOW_MARKETS].visibilityChanged.connect(self.panels.markets.set_seen)
        toggles = {action_id: dock.toggleViewAction() for action_id, dock in self.docks.items()}
        actions = ActionRegistry(menu_actions(), self, theme, toggles)
        self.shell = Shell(self, settings, actions, banner)
        """Services for the controllers of chart, checkpoints, jobs and notifications."""
        chosen = settings.current
        self.inputs = TrainingInputs(chosen.training.learning_rate, chosen.training.duty_percent)
        self._rates = TrainingRates(self.inputs, settings, state, banner, self.command_requested.emit, self)
        self.status = StatusPanel(state, theme)
        self._refresher = Refresher(self)
        self._build()
        self.layouts = LayoutMenu(
            self,
            actions.menu_of(ActionId.KEEP_LAYOUT),
            layout_store,
            partial(banner.notify, key="layout", is_answer=True),
        )
        self.layouts.applying.connect(self._leave_page)
        self._connect(source)
        self._wire_actions()
        self._show_appearance(chosen)
        FullScreen(self, actions[ActionId.FULL_SCREEN])
        SharedKeys(actions, self)
        self._follow_state()
        chart.setFocus()
        is_restored = layout_store is not None and layout_store.restore(self) and has_room(self)
        self._needs_default_sizes = not is_restored
        if self._needs_default_sizes:
            self.reset_layout()

    def has_stale_panels(self) -> bool:
        """True while a panel on the screen shows less than the state knows."""
        return self._refresher.has_stale_panels

    def show_dock(self, action_id: ActionId) -> None:
        """Open a dock, in front of docks in the same place."""
        dock = self.docks[action_id]
        open_dock(self, dock, was_closed=dock.isHidden())

    def show_incident(self, incident: Incident) -> None:
        """Select the incident among the events."""
        self.show_dock(ActionId.SHOW_EVENTS)
        self.panels.events.select(incident)

    def show_feed(self) -> None:
        self.show_dock(ActionId.SHOW_EVENTS)
        self.panels.events.show_kind(EventKind.FEED)

    def show_incidents(self) -> None:
        self.show_dock(ActionId.SHOW_EVENTS)
        self.panels.events.show_kind(EventKind.INCIDENT)

    def show_checkpoint(self, checkpoint_id: str) -> None:
        """Select the checkpoint in the browser."""
        self.show_dock(ActionId.SHOW_CHECKPOINTS)
        self.panels.checkpoints.reveal(checkpoint_id)

    def show_jobs(self) -> None:
        self.show_dock(ActionId.SHOW_JOBS)

    def show_markets(self) -> None:
        self.show_dock(ActionId.SHOW_MARKETS)

    def come_to_front(self) -> None:
        """Raise the window, as a second start asks."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def open_market(self) -> MarketDialog:
        """Ask for another market."""
        from desktop.dialogs.market import MarketDialog  # noqa: PLC0415 - after the first paint

        dialog = MarketDialog(self._settings.current.market, self, ask=self.ask_market)
        dialog.chosen.connect(self._market_choice.choose)
        return open_dialog(dialog)

    def open_preferences(self) -> PreferencesDialog:
        """Ask for other settings."""
        from desktop.dialogs.preferences import PreferencesDialog  # noqa: PLC0415 - after the first paint

        dialog = PreferencesDialog(self._settings.current, self)
        dialog.applied.connect(self._settings.change)
        return open_dialog(dialog)

    def open_setting(self, group: str, name: str) -> None:
        self.open_preferences().show_setting(group, name)

    def reset_layout(self) -> None:
        """Put all panels back to their default places."""
        self.arrange(WATCH)

    def arrange(self, arrangement: Arrangement) -> None:
        """Arrange the panels for a purpose."""
        self._leave_page()
        arrange(self, self.docks, arrangement)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresher.resume()
        if self._needs_default_sizes:
            # Sizes set before the window had one are lost, and the layout would apply these only after the first frame.
            self._needs_default_sizes = False
            size(self, self.docks, WATCH)
            if (layout := self.layout()) is not None:
                layout.activate()

    def focusNextPrevChild(self, is_forward: bool) -> bool:
        """Tab skips widgets behind another dock's tab: the keyboard focus would be invisible."""
        for _ in range(_MOST_SKIPPED):
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
        self.pages.show_first()
        if self._layout_store is not None:
            self._layout_store.save(self)
        self.messages.hide()
        self.closing.emit()
        super().closeEvent(event)

    def _build(self) -> None:
        self.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks)
        middle, first = QWidget(), QWidget()
        stacked(first, self.chart, stretched=self.chart, margins=NO_MARGINS, spacing=0)
        self.pages = Pages(self, first, self.docks.values())
        stacked(middle, self.banner, self.pages, stretched=self.pages, margins=NO_MARGINS, spacing=0)
        self.setCentralWidget(middle)
        self.shell.actions.fill_menu_bar(self.menuBar())
        self.addToolBar(TrainingBar(self.shell.actions, self.inputs))
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addPermanentWidget(self.status, 1)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        for panel in (*(dock.widget() for dock in self.docks.values()), self.status):
            if isinstance(panel, Panel):
                self._refresher.add(panel)

    def _connect(self, source: CheckpointSource) -> None:
        panels, banner, settings = self.panels, self.banner, self._settings
        settings.changed.connect(self._show_appearance)
        panels.gradients.card.recovery_requested.connect(self._rates.recover)
        panels.events.feed.try_again_requested.connect(self.try_again_requested)
        panels.events.feed.venue_requested.connect(self._market_choice.choose_venue)
        panels.markets.market_requested.connect(self._market_choice.open_listed)
        panels.events.trouble.connect(lambda sentence: banner.notify(sentence, key="log folder"))
        self._market_choice.chosen.connect(banner.withdraw_passing)
        self.messages.clicked.connect(self.come_to_front)
        self.status.jobs.clicked.connect(self.shell.actions[ActionId.SHOW_JOBS].trigger)
        source.deletion_requested.connect(self._apply_deletions)  # a lambda would keep this window alive
        source.trouble.connect(banner.notify_storage_error)

    def _leave_page(self) -> None:
        """Return to the chart's page, as the docks are about to move."""
        self.pages.show_first(restores_docks=False)

    def _apply_deletions(self) -> None:
        self.command_requested.emit(ApplyDeletions())

    def _use_gpu(self) -> None:
        self.command_requested.emit(SetDevice(gpu_name(self._settings.current.training.device)))

    def _follow_state(self) -> None:
        NoticeWriter(
            self._state,
            self.banner,
            on_start=self.start_requested.emit,
            on_choose_market=self.open_market,
            on_show_incidents=self.show_incidents,
            on_use_gpu=self._use_gpu,
            on_resume=lambda: self._pause(is_paused=False),
            on_recovery=self._rates.recover,
            on_replay_again=self._market_choice.replay_again,
            parent=self,
        )
        TrainingActions(self._state, self.shell.actions, self)

    def _wire_actions(self) -> None:
        ids, actions, send = ActionId, self.shell.actions, self.command_requested.emit
        actions.wire(
            {
                ids.START: self.start_requested.emit,
                ids.PAUSE: lambda: self._pause(is_paused=self._state.trainer_state is not TrainerState.PAUSED),
                ids.STEP_ONCE: lambda: send(StepOnce()),
                ids.STOP: self.stop_requested.emit,
                ids.SAVE_CHECKPOINT: lambda: send(SaveCheckpoint()),
                ids.CHOOSE_MARKET: self.open_market,
                ids.PREFERENCES: self.open_preferences,
                ids.OPEN_DATA_FOLDER: self._open_data_folder,
                ids.LAYOUT_WATCH: lambda: self.arrange(WATCH),
                ids.LAYOUT_TRAIN: lambda: self.arrange(TRAIN),
                ids.LAYOUT_COMPARE: lambda: self.arrange(COMPARE),
                ids.KEEP_LAYOUT: self.layouts.ask_name,
                ids.RESET_LAYOUT: self.reset_layout,
                ids.FLOAT_PANEL: self._float_panel,
                ids.SHORTCUTS: self._list_shortcuts,
                ids.DOCUMENTATION: lambda: open_documentation(self, self.banner),
                ids.ABOUT: lambda: open_about(self, self.windowIcon(), self.status.device.text()),
                ids.QUIT: self.close,
                **{action_id: partial(self._choose_theme, mode) for mode, action_id in _THEME_ACTIONS.items()},
            }
        )
        jobs = (ids.IMPORT_CANDLES, ids.FETCH_HISTORY, ids.PRETRAIN, ids.EVALUATE, ids.SWEEP, ids.SHARE_RUN)
        self.panels.accuracy.links.chosen.connect(
            lambda anchor: open_documentation(self, self.banner, "glossary.md", anchor)
        )
        self.panels.jobs.offer([actions[action_id] for action_id in jobs])
        for dock in self.docks.values():
            DockToggle(self, dock)

    def _pause(self, *, is_paused: bool) -> None:
        self._state.request_pause(is_paused)
        self.command_requested.emit(SetPaused(is_paused))

    def _list_shortcuts(self) -> None:
        open_dialog(ShortcutsDialog((*shortcut_lines(ActionId), *chart_gestures()), self))

    def _open_data_folder(self) -> None:
        """Open it in the desktop's file manager; without one the banner names the folder."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._data_folder))):
            words = translate("Window", "No file manager responded. The data folder is {0}.")
            self.banner.notify(words.format(self._data_folder), key="data folder", is_answer=True)

    def _choose_theme(self, mode: Mode) -> None:
        settings = self._settings.current
        self._settings.change(replace(settings, appearance=replace(settings.appearance, theme=mode)))

    def _show_appearance(self, settings: Settings) -> None:
        appearance = settings.appearance
        self.shell.actions[_THEME_ACTIONS[appearance.theme]].setChecked(True)
        self._theme.set_mode(appearance.theme)
        self._theme.set_colours(appearance.colours, is_swapped=appearance.swap_colours)

    def _float_panel(self) -> None:
        if not float_dock_of(QApplication.focusWidget()):
            words = translate("Window", "No panel has keyboard focus. Press Tab or click a panel, then try again.")
            self.banner.notify(words, key="layout", is_answer=True)
