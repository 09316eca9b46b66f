"""The exchange offered when one fails. Nothing switches to it without a click."""

from __future__ import annotations

from collections.abc import Sequence


def next_venue(order: Sequence[str], venue: str) -> str | None:
    """The venue after `venue` in the user's order, or the first if `venue` is not in it; None if there is no other."""
    start = order.index(venue) + 1 if venue in order else 0
    return next((each for each in (*order[start:], *order[:start]) if each != venue), None)
