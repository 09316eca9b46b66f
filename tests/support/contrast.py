"""Contrast of two colours, as WCAG 2 computes it."""

from __future__ import annotations

from PySide6.QtGui import QColor

TEXT = 4.5
"""Minimum for text on its background."""
GRAPHICS = 3.0
"""Minimum for meaningful shapes."""


def luminance(colour: QColor) -> float:
    """Relative luminance, 0 to 1."""

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: QColor, other: QColor) -> float:
    """From 1, the same, to 21. Alpha is not looked at: see `over`."""
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def over(colour: QColor, ground: QColor) -> QColor:
    """The visible colour of a translucent one over an opaque one."""
    share = colour.alphaF()
    channels = ((colour.redF(), ground.redF()), (colour.greenF(), ground.greenF()), (colour.blueF(), ground.blueF()))
    return QColor.fromRgbF(*(share * upper + (1.0 - share) * lower for upper, lower in channels))
