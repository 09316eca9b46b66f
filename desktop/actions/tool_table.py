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
    QT_TRANSLATE_NOOP("Actions", "Pause at the candle shown"),
    "pause",
)
"""What `Play` says while candles come: text, tooltip and icon."""
PLAY_WORDS = (
    QT_TRANSLATE_NOOP("Actions", "&Play"),
    QT_TRANSLATE_NOOP("Actions", "Play candle by candle: from the past up to now, then with the replay"),
    "play",
)
_LINE_TOOLS = (
    (
        ActionId.ADD_ALERT,
        QT_TRANSLATE_NOOP("Actions", "&Alert…"),
        QT_TRANSLATE_NOOP(
            "Actions", "Set a price alert: click the price; with the keyboard, at the crosshair or the last price"
        ),
        "Alt+Shift+A",
        "bell-plus-outline",
    ),
    (
        ActionId.ADD_NOTE,
        QT_TRANSLATE_NOOP("Actions", "&Note…"),
        QT_TRANSLATE_NOOP("Actions", "Write a note at a price: click to place it"),
        "Alt+Shift+N",
        "note-plus-outline",
    ),
    (
        ActionId.MEASURE,
        QT_TRANSLATE_NOOP("Actions", "M&easure"),
        QT_TRANSLATE_NOOP("Actions", "Drag to measure change, percent, candles, time and volume; or Shift+drag"),
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
        QT_TRANSLATE_NOOP("Actions", "Change the price or the label; colour and width of a drawing"),
        "F2",
        "pencil-outline",
    ),
    (
        ActionId.DELETE_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Remove line"),
        QT_TRANSLATE_NOOP("Actions", "Remove the selected line or drawing"),
        "Del",
        "delete-outline",
    ),
    (
        ActionId.UNDO_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Undo line change"),
        QT_TRANSLATE_NOOP("Actions", "Undo the last change to a line or drawing"),
        "Ctrl+Z",
        "undo",
    ),
    (
        ActionId.REDO_LINE,
        QT_TRANSLATE_NOOP("Actions", "R&edo line change"),
        QT_TRANSLATE_NOOP("Actions", "Redo the last undone change"),
        "Ctrl+Shift+Z",
        "redo",
    ),
)
_DRAWINGS = (
    (
        ActionId.DRAW_TREND_LINE,
        QT_TRANSLATE_NOOP("Actions", "&Trend line"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line between two points: drag, or click twice"),
        "Alt+Shift+T",
        "vector-line",
    ),
    (
        ActionId.DRAW_RAY,
        QT_TRANSLATE_NOOP("Actions", "Ra&y"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line that extends beyond its second point"),
        "Alt+Shift+Y",
        "ray-start-arrow",
    ),
    (
        ActionId.DRAW_HORIZONTAL,
        QT_TRANSLATE_NOOP("Actions", "&Horizontal line"),
        QT_TRANSLATE_NOOP("Actions", "Draw a line at a price, without an alert: click to place it"),
        "Alt+Shift+P",
        "minus",
    ),
    (
        ActionId.DRAW_RECTANGLE,
        QT_TRANSLATE_NOOP("Actions", "Recta&ngle"),
        QT_TRANSLATE_NOOP("Actions", "Draw a box over a range of times and prices"),
        "Alt+Shift+B",
        "rectangle-outline",
    ),
    (
        ActionId.DRAW_FIBONACCI,
        QT_TRANSLATE_NOOP("Actions", "&Fibonacci retracement"),
        QT_TRANSLATE_NOOP("Actions", "Draw retracement levels between two points"),
        "Alt+Shift+F",
        "format-align-justify",
    ),
    (
        ActionId.DRAW_TEXT,
        QT_TRANSLATE_NOOP("Actions", "Te&xt…"),
        QT_TRANSLATE_NOOP("Actions", "Write on the chart: click to place the text"),
        "Alt+Shift+W",
        "format-text",
    ),
)


def line_actions() -> tuple[ActionInfo, ...]:
    """Alerts, notes, and what is done with them and with drawings."""
    menu = (CHART, QT_TRANSLATE_NOOP("Actions", "&Lines and measuring"))
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
            QT_TRANSLATE_NOOP("Actions", "Show the chart one candle earlier, with the forecast made then"),
            "Alt+Left",
            "step-backward",
        ),
        (ActionId.TRAVEL_PLAY, *PLAY_WORDS[:2], "F9", PLAY_WORDS[2]),
        (
            ActionId.TRAVEL_FORWARD,
            QT_TRANSLATE_NOOP("Actions", "Step &forward"),
            QT_TRANSLATE_NOOP(
                "Actions", "Show the next candle: a past one, or a single one of the replay, which then pauses"
            ),
            "Alt+Right",
            "step-forward",
        ),
        (
            ActionId.TRAVEL_NOW,
            QT_TRANSLATE_NOOP("Actions", "Back to &now"),
            QT_TRANSLATE_NOOP("Actions", "Show all candles again; on the chart also End and Esc"),
            "Shift+F9",
            "clock-end",
        ),
    )
    return tuple(ActionInfo(*row, (CHART, QT_TRANSLATE_NOOP("Actions", "&Time travel")), section=4) for row in rows)
