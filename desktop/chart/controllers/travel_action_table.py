"""What a user can do with time, in one table."""

from __future__ import annotations

from desktop.actions import ActionId, ActionInfo
from desktop.chart.controllers.action_table import CHART
from desktop.translation import QT_TRANSLATE_NOOP

_TRAVEL = QT_TRANSLATE_NOOP("Actions", "&Time travel")
PAUSE_WORDS = (
    QT_TRANSLATE_NOOP("Actions", "&Pause"),
    QT_TRANSLATE_NOOP("Actions", "Stand still at the candle that is shown"),
    "pause",
)
"""What `Play` says while candles come: text, tooltip and icon."""
PLAY_WORDS = (
    QT_TRANSLATE_NOOP("Actions", "&Play"),
    QT_TRANSLATE_NOOP("Actions", "Go on candle by candle: from a past one until now, then with the replay"),
    "play",
)


def travel_actions() -> tuple[ActionInfo, ...]:
    """The part of the Chart menu, and of the bar below the chart."""
    rows = (
        (
            ActionId.TRAVEL_BACK,
            QT_TRANSLATE_NOOP("Actions", "Step &back"),
            QT_TRANSLATE_NOOP("Actions", "Show the chart as it stood a candle earlier, with the forecast of then"),
            "Alt+Left",
            "step-backward",
        ),
        (ActionId.TRAVEL_PLAY, *PLAY_WORDS[:2], "F9", PLAY_WORDS[2]),
        (
            ActionId.TRAVEL_FORWARD,
            QT_TRANSLATE_NOOP("Actions", "Step &forward"),
            QT_TRANSLATE_NOOP("Actions", "The next candle: of the past, or just one of the replay, which then waits"),
            "Alt+Right",
            "step-forward",
        ),
        (
            ActionId.TRAVEL_NOW,
            QT_TRANSLATE_NOOP("Actions", "Back to &now"),
            QT_TRANSLATE_NOOP("Actions", "Show all candles again; on the chart End and Esc do the same"),
            "Shift+F9",
            "clock-end",
        ),
    )
    return tuple(ActionInfo(*row, (CHART, _TRAVEL), section=4) for row in rows)
