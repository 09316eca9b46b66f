"""All that a user can do, in one table."""

from __future__ import annotations

from PySide6.QtGui import QAction

from desktop.actions import ActionId, ActionInfo
from desktop.charting.action_table import chart_actions
from desktop.translation import QT_TRANSLATE_NOOP
from desktop.view_action_table import dock_actions, view_actions

_FILE, _TRAINING, _HELP = (
    QT_TRANSLATE_NOOP("Actions", "&File"),
    QT_TRANSLATE_NOOP("Actions", "&Training"),
    QT_TRANSLATE_NOOP("Actions", "&Help"),
)


def standard_actions() -> tuple[ActionInfo, ...]:
    """The table, in the order of menus and tool bar."""
    return (
        *_file_actions(),
        *_training_actions(),
        *chart_actions(),
        *view_actions(),
        *dock_actions(),
        *_help_actions(),
    )


def _file_actions() -> tuple[ActionInfo, ...]:
    menu = (_FILE,)
    return (
        ActionInfo(
            ActionId.CHOOSE_MARKET,
            QT_TRANSLATE_NOOP("Actions", "Choose &market…"),
            QT_TRANSLATE_NOOP("Actions", "Choose the exchange, symbol and interval, or a file to replay"),
            "Ctrl+M",
            "swap-horizontal",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.FIND,
            QT_TRANSLATE_NOOP("Actions", "&Find anything…"),
            QT_TRANSLATE_NOOP("Actions", "Type a few letters of an action, a setting, a checkpoint or a market"),
            "Ctrl+K",
            "magnify",
            menu,
        ),
        ActionInfo(
            ActionId.OPEN_DATA_FOLDER,
            QT_TRANSLATE_NOOP("Actions", "Open &data folder"),
            QT_TRANSLATE_NOOP("Actions", "Show the folder that holds the database, the checkpoints and the logs"),
            "Ctrl+Shift+O",
            "folder-open-outline",
            menu,
            section=1,
        ),
        ActionInfo(
            ActionId.PREFERENCES,
            QT_TRANSLATE_NOOP("Actions", "&Preferences…"),
            QT_TRANSLATE_NOOP("Actions", "Model, training, gradients, recovery, checkpoints, chart and appearance"),
            "Ctrl+,",
            "cog",
            menu,
            section=1,
            role=QAction.MenuRole.PreferencesRole,
        ),
        ActionInfo(
            ActionId.QUIT,
            QT_TRANSLATE_NOOP("Actions", "&Quit"),
            QT_TRANSLATE_NOOP("Actions", "Save a checkpoint, stop training and close the window"),
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
            ActionId.START,
            QT_TRANSLATE_NOOP("Actions", "&Start"),
            QT_TRANSLATE_NOOP("Actions", "Start training on the chosen market"),
            "F5",
            "play",
            menu,
            0,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.PAUSE,
            QT_TRANSLATE_NOOP("Actions", "&Pause"),
            QT_TRANSLATE_NOOP("Actions", "Pause: candles are still forecast and scored, but not learned from"),
            "F6",
            "pause",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.STEP_ONCE,
            QT_TRANSLATE_NOOP("Actions", "Step &once"),
            QT_TRANSLATE_NOOP("Actions", "One extra training step on older candles, also while paused"),
            "F7",
            "step-forward",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.STOP,
            QT_TRANSLATE_NOOP("Actions", "S&top"),
            QT_TRANSLATE_NOOP("Actions", "Save a checkpoint and stop training"),
            "F8",
            "stop",
            menu,
            0,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.SAVE_CHECKPOINT,
            QT_TRANSLATE_NOOP("Actions", "Save &checkpoint"),
            QT_TRANSLATE_NOOP("Actions", "Save the model as it is now"),
            "Ctrl+S",
            "content-save",
            menu,
            section=1,
            is_in_tool_bar=True,
        ),
        *_break_actions(),
    )


def _break_actions() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.FREE_DEVICE_SHORT,
            QT_TRANSLATE_NOOP("Actions", "For 15 &minutes"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and give the GPU's memory back for 15 minutes; "
                "candles go on being stored, and are caught up with",
            ),
            "Ctrl+F8",
            "timer-outline",
        ),
        (
            ActionId.FREE_DEVICE_LONG,
            QT_TRANSLATE_NOOP("Actions", "For an &hour"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and give the GPU's memory back for an hour; "
                "candles go on being stored, and are caught up with",
            ),
            "Ctrl+Shift+F8",
            "timer-sand",
        ),
        (
            ActionId.FREE_DEVICE,
            QT_TRANSLATE_NOOP("Actions", "&Until it is started again"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and give the GPU's memory back until training is started again; "
                "candles go on being stored, and are caught up with",
            ),
            "",
            "coffee-outline",
        ),
    )
    menu = (_TRAINING, QT_TRANSLATE_NOOP("Actions", "&Free the device"))
    return tuple(ActionInfo(*row, menu, section=2) for row in rows)


def _help_actions() -> tuple[ActionInfo, ...]:
    menu = (_HELP,)
    return (
        ActionInfo(
            ActionId.SHORTCUTS,
            QT_TRANSLATE_NOOP("Actions", "&Keyboard shortcuts"),
            QT_TRANSLATE_NOOP("Actions", "All actions and their keys"),
            "F1",
            "keyboard-outline",
            menu,
        ),
        ActionInfo(
            ActionId.ABOUT,
            QT_TRANSLATE_NOOP("Actions", "&About Ghostcandle"),
            QT_TRANSLATE_NOOP("Actions", "Version, parts and licences"),
            "",
            "information-outline",
            menu,
            section=1,
            role=QAction.MenuRole.AboutRole,
        ),
    )


_CHECKPOINTS = QT_TRANSLATE_NOOP("Actions", "Checkpoints")
_CHECKPOINT_BUTTONS = (
    (
        ActionId.CHECKPOINT_RESTORE,
        QT_TRANSLATE_NOOP("Actions", "&Restore"),
        QT_TRANSLATE_NOOP(
            "Actions",
            "Show this checkpoint's ghosts on the chart, then take the model back to it; the record of forecasts stays",
        ),
        "Ctrl+Return",
        "backup-restore",
    ),
    (
        ActionId.CHECKPOINT_COMPARE,
        QT_TRANSLATE_NOOP("Actions", "&Compare"),
        QT_TRANSLATE_NOOP("Actions", "Numbers, settings, curves side by side"),
        "Ctrl+D",
        "compare",
    ),
    (
        ActionId.CHECKPOINT_PIN,
        QT_TRANSLATE_NOOP("Actions", "&Pin"),
        QT_TRANSLATE_NOOP("Actions", "Keep these checkpoints until they are unpinned"),
        "Ctrl+P",
        "pin-outline",
    ),
    (
        ActionId.CHECKPOINT_DELETE,
        QT_TRANSLATE_NOOP("Actions", "&Delete"),
        QT_TRANSLATE_NOOP("Actions", "Delete these checkpoints; it can be undone"),
        "Del",
        "delete-outline",
    ),
    (
        ActionId.CHECKPOINT_UNDO,
        QT_TRANSLATE_NOOP("Actions", "&Undo"),
        QT_TRANSLATE_NOOP("Actions", "Take the last change back"),
        "Ctrl+Shift+Z",
        "undo",
    ),
)
_CHECKPOINT_MENU = (
    (
        ActionId.CHECKPOINT_NOTE,
        QT_TRANSLATE_NOOP("Actions", "&Note…"),
        QT_TRANSLATE_NOOP("Actions", "Write a note on this checkpoint"),
        "F2",
        "note-edit-outline",
    ),
    (
        ActionId.CHECKPOINT_NAME,
        QT_TRANSLATE_NOOP("Actions", "R&ename…"),
        QT_TRANSLATE_NOOP("Actions", "Give this checkpoint a name"),
        "Shift+F2",
        "rename-box",
    ),
    (
        ActionId.CHECKPOINT_TAGS,
        QT_TRANSLATE_NOOP("Actions", "&Tags…"),
        QT_TRANSLATE_NOOP("Actions", "Give these checkpoints words to find them by"),
        "Ctrl+T",
        "tag-outline",
    ),
    (
        ActionId.CHECKPOINT_FILTER,
        QT_TRANSLATE_NOOP("Actions", "&Filter"),
        QT_TRANSLATE_NOOP("Actions", "Type what is to be shown"),
        "Ctrl+F",
        "filter-outline",
    ),
    (
        ActionId.CHECKPOINT_VERIFY,
        QT_TRANSLATE_NOOP("Actions", "&Verify"),
        QT_TRANSLATE_NOOP("Actions", "Read the files again and check them"),
        "Ctrl+Y",
        "check-decagram-outline",
    ),
    (
        ActionId.CHECKPOINT_EXPORT,
        QT_TRANSLATE_NOOP("Actions", "&Export…"),
        QT_TRANSLATE_NOOP("Actions", "Write these into folders to be given away"),
        "Ctrl+Shift+E",
        "export",
    ),
    (
        ActionId.CHECKPOINT_IMPORT,
        QT_TRANSLATE_NOOP("Actions", "&Import…"),
        QT_TRANSLATE_NOOP("Actions", "Take in a checkpoint that was exported"),
        "Ctrl+Shift+I",
        "import",
    ),
    (
        ActionId.CHECKPOINT_CLEAN_UP,
        QT_TRANSLATE_NOOP("Actions", "Clean &up…"),
        QT_TRANSLATE_NOOP("Actions", "Which checkpoints the rules keep, and what a clean-up would delete"),
        "Ctrl+Shift+D",
        "broom",
    ),
    (
        ActionId.CHECKPOINT_RUNS,
        QT_TRANSLATE_NOOP("Actions", "Run&s…"),
        QT_TRANSLATE_NOOP("Actions", "All runs: show, compare, archive"),
        "Ctrl+U",
        "folder-multiple-outline",
    ),
    (
        ActionId.CHECKPOINT_COLUMNS,
        QT_TRANSLATE_NOOP("Actions", "C&olumns…"),
        QT_TRANSLATE_NOOP("Actions", "Choose, move and sort columns"),
        "Ctrl+L",
        "view-column-outline",
    ),
)


def checkpoint_actions() -> tuple[ActionInfo, ...]:
    """What can be done with checkpoints, in their panel: buttons, then what only its menu has."""
    ids = ActionId
    ghosts = ActionInfo(
        ids.CHECKPOINT_GHOSTS,
        QT_TRANSLATE_NOOP("Actions", "&Ghosts on the chart"),
        QT_TRANSLATE_NOOP("Actions", "Show what these checkpoints would forecast now, beside each other; at most four"),
        "Ctrl+H",
        "ghost-outline",
        is_checkable=True,
        place=_CHECKPOINTS,
    )
    runs = ActionInfo(
        ids.CHECKPOINT_ALL_RUNS,
        QT_TRANSLATE_NOOP("Actions", "&All runs"),
        QT_TRANSLATE_NOOP("Actions", "Show the checkpoints of all runs, not only of the watched one"),
        "Ctrl+R",
        "format-list-bulleted",
        is_checkable=True,
        place=_CHECKPOINTS,
    )
    return (
        *(ActionInfo(*row, is_in_tool_bar=True, place=_CHECKPOINTS) for row in _CHECKPOINT_BUTTONS),
        ghosts,
        *(ActionInfo(*row, place=_CHECKPOINTS) for row in _CHECKPOINT_MENU),
        runs,
    )


def incident_actions() -> tuple[ActionInfo, ...]:
    """What can be done with incidents, in their panel."""
    tooltip = QT_TRANSLATE_NOOP("Actions", "Copy these incidents, with their details, as text")
    return (
        ActionInfo(
            ActionId.INCIDENT_COPY,
            QT_TRANSLATE_NOOP("Actions", "&Copy"),
            tooltip,
            "Ctrl+C",
            "content-copy",
            is_in_tool_bar=True,
            place=QT_TRANSLATE_NOOP("Actions", "Incidents"),
        ),
    )


def log_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the log's panel."""
    rows = (
        (
            ActionId.LOG_COPY,
            QT_TRANSLATE_NOOP("Actions", "&Copy"),
            QT_TRANSLATE_NOOP("Actions", "Copy the chosen lines, with what follows them"),
            "Ctrl+C",
            "content-copy",
        ),
        (
            ActionId.LOG_FOLDER,
            QT_TRANSLATE_NOOP("Actions", "Open &folder"),
            QT_TRANSLATE_NOOP("Actions", "Show the folder that holds the log files"),
            "",
            "folder-open-outline",
        ),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Log"))
        for id_, text, tooltip, keys, name in rows
    )


def feed_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the feed's panel."""
    return (
        ActionInfo(
            ActionId.FEED_COPY,
            QT_TRANSLATE_NOOP("Actions", "&Copy"),
            QT_TRANSLATE_NOOP("Actions", "Copy what is selected, rejected messages as they came"),
            "Ctrl+C",
            "content-copy",
            is_in_tool_bar=True,
            place=QT_TRANSLATE_NOOP("Actions", "Feed"),
        ),
    )


def watchlist_actions() -> tuple[ActionInfo, ...]:
    """What can be done with the markets of the watchlist, in its panel."""
    rows = (
        (
            ActionId.WATCH_OPEN,
            QT_TRANSLATE_NOOP("Actions", "&Show on the chart"),
            QT_TRANSLATE_NOOP("Actions", "Show this market on the chart; its run goes on"),
            "Return",
            "eye",
        ),
        (
            ActionId.WATCH_UP,
            QT_TRANSLATE_NOOP("Actions", "Move &up"),
            QT_TRANSLATE_NOOP("Actions", "Move this market up"),
            "Alt+Up",
            "arrow-up",
        ),
        (
            ActionId.WATCH_DOWN,
            QT_TRANSLATE_NOOP("Actions", "Move &down"),
            QT_TRANSLATE_NOOP("Actions", "Move this market down"),
            "Alt+Down",
            "arrow-down",
        ),
        (
            ActionId.WATCH_REMOVE,
            QT_TRANSLATE_NOOP("Actions", "&Remove"),
            QT_TRANSLATE_NOOP("Actions", "Take this market off the list; what was learned stays"),
            "Del",
            "close",
        ),
        (
            ActionId.WATCH_UNDO,
            QT_TRANSLATE_NOOP("Actions", "U&ndo"),
            QT_TRANSLATE_NOOP("Actions", "Take the last change of the list back"),
            "Ctrl+Shift+Z",
            "undo",
        ),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Watchlist"))
        for id_, text, tooltip, keys, name in rows
    )
