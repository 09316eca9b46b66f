"""The feed in words and colours, for all panels that show it."""

from __future__ import annotations

from PySide6.QtGui import QColor

from core.market.feeds.base import FeedState
from core.market.venue_names import venue_name
from desktop.feed_record import Correction, FeedChange, FeedRecord, Hole
from desktop.formatting import format_clock, format_count, format_date, format_price, format_time, local_datetime
from desktop.theme import Palette

Line = tuple[int, FeedState | None, str]
"""When, the state that began then (None: what happened without changing it), and the sentence."""


def state_colour(state: FeedState | None, palette: Palette) -> QColor:
    """The colour of the dot beside the state's word."""
    colours = {
        None: palette.muted_text,
        FeedState.LIVE: palette.good,
        FeedState.REPLAYING: palette.accent,
        FeedState.SIMULATED: palette.accent,
        FeedState.FAILED: palette.bad,
        FeedState.ENDED: palette.muted_text,
    }
    return colours.get(state, palette.warning)


def state_word(state: FeedState | None) -> str:
    """``Catching up``"""
    return "No feed yet" if state is None else state.value.capitalize()


def in_one_line(state: FeedState, sentence: str) -> str:
    """``Reconnecting: The connection was cut.``; the word alone does not go before a sentence that begins with it."""
    word = state_word(state)
    return sentence if sentence.startswith(word) else f"{word}: {sentence}"


def story(record: FeedRecord) -> list[Line]:
    """Transitions, holes and corrections as lines, the newest first."""
    name = venue_name(record.market.venue) if record.market is not None else "The exchange"
    lines = [
        *(_of_change(change) for change in record.changes),
        *(_of_hole(hole, name) for hole in record.holes),
        *(_of_correction(correction) for correction in record.corrections),
    ]
    return sorted(lines, key=lambda line: line[0], reverse=True)


def moment(time_ms: int, now_ms: int) -> str:
    """``14:05:30`` today, ``20 Nov 14:05:30`` on another day."""
    then, now = local_datetime(time_ms), local_datetime(now_ms)
    clock = format_clock(time_ms, seconds=True)
    if then is None or now is None or then.date() == now.date():
        return clock
    day = format_date(time_ms).rsplit(" ", 1)[0] if then.year == now.year else format_date(time_ms)
    return f"{day} {clock}"


def _of_change(change: FeedChange) -> Line:
    return change.at_ms, change.state, change.sentence


def _of_hole(hole: Hole, name: str) -> Line:
    count, since = hole.missing.count, format_time(hole.missing.first_ms)
    if count == 1:
        return hole.at_ms, None, f"{name} has no candle of {since}. It stays a hole; nothing is invented."
    return (
        hole.at_ms,
        None,
        f"{name} has none of the {format_count(count)} candles from {since} on. They stay a hole; nothing is invented.",
    )


def _of_correction(correction: Correction) -> Line:
    candle = correction.candle
    return (
        correction.at_ms,
        None,
        f"The candle of {format_time(candle.open_time_ms)} was corrected; it closed at {format_price(candle.close)}. "
        "It is stored and drawn anew, and not learned from again.",
    )
