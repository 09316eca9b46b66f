"""What can be drawn on the chart, in one table."""

from __future__ import annotations

from desktop.actions import ActionId, ActionInfo
from desktop.translation import QT_TRANSLATE_NOOP

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


def drawing_actions(menu: tuple[str, ...], place: str) -> tuple[ActionInfo, ...]:
    """Rows of a menu. place: whose keys these are."""
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, menu, section=3, place=place)
        for id_, text, tooltip, keys, name in _DRAWINGS
    )
