"""What a hand does on the chart: lines, drawings, steps through time."""

from __future__ import annotations

from desktop.actions.registry import ActionId, ActionInfo
from desktop.ui.translation import QT_TRANSLATE_NOOP

CHART = QT_TRANSLATE_NOOP("Actions", "&Chart")
CHART_PLACE = QT_TRANSLATE_NOOP("Actions", "Chart")
"""Keys that belong to the chart alone. None is a letter or a digit by itself: those are typed, for a market
or an interval."""
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
_LINE_TOOLS = (
    (
        ActionId.ADD_ALERT,
        QT_TRANSLATE_NOOP("Actions", "&Alert…"),
        QT_TRANSLATE_NOOP(
            "Actions", "Set a price alert: click where; by keys alone at the crosshair or the last price"
        ),
        "Alt+Shift+A",
        "bell-plus-outline",
    ),
    (
        ActionId.ADD_NOTE,
        QT_TRANSLATE_NOOP("Actions", "&Note…"),
        QT_TRANSLATE_NOOP("Actions", "Write a note at a price: click where"),
        "Alt+Shift+N",
        "note-plus-outline",
    ),
    (
        ActionId.MEASURE,
        QT_TRANSLATE_NOOP("Actions", "M&easure"),
        QT_TRANSLATE_NOOP("Actions", "Drag over change, percent, candles, time and volume; or Shift and drag"),
        "Alt+Shift+M",
        "ruler-square",
    ),
    (
        ActionId.NEXT_LINE,
        QT_TRANSLATE_NOOP("Actions", "Select ne&xt line"),
        QT_TRANSLATE_NOOP(
            "Actions", "Select the next alert, note or drawing; the arrows move it, with Shift by ten steps"
        ),
        "Alt+Shift+L",
        "page-next-outline",
    ),
    (
        ActionId.EDIT_LINE,
        QT_TRANSLATE_NOOP("Actions", "Edit &price and text…"),
        QT_TRANSLATE_NOOP("Actions", "Type another price or other words; colour and width of a drawing"),
        "F2",
        "pencil-outline",
    ),
    (
        ActionId.DELETE_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Remove line"),
        QT_TRANSLATE_NOOP("Actions", "Take the selected line or drawing away"),
        "Del",
        "delete-outline",
    ),
    (
        ActionId.UNDO_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Undo line change"),
        QT_TRANSLATE_NOOP("Actions", "Take the last change of a line or a drawing back"),
        "Ctrl+Z",
        "undo",
    ),
    (
        ActionId.REDO_LINE,
        QT_TRANSLATE_NOOP("Actions", "R&edo line change"),
        QT_TRANSLATE_NOOP("Actions", "Do again what was taken back last"),
        "Ctrl+Shift+Z",
        "redo",
    ),
)
_DRAWINGS = (
    (
        ActionId.DRAW_TREND_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Trend line"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line from one place to another: drag, or click twice"),
        "Alt+Shift+T",
        "vector-line",
    ),
    (
        ActionId.DRAW_RAY,
        QT_TRANSLATE_NOOP("Actions", "Ra&y"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line that goes on beyond its second place"),
        "Alt+Shift+Y",
        "ray-start-arrow",
    ),
    (
        ActionId.DRAW_HORIZONTAL,
        QT_TRANSLATE_NOOP("Actions", "&Horizontal line"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line at a price, which is not watched: click where"),
        "Alt+Shift+P",
        "minus",
    ),
    (
        ActionId.DRAW_RECTANGLE,
        QT_TRANSLATE_NOOP("Actions", "Recta&ngle"),
        QT_TRANSLATE_NOOP("Actions", "Draw a box over times and prices"),
        "Alt+Shift+B",
        "rectangle-outline",
    ),
    (
        ActionId.DRAW_FIBONACCI,
        QT_TRANSLATE_NOOP("Actions", "&Fibonacci retracement"),
        QT_TRANSLATE_NOOP("Actions", "Draw the levels of the way back from the second place to the first"),
        "Alt+Shift+F",
        "format-align-justify",
    ),
    (
        ActionId.DRAW_TEXT,
        QT_TRANSLATE_NOOP("Actions", "Te&xt…"),
        QT_TRANSLATE_NOOP("Actions", "Write on the chart: click where"),
        "Alt+Shift+W",
        "format-text",
    ),
)


def line_actions() -> tuple[ActionInfo, ...]:
    """Alerts, notes, and what is done with them and with drawings."""
    menu = (CHART, QT_TRANSLATE_NOOP("Actions", "&Lines and measure"))
    return tuple(ActionInfo(*row, menu, section=3, place=CHART_PLACE) for row in _LINE_TOOLS)


def drawing_actions() -> tuple[ActionInfo, ...]:
    """What can be drawn."""
    menu = (CHART, QT_TRANSLATE_NOOP("Actions", "&Drawings"))
    return tuple(ActionInfo(*row, menu, section=3, place=CHART_PLACE) for row in _DRAWINGS)


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
    return tuple(ActionInfo(*row, (CHART, QT_TRANSLATE_NOOP("Actions", "&Time travel")), section=4) for row in rows)
