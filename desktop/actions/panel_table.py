"""Actions of single panels: checkpoints, incidents, jobs, the log, the feed, the markets."""

from __future__ import annotations

from desktop.actions.registry import ActionId, ActionInfo
from desktop.ui.translation import QT_TRANSLATE_NOOP

_BUTTONS_OF_CHECKPOINTS = (
    (
        ActionId.CHECKPOINT_RESTORE,
        QT_TRANSLATE_NOOP("Actions", "&Restore"),
        QT_TRANSLATE_NOOP(
            "Actions",
            "Preview this checkpoint's ghosts on the chart, then restore the model; the forecast record is kept",
        ),
        "Ctrl+Return",
        "backup-restore",
    ),
    (
        ActionId.CHECKPOINT_COMPARE,
        QT_TRANSLATE_NOOP("Actions", "&Compare"),
        QT_TRANSLATE_NOOP("Actions", "Compare metrics, settings and curves side by side"),
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
        QT_TRANSLATE_NOOP("Actions", "Undo the last change"),
        "Ctrl+Z",
        "undo",
    ),
)
_MORE_OF_CHECKPOINTS = (
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
        QT_TRANSLATE_NOOP("Actions", "Tag these checkpoints to find them later"),
        "Ctrl+T",
        "tag-outline",
    ),
    (
        ActionId.CHECKPOINT_FILTER,
        QT_TRANSLATE_NOOP("Actions", "&Filter"),
        QT_TRANSLATE_NOOP("Actions", "Filter the list"),
        "Ctrl+F",
        "filter-outline",
    ),
    (
        ActionId.CHECKPOINT_VERIFY,
        QT_TRANSLATE_NOOP("Actions", "&Verify"),
        QT_TRANSLATE_NOOP("Actions", "Check the files against their checksums"),
        "Ctrl+Y",
        "check-decagram-outline",
    ),
    (
        ActionId.CHECKPOINT_EXPORT,
        QT_TRANSLATE_NOOP("Actions", "&Export…"),
        QT_TRANSLATE_NOOP("Actions", "Export these checkpoints to folders that can be shared"),
        "Ctrl+Shift+E",
        "export",
    ),
    (
        ActionId.CHECKPOINT_IMPORT,
        QT_TRANSLATE_NOOP("Actions", "&Import…"),
        QT_TRANSLATE_NOOP("Actions", "Import an exported checkpoint"),
        "Ctrl+Shift+I",
        "import",
    ),
    (
        ActionId.CHECKPOINT_EVALUATE,
        QT_TRANSLATE_NOOP("Actions", "E&valuate on a file…"),
        QT_TRANSLATE_NOOP(
            "Actions",
            "Run the live session over a candle file from this checkpoint, and store the result with it",
        ),
        "Ctrl+J",
        "clipboard-check-outline",
    ),
    (
        ActionId.CHECKPOINT_REPORT,
        QT_TRANSLATE_NOOP("Actions", "Open re&port"),
        QT_TRANSLATE_NOOP("Actions", "Open the report of this checkpoint's newest evaluation"),
        "Ctrl+Shift+J",
        "open-in-new",
    ),
    (
        ActionId.CHECKPOINT_CLEAN_UP,
        QT_TRANSLATE_NOOP("Actions", "Clean &up…"),
        QT_TRANSLATE_NOOP("Actions", "Preview what a clean-up would delete, and why the rest is kept"),
        "Ctrl+Shift+D",
        "broom",
    ),
    (
        ActionId.CHECKPOINT_RUNS,
        QT_TRANSLATE_NOOP("Actions", "Run&s…"),
        QT_TRANSLATE_NOOP("Actions", "Show, compare or archive runs"),
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
"""Those of the menu alone: id, text, tooltip, keys, icon."""


def checkpoint_actions() -> tuple[ActionInfo, ...]:
    """What can be done with checkpoints, in their panel: buttons, then what only its menu has."""
    ids = ActionId
    ghosts = ActionInfo(
        ids.CHECKPOINT_GHOSTS,
        QT_TRANSLATE_NOOP("Actions", "&Ghosts on the chart"),
        QT_TRANSLATE_NOOP("Actions", "Show what up to four of these checkpoints would forecast now, side by side"),
        "Ctrl+H",
        "ghost-outline",
        is_checkable=True,
        place=QT_TRANSLATE_NOOP("Actions", "Checkpoints"),
    )
    runs = ActionInfo(
        ids.CHECKPOINT_ALL_RUNS,
        QT_TRANSLATE_NOOP("Actions", "&All runs"),
        QT_TRANSLATE_NOOP("Actions", "Show the checkpoints of all runs, not only the watched one"),
        "Ctrl+R",
        "format-list-bulleted",
        is_checkable=True,
        place=QT_TRANSLATE_NOOP("Actions", "Checkpoints"),
    )
    return (
        *(
            ActionInfo(*row, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Checkpoints"))
            for row in _BUTTONS_OF_CHECKPOINTS
        ),
        ghosts,
        *(ActionInfo(*row, place=QT_TRANSLATE_NOOP("Actions", "Checkpoints")) for row in _MORE_OF_CHECKPOINTS),
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


def job_actions() -> tuple[ActionInfo, ...]:
    """What can be done with jobs, in their panel."""
    rows = (
        (
            ActionId.JOB_CANCEL,
            QT_TRANSLATE_NOOP("Actions", "&Cancel"),
            QT_TRANSLATE_NOOP("Actions", "Cancel this job; completed parts are kept"),
            "Del",
            "cancel",
        ),
        (
            ActionId.JOB_OPEN,
            QT_TRANSLATE_NOOP("Actions", "&Open"),
            QT_TRANSLATE_NOOP("Actions", "Open the job's report, or the market whose candles it stored"),
            "Return",
            "open-in-new",
        ),
        (
            ActionId.JOB_CLEAR,
            QT_TRANSLATE_NOOP("Actions", "C&lear"),
            QT_TRANSLATE_NOOP("Actions", "Remove finished jobs"),
            "Ctrl+L",
            "playlist-remove",
        ),
    )
    return tuple(ActionInfo(*row, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Jobs")) for row in rows)


def log_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the log's panel."""
    rows = (
        (
            ActionId.LOG_COPY,
            QT_TRANSLATE_NOOP("Actions", "&Copy"),
            QT_TRANSLATE_NOOP("Actions", "Copy the selected lines with their details"),
            "Ctrl+C",
            "content-copy",
        ),
        (
            ActionId.LOG_FOLDER,
            QT_TRANSLATE_NOOP("Actions", "Open &folder"),
            QT_TRANSLATE_NOOP("Actions", "Show the folder of the log files"),
            "Ctrl+Shift+L",
            "folder-open-outline",
        ),
    )
    return tuple(ActionInfo(*row, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Log")) for row in rows)


def feed_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the feed's panel."""
    return (
        ActionInfo(
            ActionId.FEED_COPY,
            QT_TRANSLATE_NOOP("Actions", "&Copy"),
            QT_TRANSLATE_NOOP("Actions", "Copy the selection; rejected messages as received"),
            "Ctrl+C",
            "content-copy",
            is_in_tool_bar=True,
            place=QT_TRANSLATE_NOOP("Actions", "Feed"),
        ),
    )


def markets_actions() -> tuple[ActionInfo, ...]:
    """What can be done with the listed markets, in their panel."""
    rows = (
        (
            ActionId.WATCH_OPEN,
            QT_TRANSLATE_NOOP("Actions", "&Show on the chart"),
            QT_TRANSLATE_NOOP("Actions", "Show this market on the chart; its run continues"),
            "Return",
            "eye",
        ),
        (
            ActionId.WATCH_LEARN,
            QT_TRANSLATE_NOOP("Actions", "&Learn from it"),
            QT_TRANSLATE_NOOP("Actions", "Switch whether the model learns from this market"),
            "Space",
            "school-outline",
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
            QT_TRANSLATE_NOOP("Actions", "Remove this market from the list; its run and candles are kept"),
            "Del",
            "close",
        ),
        (
            ActionId.WATCH_UNDO,
            QT_TRANSLATE_NOOP("Actions", "U&ndo"),
            QT_TRANSLATE_NOOP("Actions", "Undo the last change to the list"),
            "Ctrl+Z",
            "undo",
        ),
    )
    return tuple(ActionInfo(*row, is_in_tool_bar=True, place=QT_TRANSLATE_NOOP("Actions", "Markets")) for row in rows)


def overview_actions() -> tuple[ActionInfo, ...]:
    """What can be done in the Overview: how many charts, then the way out."""
    place = QT_TRANSLATE_NOOP("Actions", "Overview")
    counts = (
        (
            ActionId.OVERVIEW_4,
            QT_TRANSLATE_NOOP("Actions", "2 × 2"),
            QT_TRANSLATE_NOOP("Actions", "Show 4 markets"),
            "2",
            "view-grid-outline",
        ),
        (
            ActionId.OVERVIEW_9,
            QT_TRANSLATE_NOOP("Actions", "3 × 3"),
            QT_TRANSLATE_NOOP("Actions", "Show 9 markets"),
            "3",
            "grid",
        ),
        (
            ActionId.OVERVIEW_16,
            QT_TRANSLATE_NOOP("Actions", "4 × 4"),
            QT_TRANSLATE_NOOP("Actions", "Show 16 markets"),
            "4",
            "dots-grid",
        ),
    )
    return (
        *(
            ActionInfo(*row, is_in_tool_bar=True, is_checkable=True, group="overview_charts", place=place)
            for row in counts
        ),
        ActionInfo(
            ActionId.OVERVIEW_OPEN,
            QT_TRANSLATE_NOOP("Actions", "&Open"),
            QT_TRANSLATE_NOOP("Actions", "Show the selected market on the large chart"),
            "Return",
            "eye",
            place=place,
        ),
        ActionInfo(
            ActionId.OVERVIEW_CLOSE,
            QT_TRANSLATE_NOOP("Actions", "&Back to the chart"),
            QT_TRANSLATE_NOOP("Actions", "Show the large chart and the panels again"),
            "Esc",
            "arrow-left",
            section=1,
            is_in_tool_bar=True,
            place=place,
        ),
    )


def panel_actions() -> tuple[ActionInfo, ...]:
    """Those of all panels."""
    tables = (
        checkpoint_actions,
        incident_actions,
        feed_actions,
        markets_actions,
        job_actions,
        log_actions,
        overview_actions,
    )
    return tuple(info for table in tables for info in table())
