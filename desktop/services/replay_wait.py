"""Lets a replay wait for the model, so that the ghosts on the chart are the model's."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from core.domain.events import Incident, TrainerState
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.replay_speed import ReplayPace
from desktop.services.watched_markets import WatchedMarkets
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore

_WITHOUT_MODEL = frozenset({None, TrainerState.STOPPED, TrainerState.FAILED})
_STARTING = frozenset({TrainerState.STARTING, TrainerState.RESTARTING})
_AHEAD_IN_WARM_UP = 1
"""Candles by which a replay may be ahead of the model in the warm-up: the model then never waits for the window."""


class ReplayWait(QObject):
    """Holds the replay from each candle until the model's forecast from it, unless the settings or a stopped trainer
    say otherwise. In the warm-up it may be a little ahead."""

    def __init__(
        self, watched: WatchedMarkets, state: RunState, settings: SettingsStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state, self._settings = state, settings
        self._pace: ReplayPace | None = None
        self._without_forecast_ms: int | None = None
        """A candle that was set aside: no forecast from it will come."""
        watched.pace_changed.connect(self._set_pace)
        for changed in (state.markets.changed, state.status_changed, settings.changed):
            changed.connect(self._update)
        state.incident_happened.connect(self._on_incident)

    @Slot(object)
    def _set_pace(self, pace: ReplayPace | None) -> None:
        self._pace = pace
        self._update()

    @Slot(object)
    def _on_incident(self, incident: Incident) -> None:
        if incident.kind == IncidentKind.CANDLE_SET_ASIDE:
            self._without_forecast_ms = self._newest_of_last()[0]
            self._update()

    @Slot()
    def _update(self) -> None:
        pace = self._pace
        if pace is not None:
            pace.waits_for_model = self._settings.current.chart.replay_waits
            pace.hold(is_held=pace.waits_for_model and self._is_model_behind(pace))

    def _is_model_behind(self, pace: ReplayPace) -> bool:
        state, market = self._state, self._state.market
        if state.trainer_state in _WITHOUT_MODEL or state.is_on_break or market is None:
            return False
        newest_ms, position_ms = self._newest_of_last()
        if newest_ms is None or newest_ms == self._without_forecast_ms:
            return False
        ahead = _AHEAD_IN_WARM_UP if pace.is_warm_up(newest_ms) else 0
        is_behind = position_ms is None or position_ms < newest_ms - ahead * market.interval.duration_ms
        return is_behind or state.trainer_state in _STARTING

    def _newest_of_last(self) -> tuple[int | None, int | None]:
        """The opening times of the newest candle, and of the candle that the trainer has reached, of the market whose
        candles are the oldest: the trainer cannot take any later ones yet. None, None while a market has no candles."""
        markets = self._state.markets
        rows = [markets.row(market) for market in markets.universe]
        running = [row for row in rows if row.feed is None or not row.feed.has_ended]
        if not running or not all(row.candles for row in running):
            return None, None
        last = min(running, key=lambda row: row.candles[-1].open_time_ms)
        forecast_ms = None if last.committed is None else last.committed.origin_open_time_ms
        reached_ms = [each for each in (forecast_ms, last.position_ms) if each is not None]
        return last.candles[-1].open_time_ms, max(reached_ms, default=None)
