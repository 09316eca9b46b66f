"""Whether any candle is still to come: of a file that was gone through none is, and what takes more stays open."""

from __future__ import annotations

from core.domain.candle import FILE_VENUE
from core.domain.events import TrainerState
from core.market.feeds.base import FeedState
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_STILL_LEARNING = (TrainerState.STARTING, TrainerState.CATCHING_UP, TrainerState.RESTARTING)


def ending_words(state: RunState) -> str:
    """``The file has ended``, once all candles have come and been learned from; empty while there are more."""
    feed, market = state.feed, state.feed_record.market
    if feed is None or feed.state is not FeedState.ENDED or not state.has_caught_up:
        return ""
    if state.trainer_state in _STILL_LEARNING:
        return ""
    if market is not None and market.venue == FILE_VENUE:
        return translate("Window", "The file has ended")
    return translate("Window", "The candles have ended")
