"""Why the forecast that is shown is old, or why none comes: it looks the same as a fresh one else."""

from __future__ import annotations

from datetime import tzinfo

from core.domain.candle_series import CandleSeries
from core.domain.events import JobProgress, TrainerState
from core.training.hosting.catch_up import JOB_ID
from desktop.state.remaining_candles import ending_words
from desktop.state.run_state import RunState
from desktop.state.training_words import break_words
from desktop.ui.formatting import format_candles, format_duration, format_time
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_NOT_FORECASTING = {
    TrainerState.STOPPED: QT_TRANSLATE_NOOP("Chart", "Training is stopped"),
    TrainerState.FAILED: QT_TRANSLATE_NOOP("Chart", "Training has failed"),
    TrainerState.RESTARTING: QT_TRANSLATE_NOOP("Chart", "Training is restarting"),
    TrainerState.STARTING: QT_TRANSLATE_NOOP("Chart", "Training is starting"),
}
_BY_BREAKER = QT_TRANSLATE_NOOP("Chart", "Training is paused after three crashes")


def stale_words(state: RunState, series: CandleSeries, time_zone: tzinfo | None, *, is_other_interval: bool) -> str:
    """Empty for a fresh forecast. series: the closed candles of now; is_other_interval: forecasts are for another than
    theirs; time_zone: None is the machine's."""
    if state.is_on_break:
        return f"{break_words(state)}: {_forecast_words(state, series, time_zone, is_coming=False)}"
    trainer_state = state.trainer_state
    if trainer_state in _NOT_FORECASTING:
        is_coming = trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING)
        return f"{_why(state, trainer_state)}: {_forecast_words(state, series, time_zone, is_coming=is_coming)}"
    job = next((job for job in state.jobs.running() if job.job_id == JOB_ID), None)
    if job is not None:
        return _silent_words(state, time_zone) or _catch_up_words(job)
    behind = "" if not len(series) or is_other_interval else _behind_words(state, series)
    return behind or _silent_words(state, time_zone) or _ending_words(state)


def _behind_words(state: RunState, series: CandleSeries) -> str:
    """While the trainer learns from candles of before, all that it forecast has come: no ghost is ahead."""
    forecast = state.shown_forecast
    if forecast is None:
        is_behind = state.trainer_state is TrainerState.CATCHING_UP
        return translate("Chart", "Learning from stored candles: forecasts will follow") if is_behind else ""
    if not forecast.ghosts or forecast.ghosts[-1].open_time_ms > int(series.open_time_ms[-1]):
        return ""
    behind = len(series) - series.insertion_index(forecast.origin_open_time_ms + 1)
    words = translate("Chart", "Training is {0} behind: forecasts of new candles will follow")
    return words.format(format_candles(behind))


def _silent_words(state: RunState, time_zone: tzinfo | None) -> str:
    """Without an exchange's next candle no forecast grows old by candles: by the clock, it may be one of last year."""
    forecast, interval_ms = state.shown_forecast, state.interval_ms
    if not state.feed_record.is_silent or forecast is None or interval_ms is None:
        return ""
    if state.clock.now_ms() - forecast.inputs_until_ms <= interval_ms:
        return ""
    words = translate("Chart", "No new candles: the newest forecast is from {0}")
    return words.format(format_time(forecast.inputs_until_ms, time_zone))


def _ending_words(state: RunState) -> str:
    """The ghosts of a file's end would look as if their candles were about to come."""
    ending = ending_words(state)
    if not ending or state.shown_forecast is None:
        return ""
    return translate("Chart", "{0}: this forecast cannot be scored until more candles arrive").format(ending)


def _has_stopgap(state: RunState, series: CandleSeries) -> bool:
    """Whether the ghosts that are drawn are those of the simple rules. A replay may have run past all of them."""
    shown = state.shown_forecast
    if shown is None or not shown.is_by_simple_rules:
        return False
    newest_ms = int(series.open_time_ms[-1]) if len(series) else None
    return newest_ms is None or any(ghost.open_time_ms > newest_ms for ghost in shown.ghosts)


def _why(state: RunState, trainer_state: TrainerState) -> str:
    failure = state.failure
    is_breaker = trainer_state is TrainerState.FAILED and failure is not None and failure.by_breaker
    return translate("Chart", _BY_BREAKER if is_breaker else _NOT_FORECASTING[trainer_state])


def _forecast_words(state: RunState, series: CandleSeries, time_zone: tzinfo | None, *, is_coming: bool) -> str:
    if is_coming and _has_stopgap(state, series):
        return translate("Chart", "until then the simple rules forecast")
    forecast = state.shown_forecast
    if forecast is not None:
        words = translate("Chart", "the newest forecast is from {0}")
        return words.format(format_time(forecast.inputs_until_ms, time_zone))
    return translate("Chart", "forecasts will follow") if is_coming else translate("Chart", "there is no forecast")


def _catch_up_words(job: JobProgress) -> str:
    """True with and without ghosts of the simple rules: a fast replay passes them again and again."""
    if job.seconds_left is None:
        return translate("Chart", "{0}: the model forecasts new candles when it is done").format(job.title)
    words = translate("Chart", "{0}: the model forecasts new candles when it is done, in about {1}")
    return words.format(job.title, format_duration(job.seconds_left))
