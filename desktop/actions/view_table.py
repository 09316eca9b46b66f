"""What a user can do with the window: its theme, its panels, its layouts."""

from __future__ import annotations

from desktop.actions.registry import ActionId, ActionInfo
from desktop.ui.translation import QT_TRANSLATE_NOOP

_VIEW, _PANELS, _THEME = (
    QT_TRANSLATE_NOOP("Actions", "&View"),
    QT_TRANSLATE_NOOP("Actions", "&Panels"),
    QT_TRANSLATE_NOOP("Actions", "&Theme"),
)


_DOCKS = (
    (
        ActionId.SHOW_LOSS,
        QT_TRANSLATE_NOOP("Actions", "&Loss"),
        QT_TRANSLATE_NOOP("Actions", "Loss curves and learning rate"),
        "chart-line",
    ),
    (
        ActionId.SHOW_GRADIENTS,
        QT_TRANSLATE_NOOP("Actions", "&Gradients"),
        QT_TRANSLATE_NOOP("Actions", "What each step did to the gradients, and what is wrong"),
        "stethoscope",
    ),
    (
        ActionId.SHOW_ACCURACY,
        QT_TRANSLATE_NOOP("Actions", "&Accuracy"),
        QT_TRANSLATE_NOOP("Actions", "How good the forecasts have been, and how sure that is"),
        "target",
    ),
    (
        ActionId.SHOW_BEST,
        QT_TRANSLATE_NOOP("Actions", "&Best checkpoint"),
        QT_TRANSLATE_NOOP("Actions", "The checkpoint with the highest score that does not make the ghosts worse"),
        "trophy-outline",
    ),
    (
        ActionId.SHOW_CHECKPOINTS,
        QT_TRANSLATE_NOOP("Actions", "&Checkpoints"),
        QT_TRANSLATE_NOOP("Actions", "All checkpoints that are kept"),
        "history",
    ),
    (
        ActionId.SHOW_INCIDENTS,
        QT_TRANSLATE_NOOP("Actions", "&Incidents"),
        QT_TRANSLATE_NOOP("Actions", "What went wrong, and what was done"),
        "alert-outline",
    ),
    (
        ActionId.SHOW_FEED,
        QT_TRANSLATE_NOOP("Actions", "&Feed"),
        QT_TRANSLATE_NOOP("Actions", "How the connection to the exchange does, and what it told"),
        "lan-connect",
    ),
    (
        ActionId.SHOW_WATCHLIST,
        QT_TRANSLATE_NOOP("Actions", "&Watchlist"),
        QT_TRANSLATE_NOOP("Actions", "Prices of other markets; a click shows one on the chart"),
        "eye-outline",
    ),
    (
        ActionId.SHOW_LOG,
        QT_TRANSLATE_NOOP("Actions", "L&og"),
        QT_TRANSLATE_NOOP("Actions", "What the program wrote about its own work"),
        "text-box-outline",
    ),
    (
        ActionId.SHOW_JOBS,
        QT_TRANSLATE_NOOP("Actions", "&Jobs"),
        QT_TRANSLATE_NOOP("Actions", "Long work: how far it is, how long it takes yet, what came of it"),
        "progress-clock",
    ),
)


def view_actions() -> tuple[ActionInfo, ...]:
    """The whole screen, and the menu of themes."""
    theme = (_VIEW, _THEME)
    return (
        ActionInfo(
            ActionId.FULL_SCREEN,
            QT_TRANSLATE_NOOP("Actions", "&Full screen"),
            QT_TRANSLATE_NOOP(
                "Actions", "Give the window the whole screen, or take it back; Esc takes it back as well"
            ),
            "F11",
            "fullscreen",
            (_VIEW,),
            section=1,
            is_checkable=True,
        ),
        *(
            ActionInfo(id_, text, tooltip, "", name, theme, section=2, is_checkable=True, group="theme")
            for id_, text, tooltip, name in (
                (
                    ActionId.THEME_SYSTEM,
                    QT_TRANSLATE_NOOP("Actions", "As the &system"),
                    QT_TRANSLATE_NOOP("Actions", "Follow the desktop's dark or light setting"),
                    "monitor",
                ),
                (
                    ActionId.THEME_DARK,
                    QT_TRANSLATE_NOOP("Actions", "&Dark"),
                    QT_TRANSLATE_NOOP("Actions", "Light text on dark"),
                    "weather-night",
                ),
                (
                    ActionId.THEME_LIGHT,
                    QT_TRANSLATE_NOOP("Actions", "&Light"),
                    QT_TRANSLATE_NOOP("Actions", "Dark text on light"),
                    "white-balance-sunny",
                ),
            )
        ),
    )


def dock_actions() -> tuple[ActionInfo, ...]:
    """The menu of panels, and of where they are."""
    menu = (_VIEW, _PANELS)
    toggles = (
        ActionInfo(id_, text, tooltip, f"Ctrl+{number % 10}", name, menu, section=3, is_checkable=True)
        for number, (id_, text, tooltip, name) in enumerate(_DOCKS, start=1)
    )
    reset = ActionInfo(
        ActionId.RESET_LAYOUT,
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        QT_TRANSLATE_NOOP("Actions", "Put all panels back where they were at first"),
        "Ctrl+Shift+R",
        "view-dashboard-outline",
        (_VIEW,),
        section=3,
    )
    afloat = ActionInfo(
        ActionId.FLOAT_PANEL,
        QT_TRANSLATE_NOOP("Actions", "Let the panel &float"),
        QT_TRANSLATE_NOOP("Actions", "Take the panel that has the keys out of the window, or put it back"),
        "Ctrl+Shift+F",
        "dock-window",
        menu,
        section=4,
    )
    return (*toggles, afloat, *_layout_actions(), reset)


def _layout_actions() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.LAYOUT_WATCH,
            QT_TRANSLATE_NOOP("Actions", "&Watch"),
            QT_TRANSLATE_NOOP("Actions", "A large chart, the watchlist and the scores"),
            "Ctrl+Alt+1",
            "eye-outline",
        ),
        (
            ActionId.LAYOUT_TRAIN,
            QT_TRANSLATE_NOOP("Actions", "&Train"),
            QT_TRANSLATE_NOOP("Actions", "Loss, gradients, incidents and the log"),
            "Ctrl+Alt+2",
            "chart-line",
        ),
        (
            ActionId.LAYOUT_COMPARE,
            QT_TRANSLATE_NOOP("Actions", "&Compare"),
            QT_TRANSLATE_NOOP("Actions", "Room for the checkpoints and their scores"),
            "Ctrl+Alt+3",
            "compare-horizontal",
        ),
        (
            ActionId.KEEP_LAYOUT,
            QT_TRANSLATE_NOOP("Actions", "&Keep this layout…"),
            QT_TRANSLATE_NOOP("Actions", "Keep where the panels are now under a name"),
            "",
            "content-save-outline",
        ),
    )
    menu = (_VIEW, QT_TRANSLATE_NOOP("Actions", "La&youts"))
    return tuple(ActionInfo(*row, menu, section=int(row[0] is ActionId.KEEP_LAYOUT) + 3) for row in rows)
