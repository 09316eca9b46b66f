"""Says beside the forecast why it is old, or why none comes: it looks the same as a fresh one else."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from core.events import JobProgress, TrainerState
from core.training.catch_up import JOB_ID
from desktop.chart.widget import ChartWidget
from desktop.formatting import format_count, format_duration, format_time
from desktop.state import RunState

_NOT_FORECASTING = {
    TrainerState.STOPPED: "Training is stopped",
    TrainerState.FAILED: "Training has failed",
    TrainerState.RESTARTING: "Training is restarting",
    TrainerState.STARTING: "Training is starting",
}
_BY_BREAKER = "Training is paused after three crashes"


class ForecastNote(QObject):
    """Watches the state for the chart."""

    def __init__(self, state: RunState, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._state, self._chart = state, chart
        for signal in (state.status_changed, state.forecast_changed, state.jobs_changed, state.run_changed):
            signal.connect(self._on_change)
        chart.series_changed.connect(self._on_change)

    @Slot()
    def _on_change(self) -> None:
        self._chart.set_note(self._text())

    def _text(self) -> str:
        trainer_state = self._state.trainer_state
        if trainer_state in _NOT_FORECASTING:
            return f"{self._why(trainer_state)}: {self._forecast_words(trainer_state)}"
        job = next((job for job in self._state.jobs.running() if job.job_id == JOB_ID), None)
        return self._behind_words() if job is None else _catch_up_words(job)

    def _behind_words(self) -> str:
        """While the trainer learns from candles of before, all that it forecast has come: no ghost is ahead."""
        model, forecast = self._chart.model, self._state.forecast
        series = model.series
        if series is None or not len(series) or model.other_interval is not None:
            return ""
        if forecast is None:
            is_behind = self._state.trainer_state is TrainerState.CATCHING_UP
            return "Learning from stored candles: forecasts follow" if is_behind else ""
        newest_ms = int(series.open_time_ms[-1])
        if not forecast.ghosts or forecast.ghosts[-1].open_time_ms > newest_ms:
            return ""
        behind = len(series) - series.insertion_index(forecast.origin_open_time_ms + 1)
        return f"Training is {_candles(behind)} behind: forecasts of coming candles follow"

    def _why(self, trainer_state: TrainerState) -> str:
        failure = self._state.failure
        is_breaker = trainer_state is TrainerState.FAILED and failure is not None and failure.by_breaker
        return _BY_BREAKER if is_breaker else _NOT_FORECASTING[trainer_state]

    def _forecast_words(self, trainer_state: TrainerState) -> str:
        forecast = self._state.forecast
        if forecast is not None:
            made_ms = forecast.inputs_until_ms
            return f"the newest forecast is from {format_time(made_ms, self._chart.style_shown.time_zone)}"
        is_coming = trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING)
        return "forecasts follow" if is_coming else "there is no forecast"


def _candles(count: int) -> str:
    return f"{format_count(count)} candle{'' if count == 1 else 's'}"


def _catch_up_words(job: JobProgress) -> str:
    left = "" if job.seconds_left is None else f", in about {format_duration(job.seconds_left)}"
    return f"{job.title}: forecasts of coming candles begin when it is through{left}"
