"""Says beside the forecast why it is old, or why none comes: it looks the same as a fresh one else."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from core.events import JobProgress, TrainerState
from core.training.catch_up import JOB_ID
from desktop.chart.widget import ChartWidget
from desktop.ending import ending_words
from desktop.formatting import format_candles, format_duration, format_time
from desktop.state import RunState
from desktop.training_words import break_words
from desktop.translation import QT_TRANSLATE_NOOP, translate

_NOT_FORECASTING = {
    TrainerState.STOPPED: QT_TRANSLATE_NOOP("Chart", "Training is stopped"),
    TrainerState.FAILED: QT_TRANSLATE_NOOP("Chart", "Training has failed"),
    TrainerState.RESTARTING: QT_TRANSLATE_NOOP("Chart", "Training is restarting"),
    TrainerState.STARTING: QT_TRANSLATE_NOOP("Chart", "Training is starting"),
}
_BY_BREAKER = QT_TRANSLATE_NOOP("Chart", "Training is paused after three crashes")


class ForecastNote(QObject):
    """Watches the state for the chart."""

    def __init__(self, state: RunState, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._state, self._chart = state, chart
        changes = (
            state.status_changed,
            state.forecast_changed,
            state.jobs_changed,
            state.run_changed,
            state.feed_changed,
        )
        for signal in changes:
            signal.connect(self._on_change)
        chart.series_changed.connect(self._on_change)

    @Slot()
    def _on_change(self) -> None:
        self._chart.set_note(self._text())

    def _text(self) -> str:
        trainer_state = self._state.trainer_state
        if self._state.is_on_break:
            return f"{break_words(self._state)}: {self._forecast_words(None)}"
        if trainer_state in _NOT_FORECASTING:
            return f"{self._why(trainer_state)}: {self._forecast_words(trainer_state)}"
        job = next((job for job in self._state.jobs.running() if job.job_id == JOB_ID), None)
        if job is None:
            return self._behind_words() or self._ending_words()
        return _catch_up_words(job, is_stopgap=self._has_stopgap())

    def _behind_words(self) -> str:
        """While the trainer learns from candles of before, all that it forecast has come: no ghost is ahead."""
        model, forecast = self._chart.model, self._state.shown_forecast
        series = model.whole
        if series is None or not len(series) or model.other_interval is not None:
            return ""
        if forecast is None:
            is_behind = self._state.trainer_state is TrainerState.CATCHING_UP
            return translate("Chart", "Learning from stored candles: forecasts follow") if is_behind else ""
        newest_ms = int(series.open_time_ms[-1])
        if not forecast.ghosts or forecast.ghosts[-1].open_time_ms > newest_ms:
            return ""
        behind = len(series) - series.insertion_index(forecast.origin_open_time_ms + 1)
        return translate("Chart", "Training is {0} behind: forecasts of coming candles follow").format(
            format_candles(behind)
        )

    def _ending_words(self) -> str:
        """The ghosts of a file's end would look as if their candles were about to come."""
        ending = ending_words(self._state)
        if not ending or self._state.shown_forecast is None:
            return ""
        words = translate("Chart", "{0}: whether this forecast is right stays open until more candles come")
        return words.format(ending)

    def _has_stopgap(self) -> bool:
        """Whether the ghosts that are drawn are those of the simple rules. A replay may have run past all of them."""
        shown, series = self._state.shown_forecast, self._chart.model.whole
        if shown is None or not shown.is_by_simple_rules:
            return False
        newest_ms = int(series.open_time_ms[-1]) if series is not None and len(series) else None
        return newest_ms is None or any(ghost.open_time_ms > newest_ms for ghost in shown.ghosts)

    def _why(self, trainer_state: TrainerState) -> str:
        failure = self._state.failure
        is_breaker = trainer_state is TrainerState.FAILED and failure is not None and failure.by_breaker
        return translate("Chart", _BY_BREAKER if is_breaker else _NOT_FORECASTING[trainer_state])

    def _forecast_words(self, trainer_state: TrainerState | None) -> str:
        is_coming = trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING)
        if is_coming and self._has_stopgap():
            return translate("Chart", "until then the simple rules forecast")
        forecast = self._state.shown_forecast
        if forecast is not None:
            made_ms = forecast.inputs_until_ms
            return translate("Chart", "the newest forecast is from {0}").format(
                format_time(made_ms, self._chart.style_shown.time_zone)
            )
        return translate("Chart", "forecasts follow") if is_coming else translate("Chart", "there is no forecast")


def _catch_up_words(job: JobProgress, *, is_stopgap: bool) -> str:
    if is_stopgap:
        words = translate("Chart", "{0}: until then the simple rules forecast").format(job.title)
        if job.seconds_left is None:
            return words
        return translate("Chart", "{0} (about {1})").format(words, format_duration(job.seconds_left))
    if job.seconds_left is None:
        return translate("Chart", "{0}: forecasts of coming candles begin when it is through").format(job.title)
    left = format_duration(job.seconds_left)
    return translate("Chart", "{0}: forecasts of coming candles begin when it is through, in about {1}").format(
        job.title, left
    )
