"""Which exchange is offered where one fails. It is never switched to without a click."""

from __future__ import annotations

from collections.abc import Sequence


def next_venue(order: Sequence[str], venue: str) -> str | None:
    """The one that follows in the user's order: after `venue` where that stands in it, else the first; None where there
    is no other."""
    start = order.index(venue) + 1 if venue in order else 0
    return next((each for each in (*order[start:], *order[:start]) if each != venue), None)
