"""How far back an exchange's list of candles goes, in sentences and in rows."""

from __future__ import annotations

from core.domain.counts import counted
from core.domain.dates import utc_text
from core.market.feeds.venue import Venue

FARTHEST_BACK = 20_000
"""Candles fetched at most after a long pause, as the trainer processes all of them before it is live again. Older ones
are reported as skipped."""
_MARGIN = 10
"""Candles that may open between a request's planning and its arrival, as requests may wait for a rate limit."""
_FILES_INSTEAD = "Import files of trades to fill that in."


def reachable_rows(venue: Venue) -> int | None:
    """How many candles back a request may begin; None if no limit is known."""
    return None if venue.farthest_rows is None else max(1, venue.farthest_rows - _MARGIN)


def fetched_rows(venue: Venue) -> int:
    """How many candles back a feed begins at most."""
    reach = reachable_rows(venue)
    return FARTHEST_BACK if reach is None else min(FARTHEST_BACK, reach)


def fetching_sentence(venue: Venue, total: int, skipped: int) -> str:
    """skipped: candles before the `total` ones, which are not requested."""
    sentence = f"Fetching {counted(total, 'candle')} from {venue.name}."
    if not skipped:
        return sentence
    sentence += f" {counted(skipped, 'candle')} before them are skipped"
    if fetched_rows(venue) == FARTHEST_BACK:
        return f"{sentence}; the backfill command fetches those."
    return f"{sentence}: {venue.name} lists its newest {venue.farthest_rows:,} only. {_FILES_INSTEAD}"


def cut_list_sentence(venue: Venue, listed: int, count: int) -> str:
    """A sentence for a list that lacks a known candle and the `count` candles after it. listed: the list's length in
    candles."""
    newest, lacked = f"its newest {counted(listed, 'candle')}", counted(count, "candle")
    return f"{venue.name} lists {newest} only, so {lacked} before them cannot be fetched. {_FILES_INSTEAD}"


def late_list_sentence(venue: Venue, first_ms: int, count: int) -> str:
    """A sentence for a list that begins `count` candles late: it may be cut, or the market young or quiet."""
    first = utc_text(first_ms, "%Y-%m-%d %H:%M")
    return (
        f"{venue.name} lists no candle before {first} UTC, so {counted(count, 'candle')} before it cannot be fetched."
    )
