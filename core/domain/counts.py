"""Counts and durations in sentences."""

from __future__ import annotations

from decimal import Decimal

_MINUTES_FROM_S = 120.0
_HOURS_FROM_S = 7200.0
_YEARS_FROM_H = 2 * 8_766.0


def counted(count: int, noun: str) -> str:
    """``1 step``, ``2,000 steps``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def in_words(seconds: float) -> str:
    """How long something takes: ``90 s``, ``5 min``."""
    if seconds < 1.0:
        return "a moment"
    if seconds < _MINUTES_FROM_S:
        return f"{seconds:.0f} s"
    if seconds < _HOURS_FROM_S:
        return f"{seconds / 60.0:.0f} min"
    hours = seconds / 3600.0
    return f"{hours:.0f} h" if hours < _YEARS_FROM_H else f"{min(hours / 8_766.0, 9_999.0):,.0f} years"


def decimal_text(number: float, digits: int = 3) -> str:
    """The number to so many digits without an exponent, as fields of the window show it: ``0.000015``."""
    return f"{Decimal(f'{number:.{digits}g}'):f}"
