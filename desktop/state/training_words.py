"""Texts about training: breaks, actions that need a trainer, the end of candles, and why the shown forecast is old."""

from __future__ import annotations

from datetime import tzinfo

from core.domain.candle import FILE_VENUE
from core.domain.candle_series import CandleSeries
from core.domain.events import JobProgress, TrainerState
from core.market.feeds.base import FeedState
from core.training.hosting.catch_up import JOB_ID
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_candles, format_duration, format_time
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate


def break_words(state: RunState) -> str:
    """The reason that training is on a break, without a full stop; empty if it is not."""
    if not state.is_on_break:
        return ""
    if state.has_trainer:
        return translate("Window", "Training is stopping to release its device")
    return translate("Window", "Training is paused, and its device released")


def break_sentence(state: RunState) -> str:
    """`break_words` with a full stop."""
    words = break_words(state)
    return f"{words}." if words else ""


def cannot_go_back(state: RunState) -> str:
    """The reason that no checkpoint can be restored while no trainer answers."""
    what = translate("Checkpoints", "Restoring a checkpoint needs a running trainer; nothing was changed.")
    return f"{what} {_when_it_can(state)}"


def cannot_forecast(state: RunState) -> str:
    """The reason that no checkpoint can forecast while no trainer answers."""
    what = translate("Checkpoints", "A checkpoint's forecast needs a running trainer.")
    return f"{what} {_when_it_can(state)}"


def _when_it_can(state: RunState) -> str:
    if state.trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING):
        return translate("Checkpoints", "Training is starting: try again once it is running.")
    return translate("Checkpoints", "Start training, then try again.")


_STILL_LEARNING = (TrainerState.STARTING, TrainerState.CATCHING_UP, TrainerState.RESTARTING)
_LEARNING = (TrainerState.CATCHING_UP, TrainerState.TRAINING)


def is_learning(state: RunState) -> bool:
    """Whether a trainer has work, or is about to."""
    return state.trainer_state in (*_STILL_LEARNING, *_LEARNING) and not is_finished(state)


def is_finished(state: RunState) -> bool:
    """Whether the trainer has learned from the last candle of an ended feed, and is idle. Its own state does not show
    this."""
    has_ended = state.feed is not None and state.feed.state.has_ended
    if not has_ended or state.status is None or state.is_on_break or state.trainer_state not in _LEARNING:
        return False
    return has_caught_up(state)


def has_caught_up(state: RunState) -> bool:
    """Whether the trainer has learned from the feed's newest candle, and is not catching up: nothing is left to be
    scored until another candle closes."""
    newest_ms = state.feed_record.newest_closed_ms
    # A status comes only now and then, a forecast with each candle, but none yet from a trainer just started.
    forecast_ms = None if state.forecast is None else state.forecast.origin_open_time_ms
    status_ms = None if state.market_status is None else state.market_status.position_ms
    positions_ms = [each for each in (status_ms, forecast_ms) if each is not None]
    has_come_to_it = newest_ms is None or any(each >= newest_ms for each in positions_ms)
    return has_come_to_it and state.jobs.find(JOB_ID) is None


def ending_words(state: RunState) -> str:
    """``The file has ended``, once all candles have been learned from; otherwise empty. Of a replay that is not
    running only the stored candles have."""
    feed, market = state.feed, state.feed_record.market
    if feed is None or not feed.state.has_ended or not has_caught_up(state):
        return ""
    if state.trainer_state in _STILL_LEARNING:
        return ""
    if feed.state is FeedState.STORED:
        return translate("Window", "The stored candles have ended")
    if market is not None and market.venue == FILE_VENUE:
        return translate("Window", "The file has ended")
    return translate("Window", "The candles have ended")


_NOT_FORECASTING = {
    TrainerState.STOPPED: QT_TRANSLATE_NOOP("Chart", "Training is stopped"),
    TrainerState.FAILED: QT_TRANSLATE_NOOP("Chart", "Training has failed"),
    TrainerState.RESTARTING: QT_TRANSLATE_NOOP("Chart", "Training is restarting"),
    TrainerState.STARTING: QT_TRANSLATE_NOOP("Chart", "Training is starting"),
}
_BY_BREAKER = QT_TRANSLATE_NOOP("Chart", "Training is paused after three crashes")


def stale_words(state: RunState, series: CandleSeries, time_zone: tzinfo | None, *, is_other_interval: bool) -> str:
    """Why the forecast is old; empty for a fresh one. series: the current closed candles; is_other_interval: forecasts
    are for another interval; time_zone: None is the machine's."""
    if state.is_on_break:
        return f"{break_words(state)}: {_forecast_words(state, series, time_zone, is_coming=False)}"
    trainer_state = state.trainer_state
    if trainer_state in _NOT_FORECASTING:
        is_coming = trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING)
        is_breaker = state.failure is not None and state.failure.by_breaker and trainer_state is TrainerState.FAILED
        why = translate("Chart", _BY_BREAKER if is_breaker else _NOT_FORECASTING[trainer_state])
        return f"{why}: {_forecast_words(state, series, time_zone, is_coming=is_coming)}"
    job = next((job for job in state.jobs.running() if job.job_id == JOB_ID), None)
    if job is not None:
        return _silent_words(state, time_zone) or _catch_up_words(job)
    behind = "" if not len(series) or is_other_interval else _behind_words(state, series)
    return behind or _silent_words(state, time_zone) or _ending_words(state)


def _behind_words(state: RunState, series: CandleSeries) -> str:
    """While the trainer learns from past candles, the outcomes of its forecasts are known: no ghost is ahead."""
    forecast = state.shown_forecast
    if forecast is None:
        is_behind = state.trainer_state is TrainerState.CATCHING_UP
        return translate("Chart", "Learning from stored candles: forecasts will follow") if is_behind else ""
    if not forecast.ghosts or forecast.ghosts[-1].open_time_ms > int(series.open_time_ms[-1]):
        return ""
    if state.trainer_state is None:  # stopped before it was ready
        return translate("Chart", "Training is stopped: there is no forecast of new candles")
    behind = len(series) - series.insertion_index(forecast.origin_open_time_ms + 1)
    words = translate("Chart", "Training is {0} behind: forecasts of new candles will follow")
    return words.format(format_candles(behind))


def _silent_words(state: RunState, time_zone: tzinfo | None) -> str:
    """The age of a forecast without live candles: no candle makes it old, but it may be a year old by the clock."""
    forecast, interval_ms = state.shown_forecast, state.interval_ms
    if not state.feed_record.is_silent or forecast is None or interval_ms is None:
        return ""
    if state.clock.now_ms() - forecast.inputs_until_ms <= interval_ms:
        return ""
    words = translate("Chart", "No new candles: the newest forecast is from {0}")
    return words.format(format_time(forecast.inputs_until_ms, time_zone))


def _ending_words(state: RunState) -> str:
    """Explains ghosts at a file's end, which would look as if their candles were about to arrive."""
    ending = ending_words(state)
    if not ending or state.shown_forecast is None:
        return ""
    return translate("Chart", "{0}: this forecast cannot be scored until more candles arrive").format(ending)


def _has_stopgap(state: RunState, series: CandleSeries) -> bool:
    """Whether the drawn ghosts come from the baselines. A replay may have run past all of them."""
    shown = state.shown_forecast
    if shown is None or not shown.is_by_simple_rules:
        return False
    newest_ms = int(series.open_time_ms[-1]) if len(series) else None
    return newest_ms is None or any(ghost.open_time_ms > newest_ms for ghost in shown.ghosts)


def _forecast_words(state: RunState, series: CandleSeries, time_zone: tzinfo | None, *, is_coming: bool) -> str:
    if is_coming and _has_stopgap(state, series):
        return translate("Chart", "until then the baselines forecast")
    forecast = state.shown_forecast
    if forecast is not None:
        words = translate("Chart", "the newest forecast is from {0}")
        return words.format(format_time(forecast.inputs_until_ms, time_zone))
    return translate("Chart", "forecasts will follow") if is_coming else translate("Chart", "there is no forecast")


def _catch_up_words(job: JobProgress) -> str:
    """Words that hold with and without ghosts of the baselines, which a fast replay passes again and again."""
    if job.seconds_left is None:
        return translate("Chart", "{0}: the model forecasts new candles when it is done").format(job.title)
    words = translate("Chart", "{0}: the model forecasts new candles when it is done, in about {1}")
    return words.format(job.title, format_duration(job.seconds_left))
