"""All that a user can do, in one table."""

from __future__ import annotations

from PySide6.QtGui import QAction

from desktop.actions.chart_table import chart_actions
from desktop.actions.registry import ActionId, ActionInfo
from desktop.actions.view_table import dock_actions, view_actions
from desktop.ui.translation import QT_TRANSLATE_NOOP

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
            QT_TRANSLATE_NOOP("Actions", "Search actions, settings, checkpoints and markets"),
            "Ctrl+K",
            "magnify",
            menu,
        ),
        *_history_actions(menu),
        ActionInfo(
            ActionId.BACK_UP,
            QT_TRANSLATE_NOOP("Actions", "&Back up now"),
            QT_TRANSLATE_NOOP("Actions", "Copy the database with the checkpoints it needs, and verify the copy"),
            "Ctrl+Alt+B",
            "database-check-outline",
            menu,
            section=2,
        ),
        ActionInfo(
            ActionId.OPEN_DATA_FOLDER,
            QT_TRANSLATE_NOOP("Actions", "Open &data folder"),
            QT_TRANSLATE_NOOP("Actions", "Open the folder with the database, checkpoints and logs"),
            "Ctrl+Shift+O",
            "folder-open-outline",
            menu,
            section=2,
        ),
        ActionInfo(
            ActionId.PREFERENCES,
            QT_TRANSLATE_NOOP("Actions", "&Preferences…"),
            QT_TRANSLATE_NOOP("Actions", "Model, training, gradients, recovery, checkpoints, chart and appearance"),
            "Ctrl+,",
            "cog",
            menu,
            section=2,
            role=QAction.MenuRole.PreferencesRole,
        ),
        ActionInfo(
            ActionId.QUIT,
            QT_TRANSLATE_NOOP("Actions", "&Quit"),
            QT_TRANSLATE_NOOP("Actions", "Save a checkpoint, stop training and close the window"),
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
            QT_TRANSLATE_NOOP("Actions", "&Import candles…"),
            QT_TRANSLATE_NOOP("Actions", "Read candles or trades from files into the database, as a job"),
            "Ctrl+O",
            "database-import-outline",
        ),
        (
            ActionId.FETCH_HISTORY,
            QT_TRANSLATE_NOOP("Actions", "Fetch &history…"),
            QT_TRANSLATE_NOOP("Actions", "Fetch missing candles of a market from its exchange, as a job"),
            "Ctrl+Shift+H",
            "cloud-download-outline",
        ),
        (
            ActionId.SHARE_RUN,
            QT_TRANSLATE_NOOP("Actions", "&Share this run"),
            QT_TRANSLATE_NOOP("Actions", "Write this run's results as one page to give to others, as a job"),
            "Ctrl+Shift+W",
            "share-variant-outline",
        ),
    )
    return tuple(ActionInfo(*row, menu, section=1) for row in rows)


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
            QT_TRANSLATE_NOOP("Actions", "Pause learning; candles are still forecast and scored"),
            "F6",
            "pause",
            menu,
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.STEP_ONCE,
            QT_TRANSLATE_NOOP("Actions", "Step &once"),
            QT_TRANSLATE_NOOP("Actions", "Take one extra training step on older candles, also while paused"),
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
            QT_TRANSLATE_NOOP("Actions", "Save the current model"),
            "Ctrl+S",
            "content-save",
            menu,
            section=1,
            is_in_tool_bar=True,
        ),
        *_break_actions(),
        *_model_actions(menu),
    )


def _model_actions(menu: tuple[str, ...]) -> tuple[ActionInfo, ...]:
    return (
        ActionInfo(
            ActionId.PRETRAIN,
            QT_TRANSLATE_NOOP("Actions", "P&retrain…"),
            QT_TRANSLATE_NOOP("Actions", "Train a new model on candle files before a run, as a job"),
            "Ctrl+Shift+P",
            "school-outline",
            menu,
            section=3,
        ),
        ActionInfo(
            ActionId.EVALUATE,
            QT_TRANSLATE_NOOP("Actions", "&Evaluate on a file…"),
            QT_TRANSLATE_NOOP(
                "Actions", "Run the live session over a candle file, from a checkpoint or a new model, as a job"
            ),
            "Ctrl+Shift+A",
            "clipboard-check-outline",
            menu,
            section=3,
        ),
    )


def _break_actions() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.FREE_DEVICE_SHORT,
            QT_TRANSLATE_NOOP("Actions", "For 15 &minutes"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and release the GPU's memory for 15 minutes; candles are still stored, and caught "
                "up on",
            ),
            "Ctrl+F8",
            "timer-outline",
        ),
        (
            ActionId.FREE_DEVICE_LONG,
            QT_TRANSLATE_NOOP("Actions", "For an &hour"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and release the GPU's memory for an hour; candles are still stored, and caught up "
                "on",
            ),
            "Ctrl+Shift+F8",
            "timer-sand",
        ),
        (
            ActionId.FREE_DEVICE,
            QT_TRANSLATE_NOOP("Actions", "&Until training is started"),
            QT_TRANSLATE_NOOP(
                "Actions",
                "Save a checkpoint and release the GPU's memory until training is started again; candles are still "
                "stored, and caught up on",
            ),
            "",
            "coffee-outline",
        ),
    )
    menu = (_TRAINING, QT_TRANSLATE_NOOP("Actions", "&Release GPU"))
    return tuple(ActionInfo(*row, menu, section=2) for row in rows)


def _help_actions() -> tuple[ActionInfo, ...]:
    menu = (_HELP,)
    return (
        ActionInfo(
            ActionId.SHORTCUTS,
            QT_TRANSLATE_NOOP("Actions", "&Keyboard shortcuts"),
            QT_TRANSLATE_NOOP("Actions", "All actions and their shortcuts"),
            "F1",
            "keyboard-outline",
            menu,
        ),
        ActionInfo(
            ActionId.DOCUMENTATION,
            QT_TRANSLATE_NOOP("Actions", "&Documentation"),
            QT_TRANSLATE_NOOP("Actions", "Documentation of the program, stored on this computer"),
            "Ctrl+F1",
            "book-open-page-variant-outline",
            menu,
        ),
        ActionInfo(
            ActionId.ABOUT,
            QT_TRANSLATE_NOOP("Actions", "&About Ghostcandle"),
            QT_TRANSLATE_NOOP("Actions", "Version, components and licences"),
            "",
            "information-outline",
            menu,
            section=1,
            role=QAction.MenuRole.AboutRole,
        ),
    )
