"""Lets a replay wait for the model, so that the ghosts on the chart are the model's."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from core.domain.events import Incident, TrainerState
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.replay_speed import ReplayPace
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.training_words import has_come_to

_WITHOUT_MODEL = frozenset({None, TrainerState.STOPPED, TrainerState.FAILED})
_AHEAD_IN_WARM_UP = 1
"""Candles by which a replay may be ahead of the model in the warm-up: the model then never waits for the window."""


class ReplayWait(QObject):
    """Holds the replay from each candle until the model's forecast from it, unless the settings or a stopped trainer
    say otherwise. In the warm-up it may be a few candles ahead."""

    def __init__(
        self, watched: WatchedMarkets, state: RunState, settings: SettingsStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state, self._settings = state, settings
        self._pace: ReplayPace | None = None
        self._without_forecast_ms: int | None = None
        """A candle that was set aside: no forecast from it will come."""
        watched.pace_changed.connect(self._set_pace)
        state.markets.closed.connect(self._update)
        for moved in (state.forecast_changed, state.status_changed, state.jobs_changed, settings.changed):
            moved.connect(self._update)
        state.incident_happened.connect(self._on_incident)

    @Slot(object)
    def _set_pace(self, pace: ReplayPace | None) -> None:
        self._pace = pace
        self._update()

    @Slot(object)
    def _on_incident(self, incident: Incident) -> None:
        if incident.kind == IncidentKind.CANDLE_SET_ASIDE:
            self._without_forecast_ms = self._state.feed_record.newest_closed_ms
            self._update()

    @Slot()
    def _update(self) -> None:
        pace = self._pace
        if pace is not None:
            pace.waits_for_model = self._settings.current.chart.replay_waits
            pace.hold(is_held=pace.waits_for_model and self._is_model_behind(pace))

    def _is_model_behind(self, pace: ReplayPace) -> bool:
        state, market = self._state, self._state.market
        if state.trainer_state in _WITHOUT_MODEL or state.is_on_break:
            return False
        newest_ms = state.feed_record.newest_closed_ms
        if newest_ms is None or market is None or newest_ms == self._without_forecast_ms:
            return False
        ahead = _AHEAD_IN_WARM_UP if pace.is_warm_up(newest_ms) else 0
        return not has_come_to(state, newest_ms - ahead * market.interval.duration_ms)
