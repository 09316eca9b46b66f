"""A replay waits for the forecasts of a running trainer, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle
from core.domain.events import FirstForecast, Incident, MemberRun, Severity, TrainerFailed, TrainerState, TrainerStatus
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.replay_speed import ReplayPace
from core.settings.tree import Settings
from desktop.services.replay_wait import ReplayWait
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from tests.desktop import scenario

CANDLES = scenario.market(60)


class Watched(QObject):
    """Only what is asked of the watched markets."""

    pace_changed = Signal(object)


class WatchedPace(ReplayPace):
    is_held = False

    def hold(self, *, is_held: bool) -> None:
        self.is_held = is_held


@dataclass
class Replayed:
    state: RunState
    settings: SettingsStore
    watched: Watched
    pace: WatchedPace

    def close(self, candle: Candle) -> None:
        self.state.markets.add_closed(scenario.MARKET, [candle])


def status(trainer: TrainerState) -> TrainerStatus:
    return scenario.status(trainer, position_ms=CANDLES[0].open_time_ms)


@pytest.fixture
def replayed(state: RunState) -> Replayed:
    made = Replayed(state, SettingsStore(Settings(), state), Watched(state), WatchedPace(1.0, [CANDLES]))
    ReplayWait(made.watched, state, made.settings, state)  # type: ignore[arg-type]
    made.watched.pace_changed.emit(made.pace)
    state.apply(scenario.ready())
    state.apply(status(TrainerState.TRAINING))
    return made


def test_each_candle_waits_for_the_models_forecast_from_the_one_before(replayed: Replayed) -> None:
    assert replayed.pace.waits_for_model
    replayed.close(CANDLES[-2])
    assert replayed.pace.is_held
    by_rules = replace(scenario.forecast(CANDLES[:-1]), is_by_simple_rules=True)
    replayed.state.apply(FirstForecast(by_rules, scenario.MARKET))
    assert replayed.pace.is_held, "the simple rules are not the model"
    replayed.state.apply(scenario.forecast(CANDLES[:-1]))
    assert not replayed.pace.is_held
    replayed.close(CANDLES[-1])
    assert replayed.pace.is_held


def test_in_the_warm_up_a_replay_may_be_a_few_candles_ahead(replayed: Replayed) -> None:
    pace = WatchedPace(1.0, [CANDLES], warm_up_until_ms=CANDLES[-2].open_time_ms)
    replayed.watched.pace_changed.emit(pace)
    replayed.state.apply(scenario.forecast(CANDLES[:-4]))
    for candle, is_held in zip(CANDLES[-4:], (False, True, True, True), strict=True):
        replayed.close(candle)
        assert pace.is_held is is_held
    replayed.state.apply(scenario.forecast(CANDLES[:-2]))
    assert pace.is_held, "after the warm-up each candle is waited for"


def test_a_replay_waits_for_no_candle_that_the_trainer_cannot_take_yet(replayed: Replayed) -> None:
    """Regression: of two files with different holes, one waited for the model, and the model for the other one."""
    other = replace(scenario.MARKET, symbol="ETH/USDT")
    replayed.state.markets.set_universe((scenario.MARKET, other))
    replayed.close(CANDLES[-2])
    assert not replayed.pace.is_held, "the other one has no candle yet"
    replayed.state.markets.add_closed(other, [CANDLES[-9]])
    assert replayed.pace.is_held
    (reached,) = status(TrainerState.TRAINING).markets
    member = MemberRun("of the other", other, is_learned=True)
    replayed.state.markets.set_status(replace(reached, member=member, position_ms=CANDLES[-9].open_time_ms))
    assert not replayed.pace.is_held, "the trainer needs the other one's next candle"
    replayed.state.markets.on_feed_event(other, FeedStatus(FeedState.ENDED, "The end was reached.", 0))
    assert replayed.pace.is_held, "no further one will come"


def test_a_replay_waits_for_a_trainer_that_starts(replayed: Replayed) -> None:
    replayed.close(CANDLES[-1])
    replayed.state.apply(scenario.forecast(CANDLES))
    assert not replayed.pace.is_held
    replayed.state.trainer_starts(has_run=True)
    assert replayed.pace.is_held


def switched_off(replayed: Replayed) -> None:
    replayed.settings.change_chart(replay_waits=False)


def stopped(replayed: Replayed) -> None:
    replayed.state.apply(status(TrainerState.STOPPED))


def failed(replayed: Replayed) -> None:
    replayed.state.apply(TrainerFailed("It failed."))


def released(replayed: Replayed) -> None:
    replayed.state.set_break(is_on=True)


def set_aside(replayed: Replayed) -> None:
    kind = IncidentKind.CANDLE_SET_ASIDE
    replayed.state.apply(Incident(None, scenario.NOW_MS, Severity.WARNING, kind, "Two trainers died on it.", "", ""))


@pytest.mark.parametrize("end", [switched_off, stopped, failed, released, set_aside])
def test_a_replay_waits_for_no_forecast_that_will_not_come(replayed: Replayed, end: Callable[[Replayed], None]) -> None:
    replayed.close(CANDLES[-1])
    assert replayed.pace.is_held
    end(replayed)
    assert not replayed.pace.is_held
