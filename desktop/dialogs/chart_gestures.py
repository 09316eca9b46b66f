"""What mouse and keys do on the chart itself, for the sheet of shortcuts."""

from __future__ import annotations

from desktop.dialogs.shortcuts import ShortcutLine
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SECTION = QT_TRANSLATE_NOOP("Chart", "On the chart")
_GESTURES = (
    (QT_TRANSLATE_NOOP("Chart", "Zoom"), QT_TRANSLATE_NOOP("Chart", "Wheel, Up, Down, +, −")),
    (QT_TRANSLATE_NOOP("Chart", "Move"), QT_TRANSLATE_NOOP("Chart", "Drag, Shift+Wheel, Left, Right")),
    (QT_TRANSLATE_NOOP("Chart", "Move by a page"), QT_TRANSLATE_NOOP("Chart", "PgUp, PgDown")),
    (
        QT_TRANSLATE_NOOP("Chart", "Read candle by candle"),
        QT_TRANSLATE_NOOP("Chart", "Ctrl+Left, Ctrl+Right; every tenth with Shift"),
    ),
    (
        QT_TRANSLATE_NOOP("Chart", "Crosshair to the pane above, below"),
        QT_TRANSLATE_NOOP("Chart", "Ctrl+PgUp, Ctrl+PgDown"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Oldest, newest candle"), QT_TRANSLATE_NOOP("Chart", "Home, End")),
    (
        QT_TRANSLATE_NOOP("Chart", "Stretch the price axis"),
        QT_TRANSLATE_NOOP("Chart", "Drag their axis, Alt+Shift+Up, Down"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Move to higher, lower prices"), QT_TRANSLATE_NOOP("Chart", "Alt+Up, Alt+Down")),
    (QT_TRANSLATE_NOOP("Chart", "Fit the prices"), QT_TRANSLATE_NOOP("Chart", "Double-click on the price axis")),
    (QT_TRANSLATE_NOOP("Chart", "Zoom around the newest candle"), QT_TRANSLATE_NOOP("Chart", "Drag the time axis")),
    (QT_TRANSLATE_NOOP("Chart", "Reset the zoom"), QT_TRANSLATE_NOOP("Chart", "Double-click on the time axis")),
    (QT_TRANSLATE_NOOP("Chart", "Reset view"), QT_TRANSLATE_NOOP("Chart", "Double-click on the plot")),
    (QT_TRANSLATE_NOOP("Chart", "Measure"), QT_TRANSLATE_NOOP("Chart", "Shift+Drag")),
    (QT_TRANSLATE_NOOP("Chart", "Snap a line to a candle"), QT_TRANSLATE_NOOP("Chart", "Hold Ctrl while placing it")),
    (
        QT_TRANSLATE_NOOP("Chart", "Move the selected line"),
        QT_TRANSLATE_NOOP("Chart", "Up, Down; ten with Shift, least with Ctrl"),
    ),
    (
        QT_TRANSLATE_NOOP("Chart", "Height of a pane"),
        QT_TRANSLATE_NOOP("Chart", "Drag its upper edge, Ctrl+Shift+Up, Down"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Find a market"), QT_TRANSLATE_NOOP("Chart", "Type its letters, then Return")),
    (
        QT_TRANSLATE_NOOP("Chart", "Change the interval"),
        QT_TRANSLATE_NOOP("Chart", "Type its minutes, or 4h or 1d, then Return"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Deselect"), QT_TRANSLATE_NOOP("Chart", "Esc")),
)


def chart_gestures() -> tuple[ShortcutLine, ...]:
    """Gestures without an action."""
    return tuple(
        ShortcutLine(translate("Chart", _SECTION), translate("Chart", name), translate("Chart", keys))
        for name, keys in _GESTURES
    )
