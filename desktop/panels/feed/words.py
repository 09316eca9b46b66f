"""The feed in words and colours, for all panels that show it."""

from __future__ import annotations

from PySide6.QtGui import QColor

from core.domain.venue_names import venue_name
from core.market.feeds.base import FeedState
from desktop.state.feed_record import Correction, FeedRecord, Hole
from desktop.ui.formatting import format_clock, format_count, format_date, format_price, format_time, local_datetime
from desktop.ui.theme import Palette
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_STATES = {
    FeedState.CONNECTING: (QT_TRANSLATE_NOOP("Panels", "Connecting"), QT_TRANSLATE_NOOP("Panels", "connecting")),
    FeedState.CATCHING_UP: (QT_TRANSLATE_NOOP("Panels", "Catching up"), QT_TRANSLATE_NOOP("Panels", "catching up")),
    FeedState.LIVE: (QT_TRANSLATE_NOOP("Panels", "Live"), QT_TRANSLATE_NOOP("Panels", "live")),
    FeedState.REPLAYING: (QT_TRANSLATE_NOOP("Panels", "Replaying"), QT_TRANSLATE_NOOP("Panels", "replaying")),
    FeedState.SIMULATED: (QT_TRANSLATE_NOOP("Panels", "Simulated"), QT_TRANSLATE_NOOP("Panels", "simulated")),
    FeedState.RECONNECTING: (QT_TRANSLATE_NOOP("Panels", "Reconnecting"), QT_TRANSLATE_NOOP("Panels", "reconnecting")),
    FeedState.ENDED: (QT_TRANSLATE_NOOP("Panels", "Ended"), QT_TRANSLATE_NOOP("Panels", "ended")),
    FeedState.STORED: (QT_TRANSLATE_NOOP("Panels", "Stored"), QT_TRANSLATE_NOOP("Panels", "stored candles only")),
    FeedState.FAILED: (QT_TRANSLATE_NOOP("Panels", "Failed"), QT_TRANSLATE_NOOP("Panels", "failed")),
    None: (QT_TRANSLATE_NOOP("Panels", "No feed yet"), QT_TRANSLATE_NOOP("Panels", "no feed yet")),
}
"""Words on their own and within a sentence: not every language differs only in the first letter."""

HEALTHY_STATES = frozenset({FeedState.LIVE, FeedState.SIMULATED, FeedState.REPLAYING})
"""States in which candles arrive as expected."""

Line = tuple[int, FeedState | None, str]
"""When, the state that began then (None: an event without a new state), and the sentence."""


def state_colour(state: FeedState | None, palette: Palette) -> QColor:
    colours = {
        None: palette.muted_text,
        FeedState.LIVE: palette.good,
        FeedState.REPLAYING: palette.accent,
        FeedState.SIMULATED: palette.accent,
        FeedState.FAILED: palette.bad,
        FeedState.ENDED: palette.muted_text,
        FeedState.STORED: palette.muted_text,
    }
    return colours.get(state, palette.warning)


def state_word(state: FeedState | None) -> str:
    """``Catching up``"""
    return translate("Panels", _STATES[state][0])


def state_within(state: FeedState | None) -> str:
    """``catching up``, within a sentence."""
    return translate("Panels", _STATES[state][1])


def in_one_line(state: FeedState, sentence: str) -> str:
    """``Reconnecting: The connection was cut.``"""
    return f"{state_word(state)}: {sentence}"


def story(record: FeedRecord) -> list[Line]:
    """Transitions, holes and corrections as lines, the newest first."""
    name = venue_name(record.market.venue) if record.market is not None else translate("Panels", "The exchange")
    lines = [
        *((status.at_ms, status.state, status.sentence) for status in record.changes),
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


def _of_hole(hole: Hole, name: str) -> Line:
    count, since = hole.missing.count, format_time(hole.missing.first_ms)
    if count == 1:
        one = translate("Panels", "{0} has no candle of {1}. It remains a gap; nothing is invented.")
        return hole.at_ms, None, one.format(name, since)
    text = translate("Panels", "{0} has none of the {1} candles from {2} on. They remain a gap; nothing is invented.")
    return hole.at_ms, None, text.format(name, format_count(count), since)


def _of_correction(correction: Correction) -> Line:
    candle = correction.candle
    text = translate(
        "Panels",
        "The candle of {0} was corrected; it closed at {1}. It is stored and drawn again, but not learned from again.",
    )
    return correction.at_ms, None, text.format(format_time(candle.open_time_ms), format_price(candle.close))
