"""Whether any candle is still to come: of a file that was gone through none is, and what takes more stays open."""

from __future__ import annotations

from core.domain.candle import FILE_VENUE
from core.domain.events import TrainerState
from core.market.feeds.base import FeedState
from core.training.hosting.catch_up import JOB_ID
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_STILL_LEARNING = (TrainerState.STARTING, TrainerState.CATCHING_UP, TrainerState.RESTARTING)
_LEARNING = (TrainerState.CATCHING_UP, TrainerState.TRAINING)


def is_finished(state: RunState) -> bool:
    """Whether the trainer has learned from the last candle that there is, and no further one comes: it is idle. It does
    not say so itself, for candles that come later find it as it was."""
    has_ended = state.feed is not None and state.feed.state is FeedState.ENDED
    if not has_ended or state.status is None or state.is_on_break or state.trainer_state not in _LEARNING:
        return False
    return has_caught_up(state)


def has_caught_up(state: RunState) -> bool:
    """Whether the trainer has learned from the newest candle from the feed, and no catching up is under way: nothing is
    left to be scored until another candle closes."""
    newest_ms = state.feed_record.newest_closed_ms
    # A status comes only now and then, a forecast with each candle, but none yet from a trainer just started.
    forecast_ms = None if state.forecast is None else state.forecast.origin_open_time_ms
    status_ms = None if state.status is None else state.status.position_ms
    positions_ms = [each for each in (status_ms, forecast_ms) if each is not None]
    has_come_to_it = newest_ms is None or any(each >= newest_ms for each in positions_ms)
    return has_come_to_it and state.jobs.find(JOB_ID) is None


def ending_words(state: RunState) -> str:
    """``The file has ended``, once all candles have come and been learned from; empty while there are more."""
    feed, market = state.feed, state.feed_record.market
    if feed is None or feed.state is not FeedState.ENDED or not has_caught_up(state):
        return ""
    if state.trainer_state in _STILL_LEARNING:
        return ""
    if market is not None and market.venue == FILE_VENUE:
        return translate("Window", "The file has ended")
    return translate("Window", "The candles have ended")
