"""Time zones by name."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

OWN_NAMES = ("local", "UTC", "exchange")
"""Offered before the names of the tz database."""

_VENUE_ZONES = {
    "bitflyer": "Asia/Tokyo",
    "bithumb": "Asia/Seoul",
    "htx": "Asia/Hong_Kong",
    "okx": "Asia/Hong_Kong",
    "upbit": "Asia/Seoul",
}
"""The zone in which a venue's day begins, by its ccxt id; UTC for all others."""


def find(name: str, venue: str = "") -> tzinfo | None:
    """The zone of this name; None: the machine's zone. Raises ValueError, with a sentence, for an unknown name."""
    if name == "local":
        return None
    if name == "UTC":
        return UTC
    if name == "exchange":
        own = _VENUE_ZONES.get(venue)
        return UTC if own is None else ZoneInfo(own)
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(
            f"“{name}” is not a time zone; try local, UTC, exchange, or a name such as Europe/Berlin"
        ) from error
