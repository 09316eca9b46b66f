"""Which pictures the docs may show, and who makes them."""

from __future__ import annotations

from desktop.actions import ActionId

THEMES = ("dark", "light")
SIZES = ((1600, 900), (1280, 720))
PANELS = {
    ActionId.SHOW_LOSS: "loss",
    ActionId.SHOW_BEST: "best-checkpoint",
    ActionId.SHOW_INCIDENTS: "incidents",
    ActionId.SHOW_LOG: "log",
}
"""Docks that are shown by themselves, the rest of the window aside, by the name of their picture."""
MOVING = "live-dark.png"
"""An animated PNG."""
_IN_BOTH_THEMES = ("accuracy", "checkpoints", "feed", "gradients", "hindsight", "jobs", "regimes", "watchlist")
MADE = frozenset(
    {
        *(f"window-{theme}-{width}x{height}.png" for theme in THEMES for width, height in SIZES),
        *(f"{name}-{theme}.png" for name in _IN_BOTH_THEMES for theme in THEMES),
        *(f"{name}-dark.png" for name in PANELS.values()),
        MOVING,
        "chart-hindsight.png",
        "chart-indicators-light.png",
        "chart-tools-dark.png",
        "jobs-evaluate-light.png",
        "checkpoints-compare-light.png",
        "checkpoints-ghosts-light.png",
        "preferences-dark.png",
        "shortcuts-dark.png",
    }
)
"""By ``make pictures``, all in one go; it fails where one of them was not made."""
OF_A_BROWSER = frozenset({"report-dark.png", "report-light.png"})
"""A web page, as a browser shows it: ``ghostcandle evaluate FILE --report OUT.html``. Taken by hand."""
