"""The loop that drives a run, with a host that answers late: requests made meanwhile must hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from core.domain.candle import FILE_VENUE, Market
from core.domain.clock import ManualClock, SystemClock
from core.domain.events import (
    EventBatch,
    ForecastMade,
    Incident,
    StepDone,
    TrainerEvent,
    TrainerFailed,
    TrainerReady,
    TrainerState,
    TrainerStatus,
)
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import ObserveClose, RescoreCandle, SetDevice, SetDuty, SetPaused, StepOnce, TrainerCommand
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.host import HostDiedError, ThreadHost
from core.training.hosting.inbox import Inbox
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import DeathCause
from tests.core.training import rigs
from tests.support.candles import MINUTE, random_walk
from tests.support.driven import store_candles

_BETWEEN_STATUSES_MS = 300


class LateHost(ThreadHost):
    """A process in slow motion: a command waits, as in a pipe, until its answer is looked for. A second lies between
    two answers, so each of them tells the state. Where `dies_of_a_pause`, it is killed before it gets to one."""

    def __init__(self, spec: SessionSpec, dies_of_a_pause: bool) -> None:
        self._late_clock = ManualClock()
        super().__init__(spec, self._late_clock)
        self._waiting: deque[TrainerCommand] = deque()
        self._dies_of_a_pause = dies_of_a_pause
        self.asked: list[TrainerCommand] = []
        self.most_waiting = 0

    def send(self, command: TrainerCommand) -> None:
        self._waiting.append(command)
        self.most_waiting = max(self.most_waiting, len(self._waiting))
        self.asked.append(command)

    def receive(self, timeout_s: float) -> EventBatch | None:
        ready = super().receive(0.0)
        if ready is not None or not self._waiting:
            return ready
        self._late_clock.advance_ms(_BETWEEN_STATUSES_MS)
        command = self._waiting.popleft()
        if isinstance(command, SetPaused) and self._dies_of_a_pause:
            self.close()
            raise HostDiedError("It was killed.", cause=DeathCause.KILLED)
        super().send(command)
        return super().receive(timeout_s)


def drive(
    spec: SessionSpec,
    inbox: Inbox,
    on_event: Callable[[TrainerEvent], None] = lambda _: None,
    *,
    first_dies_of_a_pause: bool = False,
) -> list[LateHost]:
    """The hosts of a run over all stored candles."""
    hosts: list[LateHost] = []

    def make_host(spec: SessionSpec) -> LateHost:
        hosts.append(LateHost(spec, dies_of_a_pause=first_dies_of_a_pause and not hosts))
        return hosts[-1]

    def emit(batch: EventBatch) -> None:
        for event in batch.events:
            on_event(event)

    for market in spec.markets:
        inbox.feed_ended(market)
    with closing(open_database(DataFolder(spec.root).database)) as db:
        TrainingDriver(spec, make_host, CandleStore(db), inbox, emit, SystemClock()).run()
    return hosts


def test_a_requested_pause_survives_a_trainer_that_dies_before_answering(tmp_path: Path) -> None:
    """Answers to candles that were under way say TRAINING, and come after the pause was asked for."""
    store_candles(tmp_path, random_walk(60))
    events, inbox = list[TrainerEvent](), Inbox()

    def on_event(event: TrainerEvent) -> None:
        events.append(event)
        if isinstance(event, StepDone) and event.step == 15:
            inbox.send(SetPaused(True))

    hosts = drive(rigs.spec(tmp_path), inbox, on_event, first_dies_of_a_pause=True)
    assert len(hosts) == 2 and not [event for event in events if isinstance(event, TrainerFailed)]
    first_command = next(command for command in hosts[1].asked if isinstance(command, SetPaused | ObserveClose))
    assert first_command == SetPaused(True)
    *_, restarted = (place for place, event in enumerate(events) if isinstance(event, TrainerReady))
    steps = [place for place, event in enumerate(events) if isinstance(event, StepDone)]
    assert len(steps) > 15 and steps[-1] < restarted


def test_a_command_is_answered_while_the_driver_sleeps(tmp_path: Path) -> None:
    """The driver's clock does not advance, so the rest after the first step never ends; commands still go through,
    and the whole time for training ends the rest at once."""
    store_candles(tmp_path, random_walk(30))
    training = replace(rigs.SMALL.training, duty_percent=5)
    spec = rigs.spec(tmp_path, replace(rigs.SMALL, training=training))
    inbox, seen = Inbox(), list[str]()

    def emit(batch: EventBatch) -> None:
        for event in batch.events:
            if isinstance(event, StepDone):
                seen.append("step")
                if seen.count("step") == 1:
                    inbox.send(SetPaused(True))
            elif isinstance(event, ForecastMade):
                seen.append("forecast")
            elif isinstance(event, TrainerStatus) and event.state is TrainerState.PAUSED and "paused" not in seen:
                seen.append("paused")
                inbox.send(SetPaused(False))
                inbox.send(SetDuty(100))

    inbox.feed_ended(rigs.MARKET)
    db = open_database(DataFolder(tmp_path).database)
    make_host = lambda wanted: ThreadHost(wanted, SystemClock())  # noqa: E731
    TrainingDriver(spec, make_host, CandleStore(db), inbox, emit, ManualClock()).run()
    db.close()
    assert seen[:4] == ["forecast", "forecast", "step", "paused"], "no candle between the step and the pause"
    assert seen.count("step") == 29 and seen.count("forecast") == 30


def test_commands_behind_a_change_of_the_device_wait_for_the_next_trainer(tmp_path: Path) -> None:
    store_candles(tmp_path, random_walk(5))
    inbox, events = Inbox(), list[TrainerEvent]()
    inbox.send(SetDevice("cpu"))
    inbox.send(StepOnce())
    hosts = drive(rigs.spec(tmp_path), inbox, events.append)
    assert len(hosts) == 2 and StepOnce() not in hosts[0].asked and hosts[1].asked[0] == StepOnce()
    assert not [event for event in events if isinstance(event, TrainerFailed | Incident)]


def test_fewer_closes_are_under_way_the_more_markets_they_have(tmp_path: Path) -> None:
    """A pipe holds little."""
    markets = tuple(Market(FILE_VENUE, name, MINUTE) for name in "abc")
    spec = replace(rigs.spec(tmp_path, market=markets[0]), others=markets[1:])
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        for place, market in enumerate(markets):
            CandleStore(db).save(market, random_walk(20, seed=place))
    (host,) = drive(spec, Inbox())
    assert host.most_waiting == 13


def test_corrections_of_many_candles_do_not_fill_the_pipe(tmp_path: Path) -> None:
    """The trainer answers each before it reads the next one: both would wait for the other to read, for ever."""
    candles = random_walk(30)
    store_candles(tmp_path, candles)
    inbox = Inbox()
    corrections = [RescoreCandle(candle.open_time_ms, rigs.MARKET) for candle in candles * 10]
    for correction in corrections:
        inbox.send(correction)
    (host,) = drive(rigs.spec(tmp_path), inbox)
    assert [each for each in host.asked if isinstance(each, RescoreCandle)] == corrections
    assert host.most_waiting <= 32
