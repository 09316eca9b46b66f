"""The registry of actions: menus, tool bar, shortcuts and tooltips are built from the tables of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QToolBar, QWidget

from desktop.ui.icons import icon
from desktop.ui.plain_text import paragraphs
from desktop.ui.theme import Palette
from desktop.ui.translation import translate


class ActionId(StrEnum):
    """The name of each action; its value is the QAction's object name."""

    START = "start"
    PAUSE = "pause"
    STEP_ONCE = "step_once"
    STOP = "stop"
    SAVE_CHECKPOINT = "save_checkpoint"
    GO_TO_NEWEST = "go_to_newest"
    SHOW_VOLUME = "show_volume"
    SHOW_BANDS = "show_bands"
    HINDSIGHT = "hindsight"
    HINDSIGHT_HORIZON = "hindsight_horizon"
    ERROR_STRIP = "error_strip"
    REGIMES = "regimes"
    VOLUME_PROFILE = "volume_profile"
    COMPARE = "compare"
    COMPARE_STOP = "compare_stop"
    STYLE_CANDLES = "style_candles"
    STYLE_HOLLOW = "style_hollow"
    STYLE_BARS = "style_bars"
    STYLE_LINE = "style_line"
    STYLE_HEIKIN_ASHI = "style_heikin_ashi"
    SCALE_LINEAR = "scale_linear"
    SCALE_LOG = "scale_log"
    SCALE_PERCENT = "scale_percent"
    FIT_PRICES = "fit_prices"
    INTERVAL_MARKET = "interval_market"
    INTERVAL_1M = "interval_1m"
    INTERVAL_5M = "interval_5m"
    INTERVAL_15M = "interval_15m"
    INTERVAL_1H = "interval_1h"
    INTERVAL_4H = "interval_4h"
    INTERVAL_1D = "interval_1d"
    ZONE_LOCAL = "zone_local"
    ZONE_UTC = "zone_utc"
    ZONE_EXCHANGE = "zone_exchange"
    ZONE_OTHER = "zone_other"
    INDICATORS = "indicators"
    GO_TO_DATE = "go_to_date"
    SAVE_PICTURE = "save_picture"
    COPY_PICTURE = "copy_picture"
    EXPORT_CSV = "export_csv"
    ADD_ALERT = "add_alert"
    ADD_NOTE = "add_note"
    MEASURE = "measure"
    NEXT_LINE = "next_line"
    EDIT_LINE = "edit_line"
    DELETE_LINE = "delete_line"
    UNDO_LINE = "undo_line"
    REDO_LINE = "redo_line"
    DRAW_TREND_LINE = "draw_trend_line"
    DRAW_RAY = "draw_ray"
    DRAW_HORIZONTAL = "draw_horizontal"
    DRAW_RECTANGLE = "draw_rectangle"
    DRAW_FIBONACCI = "draw_fibonacci"
    DRAW_TEXT = "draw_text"
    SHOW_MARKERS = "show_markers"
    FULL_SCREEN = "full_screen"
    TRAVEL_BACK = "travel_back"
    TRAVEL_PLAY = "travel_play"
    TRAVEL_FORWARD = "travel_forward"
    TRAVEL_NOW = "travel_now"
    THEME_SYSTEM = "theme_system"
    THEME_DARK = "theme_dark"
    THEME_LIGHT = "theme_light"
    FIND = "find"
    CHOOSE_MARKET = "choose_market"
    PREFERENCES = "preferences"
    OPEN_DATA_FOLDER = "open_data_folder"
    BACK_UP = "back_up"
    IMPORT_CANDLES = "import_candles"
    FETCH_HISTORY = "fetch_history"
    PRETRAIN = "pretrain"
    EVALUATE = "evaluate"
    SHARE_RUN = "share_run"
    FREE_DEVICE = "free_device"
    FREE_DEVICE_SHORT = "free_device_short"
    FREE_DEVICE_LONG = "free_device_long"
    SHOW_LOSS = "show_loss"
    SHOW_GRADIENTS = "show_gradients"
    SHOW_ACCURACY = "show_accuracy"
    SHOW_BEST = "show_best"
    SHOW_CHECKPOINTS = "show_checkpoints"
    SHOW_INCIDENTS = "show_incidents"
    SHOW_FEED = "show_feed"
    SHOW_MARKETS = "show_watchlist"  # the name that stored layouts and shortcuts have for it
    SHOW_LOG = "show_log"
    SHOW_JOBS = "show_jobs"
    FLOAT_PANEL = "float_panel"
    LAYOUT_WATCH = "layout_watch"
    LAYOUT_TRAIN = "layout_train"
    LAYOUT_COMPARE = "layout_compare"
    OVERVIEW = "overview"
    KEEP_LAYOUT = "keep_layout"
    RESET_LAYOUT = "reset_layout"
    SHORTCUTS = "shortcuts"
    DOCUMENTATION = "documentation"
    ABOUT = "about"
    QUIT = "quit"
    CHECKPOINT_RESTORE = "checkpoint_restore"
    CHECKPOINT_PIN = "checkpoint_pin"
    CHECKPOINT_NOTE = "checkpoint_note"
    CHECKPOINT_DELETE = "checkpoint_delete"
    CHECKPOINT_UNDO = "checkpoint_undo"
    CHECKPOINT_NAME = "checkpoint_name"
    CHECKPOINT_TAGS = "checkpoint_tags"
    CHECKPOINT_COLUMNS = "checkpoint_columns"
    CHECKPOINT_ALL_RUNS = "checkpoint_all_runs"
    CHECKPOINT_FILTER = "checkpoint_filter"
    CHECKPOINT_RUNS = "checkpoint_runs"
    CHECKPOINT_GHOSTS = "checkpoint_ghosts"
    CHECKPOINT_COMPARE = "checkpoint_compare"
    CHECKPOINT_VERIFY = "checkpoint_verify"
    CHECKPOINT_EXPORT = "checkpoint_export"
    CHECKPOINT_IMPORT = "checkpoint_import"
    CHECKPOINT_CLEAN_UP = "checkpoint_clean_up"
    CHECKPOINT_EVALUATE = "checkpoint_evaluate"
    CHECKPOINT_REPORT = "checkpoint_report"
    JOB_CANCEL = "job_cancel"
    JOB_OPEN = "job_open"
    JOB_CLEAR = "job_clear"
    INCIDENT_COPY = "incident_copy"
    LOG_COPY = "log_copy"
    LOG_FOLDER = "log_folder"
    FEED_COPY = "feed_copy"
    WATCH_OPEN = "watch_open"
    WATCH_LEARN = "watch_learn"
    WATCH_UP = "watch_up"
    WATCH_DOWN = "watch_down"
    WATCH_REMOVE = "watch_remove"
    WATCH_UNDO = "watch_undo"
    OVERVIEW_4 = "overview_4"
    OVERVIEW_9 = "overview_9"
    OVERVIEW_16 = "overview_16"
    OVERVIEW_OPEN = "overview_open"
    OVERVIEW_CLOSE = "overview_close"


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """What there is to know of one action before it exists.

    menu: the path of its menu, outermost first; empty: in no menu. section: a line is drawn between two sections
    of a menu or the tool bar. group: of the actions in one group exactly one is checked. place: the panel whose keys
    these are; empty: they work in the whole window.
    """

    id: ActionId
    text: str
    tooltip: str
    shortcut: str = ""
    icon: str = ""
    menu: tuple[str, ...] = ()
    section: int = 0
    is_in_tool_bar: bool = False
    is_checkable: bool = False
    group: str = ""
    place: str = ""
    role: QAction.MenuRole = QAction.MenuRole.NoRole


def translated(info: ActionInfo) -> ActionInfo:
    """The same with the words that are shown in the user's language; the table itself is made before that is known."""
    return replace(
        info,
        text=translate("Actions", info.text),
        tooltip=translate("Actions", info.tooltip),
        menu=tuple(translate("Actions", name) for name in info.menu),
        place=translate("Actions", info.place),
    )


class ActionRegistry(QObject):
    """The QActions of a window or a panel, made from a table. Raises KeyError for an id that the table lacks."""

    def __init__(
        self, infos: Iterable[ActionInfo], owner: QWidget, existing: Mapping[ActionId, QAction] | None = None
    ) -> None:
        """`existing` are actions that Qt made, such as a dock's toggle; they are dressed like the others."""
        super().__init__(owner)
        self._infos = {info.id: info for info in infos}
        self._groups: dict[str, QActionGroup] = {}
        self._actions: dict[ActionId, QAction] = {}
        self._menus: dict[tuple[str, ...], QMenu] = {}
        for info in self._infos.values():
            action = (existing or {}).get(info.id) or QAction(self)
            self._apply_style(action, info)
            self._actions[info.id] = action
        owner.addActions(list(self._actions.values()))

    def __getitem__(self, action_id: ActionId) -> QAction:
        return self._actions[action_id]

    def infos(self) -> tuple[ActionInfo, ...]:
        """The table, as it was given: in English."""
        return tuple(self._infos.values())

    def info(self, action_id: ActionId) -> ActionInfo:
        """A row of the table, as it was given."""
        return self._infos[action_id]

    def wire(self, slots: Mapping[ActionId, Callable[[], object]]) -> None:
        """Call a slot, without arguments, whenever the user triggers its action."""
        for action_id, slot in slots.items():
            self._actions[action_id].triggered.connect(lambda _checked=False, slot=slot: slot())

    def actions(self) -> list[QAction]:
        """All of them, in the order of the table."""
        return list(self._actions.values())

    def present(self, action_id: ActionId, text: str, tooltip: str, icon_name: str, palette: Palette) -> None:
        """Give an action other words and another icon, as Pause becomes Resume. Its keys stay."""
        info = self._infos[action_id]
        action = self._actions[action_id]
        action.setText(text)
        action.setToolTip(paragraphs(_with_shortcut(tooltip, info.shortcut)))
        action.setIcon(icon(icon_name, palette.text))
        action.setProperty("icon_name", icon_name)

    def add_to_tooltip(self, action_id: ActionId, more: str) -> None:
        """A sentence after those of the table; it takes the place of the former one."""
        info = translated(self._infos[action_id])
        self._actions[action_id].setToolTip(paragraphs(_with_shortcut(f"{info.tooltip}. {more}", info.shortcut)))

    def apply_palette(self, palette: Palette) -> None:
        """Draw all icons in the palette's colours."""
        for action in self._actions.values():
            name = str(action.property("icon_name") or "")
            if name:
                action.setIcon(icon(name, palette.text))

    def fill_menu_bar(self, bar: QMenuBar) -> None:
        """Add a menu for each path of the table."""
        menus = self._menus
        sections: dict[tuple[str, ...], int] = {}
        for info in self._infos.values():
            if not info.menu:
                continue
            for depth in range(1, len(info.menu) + 1):
                path = info.menu[:depth]
                is_innermost = depth == len(info.menu)
                if path not in menus:
                    parent = bar if depth == 1 else menus[path[:-1]]
                    self._separate(parent, sections, path[:-1], info.section)
                    menus[path] = parent.addMenu(translate("Actions", path[-1]))
                    menus[path].setToolTipsVisible(True)
                    sections[path] = info.section
                if is_innermost:
                    self._separate(menus[path], sections, path, info.section)
            menus[info.menu].addAction(self._actions[info.id])

    def menu_of(self, action_id: ActionId) -> QMenu:
        """The menu that holds it, once the bar was filled. Raises KeyError for one that is in none."""
        return self._menus[self._infos[action_id].menu]

    def fill_tool_bar(self, tool_bar: QToolBar, ids: Iterable[ActionId] | None = None) -> None:
        """Add the actions meant for a tool bar (of `ids`, where given), in the order of the table."""
        wanted = None if ids is None else set(ids)
        last: tuple[tuple[str, ...], int] | None = None
        for info in self._infos.values():
            if not info.is_in_tool_bar or (wanted is not None and info.id not in wanted):
                continue
            place = (info.menu, info.section)
            if last is not None and place != last:
                tool_bar.addSeparator()
            last = place
            tool_bar.addAction(self._actions[info.id])

    @staticmethod
    def _separate(
        parent: QMenu | QMenuBar, sections: dict[tuple[str, ...], int], path: tuple[str, ...], section: int
    ) -> None:
        if path and sections.get(path, section) != section and isinstance(parent, QMenu):
            parent.addSeparator()
        sections[path] = section

    def _apply_style(self, action: QAction, info: ActionInfo) -> None:
        action.setObjectName(info.id.value)
        shown = translated(info)
        action.setText(shown.text)
        action.setToolTip(paragraphs(_with_shortcut(shown.tooltip, info.shortcut)))
        action.setStatusTip("")
        action.setMenuRole(info.role)
        action.setCheckable(info.is_checkable)
        action.setProperty("icon_name", info.icon)
        if info.shortcut:
            action.setShortcut(QKeySequence(info.shortcut))
            context = Qt.ShortcutContext.WidgetWithChildrenShortcut if info.place else Qt.ShortcutContext.WindowShortcut
            action.setShortcutContext(context)
        if info.group:
            if info.group not in self._groups:
                self._groups[info.group] = QActionGroup(self)
            self._groups[info.group].addAction(action)


def _with_shortcut(tooltip: str, shortcut: str) -> str:
    if not shortcut:
        return tooltip
    return f"{tooltip} ({QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)})"
