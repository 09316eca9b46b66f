"""What mouse and keys do on the chart itself, for the sheet of shortcuts."""

from __future__ import annotations

from desktop.dialogs.messages import ShortcutLine

_SECTION = "On the chart"
_GESTURES = (
    ("Zoom", "Wheel, Up, Down, +, −"),
    ("Move", "Drag, Shift+Wheel, Left, Right"),
    ("Move by a page", "PgUp, PgDown"),
    ("Read candle by candle", "Ctrl+Left, Ctrl+Right; tenth with Shift"),
    ("Crosshair to the pane above, below", "Ctrl+PgUp, Ctrl+PgDown"),
    ("Oldest, newest candle", "Home, End"),
    ("Stretch the prices", "Drag their axis, Alt+Shift+Up, Down"),
    ("Look at higher, lower prices", "Alt+Up, Alt+Down"),
    ("Fit the prices", "Double click on the price axis"),
    ("Zoom about the newest", "Drag the time axis"),
    ("Reset the zoom", "Double click on the time axis"),
    ("Everything as at first", "Double click on the plot"),
    ("Measure", "Shift+Drag"),
    ("Snap a line to a candle", "Ctrl while setting it"),
    ("Move the selected line", "Up, Down; ten with Shift, least with Ctrl"),
    ("Height of a pane", "Drag its upper edge, Ctrl+Shift+Up, Down"),
    ("Let go", "Esc"),
)


def chart_gestures() -> tuple[ShortcutLine, ...]:
    """Those that no action stands for."""
    return tuple(ShortcutLine(_SECTION, name, keys) for name, keys in _GESTURES)
