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
        QT_TRANSLATE_NOOP("Actions", "Gradients of each step, and their diagnosis"),
        "stethoscope",
    ),
    (
        ActionId.SHOW_ACCURACY,
        QT_TRANSLATE_NOOP("Actions", "&Accuracy"),
        QT_TRANSLATE_NOOP("Actions", "Accuracy of the forecasts, and how certain it is"),
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
        QT_TRANSLATE_NOOP("Actions", "All stored checkpoints"),
        "history",
    ),
    (
        ActionId.SHOW_INCIDENTS,
        QT_TRANSLATE_NOOP("Actions", "&Incidents"),
        QT_TRANSLATE_NOOP("Actions", "Faults in training, and how they were handled"),
        "alert-outline",
    ),
    (
        ActionId.SHOW_FEED,
        QT_TRANSLATE_NOOP("Actions", "&Feed"),
        QT_TRANSLATE_NOOP("Actions", "Connection status and events"),
        "lan-connect",
    ),
    (
        ActionId.SHOW_MARKETS,
        QT_TRANSLATE_NOOP("Actions", "&Markets"),
        QT_TRANSLATE_NOOP("Actions", "Each market: price, ghosts, their worth, feed; a click shows one on the chart"),
        "eye-outline",
    ),
    (
        ActionId.SHOW_LOG,
        QT_TRANSLATE_NOOP("Actions", "L&og"),
        QT_TRANSLATE_NOOP("Actions", "Log messages of the program"),
        "text-box-outline",
    ),
    (
        ActionId.SHOW_JOBS,
        QT_TRANSLATE_NOOP("Actions", "&Jobs"),
        QT_TRANSLATE_NOOP("Actions", "Background jobs: progress, time left, result"),
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
            QT_TRANSLATE_NOOP("Actions", "Enter or leave full screen; Esc also leaves it"),
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
                    QT_TRANSLATE_NOOP("Actions", "Follow &system"),
                    QT_TRANSLATE_NOOP("Actions", "Use the desktop's dark or light setting"),
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
        QT_TRANSLATE_NOOP("Actions", "Reset all panels to their default places"),
        "Ctrl+Shift+R",
        "view-dashboard-outline",
        (_VIEW,),
        section=3,
    )
    afloat = ActionInfo(
        ActionId.FLOAT_PANEL,
        QT_TRANSLATE_NOOP("Actions", "&Float panel"),
        QT_TRANSLATE_NOOP("Actions", "Detach the panel with keyboard focus from the window, or dock it again"),
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
            QT_TRANSLATE_NOOP("Actions", "A large chart, the markets and the scores"),
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
            QT_TRANSLATE_NOOP("Actions", "Checkpoints and their scores, enlarged"),
            "Ctrl+Alt+3",
            "compare-horizontal",
        ),
        (
            ActionId.OVERVIEW,
            QT_TRANSLATE_NOOP("Actions", "&Overview"),
            QT_TRANSLATE_NOOP("Actions", "Charts of 4, 9 or 16 markets at once; a click opens one large"),
            "Ctrl+Alt+4",
            "view-grid-outline",
        ),
        (
            ActionId.KEEP_LAYOUT,
            QT_TRANSLATE_NOOP("Actions", "Save &layout…"),
            QT_TRANSLATE_NOOP("Actions", "Save the current places of the panels under a name"),
            "",
            "content-save-outline",
        ),
    )
    menu = (_VIEW, QT_TRANSLATE_NOOP("Actions", "La&youts"))
    return tuple(
        ActionInfo(
            *row,
            menu,
            section=int(row[0] is ActionId.KEEP_LAYOUT) + 3,
            is_checkable=row[0] is ActionId.OVERVIEW,
        )
        for row in rows
    )
