"""All that a user can do, in one table: menus, tool bar, shortcuts and tooltips are built from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QToolBar, QWidget

from desktop.icons import icon
from desktop.theme import Palette


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
    THEME_SYSTEM = "theme_system"
    THEME_DARK = "theme_dark"
    THEME_LIGHT = "theme_light"
    CHOOSE_MARKET = "choose_market"
    PREFERENCES = "preferences"
    OPEN_DATA_FOLDER = "open_data_folder"
    SHOW_LOSS = "show_loss"
    SHOW_ACCURACY = "show_accuracy"
    SHOW_BEST = "show_best"
    SHOW_CHECKPOINTS = "show_checkpoints"
    SHOW_INCIDENTS = "show_incidents"
    RESET_LAYOUT = "reset_layout"
    SHORTCUTS = "shortcuts"
    ABOUT = "about"
    QUIT = "quit"
    CHECKPOINT_RESTORE = "checkpoint_restore"
    CHECKPOINT_PIN = "checkpoint_pin"
    CHECKPOINT_NOTE = "checkpoint_note"
    CHECKPOINT_DELETE = "checkpoint_delete"
    INCIDENT_COPY = "incident_copy"


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


_FILE, _TRAINING, _VIEW, _PANELS, _THEME, _HELP = "&File", "&Training", "&View", "&Panels", "&Theme", "&Help"


def standard_actions() -> tuple[ActionInfo, ...]:
    """The table, in the order of menus and tool bar."""
    return (*_file_actions(), *_training_actions(), *_view_actions(), *_panel_actions(), *_help_actions())


def _file_actions() -> tuple[ActionInfo, ...]:
    menu = (_FILE,)
    return (
        ActionInfo(
            ActionId.CHOOSE_MARKET,
            "Choose &market…",
            "Choose the exchange, symbol and interval, or a file to replay",
            "Ctrl+M",
            "swap-horizontal",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.OPEN_DATA_FOLDER,
            "Open &data folder",
            "Show the folder that holds the database, the checkpoints and the logs",
            "Ctrl+Shift+O",
            "folder-open-outline",
            menu,
            section=1,
        ),
        ActionInfo(
            ActionId.PREFERENCES,
            "&Preferences…",
            "Model, training, checkpoints and appearance",
            "Ctrl+,",
            "cog",
            menu,
            section=1,
            role=QAction.MenuRole.PreferencesRole,
        ),
        ActionInfo(
            ActionId.QUIT,
            "&Quit",
            "Save a checkpoint, stop training and close the window",
            "Ctrl+Q",
            "power",
            menu,
            section=2,
            role=QAction.MenuRole.QuitRole,
        ),
    )


def _training_actions() -> tuple[ActionInfo, ...]:
    menu = (_TRAINING,)
    return (
        ActionInfo(
            ActionId.START, "&Start", "Start training on the chosen market", "F5", "play", menu, 0, is_in_tool_bar=True
        ),
        ActionInfo(
            ActionId.PAUSE,
            "&Pause",
            "Pause: candles are still forecast and scored, but not learned from",
            "F6",
            "pause",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.STEP_ONCE,
            "Step &once",
            "One extra training step on older candles, also while paused",
            "F7",
            "step-forward",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.STOP, "S&top", "Save a checkpoint and stop training", "F8", "stop", menu, 0, is_in_tool_bar=True
        ),
        ActionInfo(
            ActionId.SAVE_CHECKPOINT,
            "Save &checkpoint",
            "Save the model as it is now",
            "Ctrl+S",
            "content-save",
            menu,
            section=1,
            is_in_tool_bar=True,
        ),
    )


def _view_actions() -> tuple[ActionInfo, ...]:
    menu, theme = (_VIEW,), (_VIEW, _THEME)
    return (
        ActionInfo(
            ActionId.GO_TO_NEWEST,
            "Go to &newest candle",
            "Move the chart to the newest candle and its forecast",
            "Alt+End",
            "page-last",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.SHOW_VOLUME,
            "Show &volume",
            "Volume bars under the candles",
            "Ctrl+Shift+V",
            "chart-bar",
            menu,
            section=1,
            is_checkable=True,
        ),
        ActionInfo(
            ActionId.SHOW_BANDS,
            "Show &bands",
            "The 50 % and 90 % bands around the forecast",
            "Ctrl+Shift+B",
            "chart-bell-curve-cumulative",
            menu,
            section=1,
            is_checkable=True,
        ),
        *(
            ActionInfo(id_, text, tooltip, "", name, theme, section=2, is_checkable=True, group="theme")
            for id_, text, tooltip, name in (
                (ActionId.THEME_SYSTEM, "As the &system", "Follow the desktop's dark or light setting", "monitor"),
                (ActionId.THEME_DARK, "&Dark", "Light text on dark", "weather-night"),
                (ActionId.THEME_LIGHT, "&Light", "Dark text on light", "white-balance-sunny"),
            )
        ),
    )


def _panel_actions() -> tuple[ActionInfo, ...]:
    docks = (
        (ActionId.SHOW_LOSS, "&Loss", "Loss curves and learning rate", "chart-line"),
        (ActionId.SHOW_ACCURACY, "&Accuracy", "How good the forecasts have been, and how sure that is", "target"),
        (ActionId.SHOW_BEST, "&Best checkpoint", "The checkpoint with the highest score", "trophy-outline"),
        (ActionId.SHOW_CHECKPOINTS, "&Checkpoints", "All checkpoints that are kept", "history"),
        (ActionId.SHOW_INCIDENTS, "&Incidents", "What went wrong, and what was done", "alert-outline"),
    )
    menu = (_VIEW, _PANELS)
    toggles = (
        ActionInfo(id_, text, tooltip, f"Ctrl+{number}", name, menu, section=3, is_checkable=True)
        for number, (id_, text, tooltip, name) in enumerate(docks, start=1)
    )
    reset = ActionInfo(
        ActionId.RESET_LAYOUT,
        "&Reset layout",
        "Put all panels back where they were at first",
        "Ctrl+Shift+R",
        "view-dashboard-outline",
        (_VIEW,),
        section=3,
    )
    return (*toggles, reset)


def _help_actions() -> tuple[ActionInfo, ...]:
    menu = (_HELP,)
    return (
        ActionInfo(
            ActionId.SHORTCUTS, "&Keyboard shortcuts", "All actions and their keys", "F1", "keyboard-outline", menu
        ),
        ActionInfo(
            ActionId.ABOUT,
            "&About Ghostcandle",
            "Version, parts and licences",
            "",
            "information-outline",
            menu,
            section=1,
            role=QAction.MenuRole.AboutRole,
        ),
    )


def checkpoint_actions() -> tuple[ActionInfo, ...]:
    """What can be done with checkpoints, in their panel."""
    rows = (
        (
            ActionId.CHECKPOINT_RESTORE,
            "&Restore",
            "Take the model back to this checkpoint; the record of forecasts and scores stays",
            "Ctrl+Return",
            "backup-restore",
        ),
        (ActionId.CHECKPOINT_PIN, "&Pin", "Keep these checkpoints until they are unpinned", "Ctrl+P", "pin-outline"),
        (ActionId.CHECKPOINT_NOTE, "&Note…", "Write a note on this checkpoint", "F2", "note-edit-outline"),
        (ActionId.CHECKPOINT_DELETE, "&Delete…", "Delete these checkpoints, after asking", "Del", "delete-outline"),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place="Checkpoints")
        for id_, text, tooltip, keys, name in rows
    )


def incident_actions() -> tuple[ActionInfo, ...]:
    """What can be done with incidents, in their panel."""
    tooltip = "Copy these incidents, with their details, as text"
    return (
        ActionInfo(
            ActionId.INCIDENT_COPY,
            "&Copy",
            tooltip,
            "Ctrl+C",
            "content-copy",
            is_in_tool_bar=True,
            place="Incidents",
        ),
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
        for info in self._infos.values():
            action = (existing or {}).get(info.id) or QAction(self)
            self._dress(action, info)
            self._actions[info.id] = action
        owner.addActions(list(self._actions.values()))

    def __getitem__(self, action_id: ActionId) -> QAction:
        return self._actions[action_id]

    def infos(self) -> tuple[ActionInfo, ...]:
        """The table, as it was given."""
        return tuple(self._infos.values())

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
        action.setToolTip(_with_shortcut(tooltip, info.shortcut))
        action.setIcon(icon(icon_name, palette.text))
        action.setProperty("icon_name", icon_name)

    def apply_palette(self, palette: Palette) -> None:
        """Draw all icons in the palette's colours."""
        for action in self._actions.values():
            name = str(action.property("icon_name") or "")
            if name:
                action.setIcon(icon(name, palette.text))

    def fill_menu_bar(self, bar: QMenuBar) -> None:
        """Add a menu for each path of the table."""
        menus: dict[tuple[str, ...], QMenu] = {}
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
                    menus[path] = parent.addMenu(path[-1])
                    menus[path].setToolTipsVisible(True)
                    sections[path] = info.section
                if is_innermost:
                    self._separate(menus[path], sections, path, info.section)
            menus[info.menu].addAction(self._actions[info.id])

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

    def _dress(self, action: QAction, info: ActionInfo) -> None:
        action.setObjectName(info.id.value)
        action.setText(info.text)
        action.setToolTip(_with_shortcut(info.tooltip, info.shortcut))
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
