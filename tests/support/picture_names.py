"""The pictures that the docs may show, and their makers."""

from __future__ import annotations

from desktop.actions import ActionId

THEMES = ("dark", "light")
SIZES = ((1600, 900), (1280, 720))
PANELS = {
    ActionId.SHOW_LOSS: "loss",
    ActionId.SHOW_EVENTS: "incidents",
}
"""Docks with a separate picture, by its name."""
MOVING = "live-dark.webp"
"""An animated WebP."""
_IN_BOTH_THEMES = (
    "accuracy",
    "checkpoints",
    "feed",
    "gradients",
    "hindsight",
    "jobs",
    "markets",
    "overview",
    "regimes",
)
MADE = frozenset(
    {
        *(f"window-{theme}-{width}x{height}.png" for theme in THEMES for width, height in SIZES),
        *(f"{name}-{theme}.png" for name in _IN_BOTH_THEMES for theme in THEMES),
        *(f"{name}-dark.png" for name in PANELS.values()),
        MOVING,
        "accuracy-now-light.png",
        "chances-dark.png",
        "chart-hindsight.png",
        "chart-indicators-light.png",
        "chart-tools-dark.png",
        "jobs-evaluate-light.png",
        "log-dark.png",
        "checkpoints-compare-light.png",
        "checkpoints-ghosts-light.png",
        "ghosts-light.png",
        "preferences-dark.png",
        "shortcuts-dark.png",
        "welcome-light.png",
    }
)
"""Made by ``make pictures``, which fails if one is missing."""
OF_A_BROWSER = frozenset({"report-dark.png", "report-light.png"})
"""Screenshots of a browser with the page of ``ghostcandle evaluate FILE --report OUT.html``, taken manually."""
FILMED = "first-minute.webp"
"""An animated WebP: the screen from an empty home to the model's ghosts, by mouse alone."""
