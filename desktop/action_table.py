"""All that a user can do, in one table."""

from __future__ import annotations

from PySide6.QtGui import QAction

from desktop.actions import ActionId, ActionInfo
from desktop.charting.action_table import chart_actions

_FILE, _TRAINING, _VIEW, _PANELS, _THEME, _HELP = "&File", "&Training", "&View", "&Panels", "&Theme", "&Help"


def standard_actions() -> tuple[ActionInfo, ...]:
    """The table, in the order of menus and tool bar."""
    return (
        *_file_actions(),
        *_training_actions(),
        *chart_actions(),
        *_view_actions(),
        *_panel_actions(),
        *_help_actions(),
    )


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
            ActionId.FIND,
            "&Find anything…",
            "Type a few letters of an action, a setting, a checkpoint or a market",
            "Ctrl+K",
            "magnify",
            menu,
        ),
        *_history_actions(menu),
        ActionInfo(
            ActionId.OPEN_DATA_FOLDER,
            "Open &data folder",
            "Show the folder that holds the database, the checkpoints and the logs",
            "Ctrl+Shift+O",
            "folder-open-outline",
            menu,
            section=2,
        ),
        ActionInfo(
            ActionId.PREFERENCES,
            "&Preferences…",
            "Model, training, gradients, recovery, checkpoints, chart and appearance",
            "Ctrl+,",
            "cog",
            menu,
            section=2,
            role=QAction.MenuRole.PreferencesRole,
        ),
        ActionInfo(
            ActionId.QUIT,
            "&Quit",
            "Save a checkpoint, stop training and close the window",
            "Ctrl+Q",
            "power",
            menu,
            section=3,
            role=QAction.MenuRole.QuitRole,
        ),
    )


def _history_actions(menu: tuple[str, ...]) -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.IMPORT_CANDLES,
            "&Import candles…",
            "Read candles or trades from files into the database, as a job",
            "Ctrl+O",
            "database-import-outline",
        ),
        (
            ActionId.FETCH_HISTORY,
            "Fetch &history…",
            "Fetch what is missing of a market's history from its exchange, as a job",
            "Ctrl+Shift+F",
            "cloud-download-outline",
        ),
    )
    return tuple(ActionInfo(*row, menu, section=1) for row in rows)


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
        *_break_actions(),
        ActionInfo(
            ActionId.PRETRAIN,
            "P&retrain…",
            "Let a new model learn from candle files before a run, as a job",
            "Ctrl+Shift+P",
            "school-outline",
            menu,
            section=3,
        ),
        ActionInfo(
            ActionId.EVALUATE,
            "&Evaluate on a file…",
            "Run the live session over a candle file, from a checkpoint or a new model, as a job",
            "Ctrl+Shift+A",
            "clipboard-check-outline",
            menu,
            section=3,
        ),
    )


def _break_actions() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.FREE_DEVICE_SHORT, "For 15 &minutes", "Ctrl+F8", "timer-outline"),
        (ActionId.FREE_DEVICE_LONG, "For an &hour", "Ctrl+Shift+F8", "timer-sand"),
        (ActionId.FREE_DEVICE, "&Until it is started again", "", "coffee-outline"),
    )
    tooltip = "Save a checkpoint and give the GPU's memory back {}; candles go on being stored, and are caught up with"
    when = {
        ActionId.FREE_DEVICE_SHORT: "for 15 minutes",
        ActionId.FREE_DEVICE_LONG: "for an hour",
        ActionId.FREE_DEVICE: "until training is started again",
    }
    menu = (_TRAINING, "&Free the device")
    return tuple(
        ActionInfo(id_, text, tooltip.format(when[id_]), keys, name, menu, section=2) for id_, text, keys, name in rows
    )


def _view_actions() -> tuple[ActionInfo, ...]:
    theme = (_VIEW, _THEME)
    return (
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
        (
            ActionId.SHOW_GRADIENTS,
            "&Gradients",
            "What each step did to the gradients, and what is wrong",
            "stethoscope",
        ),
        (ActionId.SHOW_ACCURACY, "&Accuracy", "How good the forecasts have been, and how sure that is", "target"),
        (ActionId.SHOW_BEST, "&Best checkpoint", "The checkpoint with the highest score", "trophy-outline"),
        (ActionId.SHOW_CHECKPOINTS, "&Checkpoints", "All checkpoints that are kept", "history"),
        (ActionId.SHOW_INCIDENTS, "&Incidents", "What went wrong, and what was done", "alert-outline"),
        (ActionId.SHOW_FEED, "&Feed", "How the connection to the exchange does, and what it told", "lan-connect"),
        (
            ActionId.SHOW_WATCHLIST,
            "&Watchlist",
            "Prices of other markets; a click shows one on the chart",
            "eye-outline",
        ),
        (ActionId.SHOW_LOG, "L&og", "What the program wrote about its own work", "text-box-outline"),
        (
            ActionId.SHOW_JOBS,
            "&Jobs",
            "Long work: how far it is, how long it takes yet, what came of it",
            "progress-clock",
        ),
    )
    menu = (_VIEW, _PANELS)
    toggles = (
        ActionInfo(id_, text, tooltip, f"Ctrl+{number % 10}", name, menu, section=3, is_checkable=True)
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
    afloat = ActionInfo(
        ActionId.FLOAT_PANEL,
        "Let the panel &float",
        "Take the panel that has the keys out of the window, or put it back",
        "Ctrl+Shift+F",
        "dock-window",
        menu,
        section=4,
    )
    return (*toggles, afloat, *_layout_actions(), reset)


def _layout_actions() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.LAYOUT_WATCH, "&Watch", "A large chart, the watchlist and the scores", "Ctrl+Alt+1", "eye-outline"),
        (ActionId.LAYOUT_TRAIN, "&Train", "Loss, gradients, incidents and the log", "Ctrl+Alt+2", "chart-line"),
        (
            ActionId.LAYOUT_COMPARE,
            "&Compare",
            "Room for the checkpoints and their scores",
            "Ctrl+Alt+3",
            "compare-horizontal",
        ),
        (
            ActionId.KEEP_LAYOUT,
            "&Keep this layout…",
            "Keep where the panels are now under a name",
            "",
            "content-save-outline",
        ),
    )
    menu = (_VIEW, "La&youts")
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, menu, section=int(id_ is ActionId.KEEP_LAYOUT) + 3)
        for id_, text, tooltip, keys, name in rows
    )


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
    """What can be done with checkpoints, in their panel: buttons, then what only its menu has."""
    ids = ActionId
    buttons = (
        (
            ids.CHECKPOINT_RESTORE,
            "&Restore",
            "Show this checkpoint's ghosts on the chart, then take the model back to it; the record of forecasts stays",
            "Ctrl+Return",
            "backup-restore",
        ),
        (ids.CHECKPOINT_COMPARE, "&Compare", "Numbers, settings, curves side by side", "Ctrl+D", "compare"),
        (ids.CHECKPOINT_PIN, "&Pin", "Keep these checkpoints until they are unpinned", "Ctrl+P", "pin-outline"),
        (ids.CHECKPOINT_DELETE, "&Delete", "Delete these checkpoints; it can be undone", "Del", "delete-outline"),
        (ids.CHECKPOINT_UNDO, "&Undo", "Take the last change back", "Ctrl+Shift+Z", "undo"),
    )
    ghosts = ActionInfo(
        ids.CHECKPOINT_GHOSTS,
        "&Ghosts on the chart",
        "Show what these checkpoints would forecast now, beside each other; at most four",
        "Ctrl+H",
        "ghost-outline",
        is_checkable=True,
        place="Checkpoints",
    )
    runs = ActionInfo(
        ids.CHECKPOINT_ALL_RUNS,
        "&All runs",
        "Show the checkpoints of all runs, not only of the watched one",
        "Ctrl+R",
        "format-list-bulleted",
        is_checkable=True,
        place="Checkpoints",
    )
    return (
        *(ActionInfo(*row, is_in_tool_bar=True, place="Checkpoints") for row in buttons),
        ghosts,
        *(ActionInfo(*row, place="Checkpoints") for row in _other_checkpoint_rows()),
        runs,
    )


def _other_checkpoint_rows() -> tuple[tuple[ActionId, str, str, str, str], ...]:
    """Those of the menu alone: id, text, tooltip, keys, icon."""
    return (
        (ActionId.CHECKPOINT_NOTE, "&Note…", "Write a note on this checkpoint", "F2", "note-edit-outline"),
        (ActionId.CHECKPOINT_NAME, "R&ename…", "Give this checkpoint a name", "Shift+F2", "rename-box"),
        (ActionId.CHECKPOINT_TAGS, "&Tags…", "Give these checkpoints words to find them by", "Ctrl+T", "tag-outline"),
        (ActionId.CHECKPOINT_FILTER, "&Filter", "Type what is to be shown", "Ctrl+F", "filter-outline"),
        (
            ActionId.CHECKPOINT_VERIFY,
            "&Verify",
            "Read the files again and check them",
            "Ctrl+Y",
            "check-decagram-outline",
        ),
        (ActionId.CHECKPOINT_EXPORT, "&Export…", "Write these into folders to be given away", "Ctrl+Shift+E", "export"),
        (ActionId.CHECKPOINT_IMPORT, "&Import…", "Take in a checkpoint that was exported", "Ctrl+Shift+I", "import"),
        (
            ActionId.CHECKPOINT_EVALUATE,
            "E&valuate on a file…",
            "Run the live session over a candle file from this checkpoint, and keep what was found with it",
            "Ctrl+J",
            "clipboard-check-outline",
        ),
        (
            ActionId.CHECKPOINT_REPORT,
            "Open its re&port",
            "Show the page of this checkpoint's newest evaluation",
            "Ctrl+Shift+J",
            "open-in-new",
        ),
        (
            ActionId.CHECKPOINT_CLEAN_UP,
            "Clean &up…",
            "Which checkpoints the rules keep, and what a clean-up would delete",
            "Ctrl+Shift+D",
            "broom",
        ),
        (ActionId.CHECKPOINT_RUNS, "Run&s…", "All runs: show, compare, archive", "Ctrl+U", "folder-multiple-outline"),
        (ActionId.CHECKPOINT_COLUMNS, "C&olumns…", "Choose, move and sort columns", "Ctrl+L", "view-column-outline"),
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


def job_actions() -> tuple[ActionInfo, ...]:
    """What can be done with jobs, in their panel."""
    rows = (
        (ActionId.JOB_CANCEL, "&Cancel", "Ask this job to end; what is whole by then stays", "Del", "cancel"),
        (ActionId.JOB_OPEN, "&Open report", "Show the page that this job wrote", "Return", "open-in-new"),
        (ActionId.JOB_CLEAR, "C&lear", "Take what is over off the list", "Ctrl+L", "playlist-remove"),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place="Jobs")
        for id_, text, tooltip, keys, name in rows
    )


def log_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the log's panel."""
    rows = (
        (ActionId.LOG_COPY, "&Copy", "Copy the chosen lines, with what follows them", "Ctrl+C", "content-copy"),
        (ActionId.LOG_FOLDER, "Open &folder", "Show the folder of the log files", "Ctrl+O", "folder-open-outline"),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place="Log")
        for id_, text, tooltip, keys, name in rows
    )


def feed_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the feed's panel."""
    return (
        ActionInfo(
            ActionId.FEED_COPY,
            "&Copy",
            "Copy what is selected, rejected messages as they came",
            "Ctrl+C",
            "content-copy",
            is_in_tool_bar=True,
            place="Feed",
        ),
    )


def watchlist_actions() -> tuple[ActionInfo, ...]:
    """What can be done with the markets of the watchlist, in its panel."""
    rows = (
        (ActionId.WATCH_OPEN, "&Show on the chart", "Show this market on the chart; its run goes on", "Return", "eye"),
        (ActionId.WATCH_UP, "Move &up", "Move this market up", "Alt+Up", "arrow-up"),
        (ActionId.WATCH_DOWN, "Move &down", "Move this market down", "Alt+Down", "arrow-down"),
        (ActionId.WATCH_REMOVE, "&Remove", "Take this market off the list; what was learned stays", "Del", "close"),
        (ActionId.WATCH_UNDO, "U&ndo", "Take the last change of the list back", "Ctrl+Shift+Z", "undo"),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, is_in_tool_bar=True, place="Watchlist")
        for id_, text, tooltip, keys, name in rows
    )
