"""A model of several markets, driven over stored candles: the same bytes whatever happens on the way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import SystemClock
from core.domain.events import (
    CheckpointForecast,
    EventBatch,
    ForecastMade,
    ForecastMode,
    ForecastScored,
    Incident,
    StepDone,
    TrainerEvent,
    TrainerReady,
    TrainerStatus,
)
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import FloatArray
from core.evaluation.pooled import summarise_together
from core.storage.candles import CandleStore
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.commands import ForecastWith, RescoreCandle, SetLearned
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.host import Host, HostDiedError, ThreadHost
from core.training.hosting.inbox import Inbox
from core.training.hosting.process_host import ProcessHost
from core.training.hosting.service import TrainingService
from core.training.online.issued_forecast import Outcome, from_stored
from core.training.online.market_session import MarketSession
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support import thread_child
from tests.support.candles import MINUTE, random_walk
from tests.support.plain_loop import learn_together
from tests.support.thread_child import ThreadContext

CLOCK = SystemClock()
COUNT = 32
MARKETS = tuple(Market(FILE_VENUE, name, MINUTE) for name in ("a", "b", "c"))
WALKS = dict(
    zip(MARKETS, (random_walk(COUNT), random_walk(COUNT, seed=9)[4:], random_walk(COUNT, seed=3)[:24]), strict=True)
)
MakeHost = Callable[[SessionSpec], Host]
HOSTS: dict[str, MakeHost] = {
    "thread": lambda spec: ThreadHost(spec, CLOCK),
    "process in a thread": lambda spec: ProcessHost(spec, CLOCK, thread_child.serve, ThreadContext()),  # type: ignore[arg-type]
    "process": lambda spec: ProcessHost(spec, CLOCK),
}


def spec_of(root: Path) -> SessionSpec:
    first, *others = MARKETS
    return SessionSpec(root, first, rigs.SMALL, others=tuple(others))


def stored(root: Path, walks: dict[Market, list[Candle]] = WALKS) -> SessionSpec:
    """Their candles in a new folder."""
    DataFolder(root).ensure()
    with closing(open_database(DataFolder(root).database)) as db:
        for market, candles in walks.items():
            CandleStore(db).save(market, candles)
    return spec_of(root)


def drive(spec: SessionSpec, make_host: MakeHost = HOSTS["thread"], inbox: Inbox | None = None) -> list[TrainerEvent]:
    """To the end of the stored candles."""
    events, inbox = list[TrainerEvent](), inbox or Inbox()

    def emit(batch: EventBatch) -> None:
        events.extend(batch.events)

    for market in spec.markets:
        inbox.feed_ended(market)
    with closing(open_database(DataFolder(spec.root).database)) as db:
        TrainingDriver(spec, make_host, CandleStore(db), inbox, emit, CLOCK).run()
    return events


def record(root: Path) -> list[tuple[str, int, int, int]]:
    """Of each market its digest, candles, scores and steps."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        readers = [RecordReader(db, run.run_id) for run in RunStore(db).list()]
        counts = [reader.counts() for reader in readers]
        digests = [reader.forecasts_sha256() for reader in readers]
        return [
            (digest, count.candles, count.scored, count.steps) for digest, count in zip(digests, counts, strict=True)
        ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, int, int]]:
    """Learned by the plain loop."""
    root = tmp_path_factory.mktemp("plain")
    spec = stored(root)
    with closing(open_database(DataFolder(root).database)) as db:
        learn_together(spec, db, CLOCK)
    return record(root)


@pytest.fixture(scope="module")
def driven_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of all three, to be read only."""
    root = tmp_path_factory.mktemp("driven")
    drive(stored(root))
    return root


@pytest.fixture
def driven(driven_once: Path, tmp_path: Path) -> SessionSpec:
    """The same run, in a copy."""
    return spec_of(shutil.copytree(driven_once, tmp_path / "driven"))


@pytest.fixture(scope="module")
def switched_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose second market is not learned from, to be read only."""
    root, inbox = tmp_path_factory.mktemp("switched-off"), Inbox()
    inbox.send(SetLearned(False, MARKETS[1]))
    drive(stored(root), inbox=inbox)
    return root


@pytest.mark.parametrize("kind", ["thread", "process in a thread", pytest.param("process", marks=pytest.mark.slow)])
def test_every_host_gives_the_bytes_of_the_plain_loop(
    tmp_path: Path, expected: list[tuple[str, int, int, int]], kind: str
) -> None:
    events = drive(stored(tmp_path), HOSTS[kind])
    assert record(tmp_path) == expected
    assert [each[1:3] for each in expected] == [(32, 31), (28, 27), (24, 23)]
    (ready,) = (event for event in events if isinstance(event, TrainerReady))
    assert [each.member.market for each in ready.markets] == list(MARKETS)
    assert len({event.run_id for event in events if isinstance(event, ForecastMade)}) == 3


class DyingHost(ThreadHost):
    """Dies in place of the answer with this number, which may be a part of one, and takes what it knows with it."""

    def __init__(self, spec: SessionSpec, dies_at: int | None) -> None:
        super().__init__(spec, CLOCK)
        self._left = dies_at

    def receive(self, timeout_s: float) -> EventBatch | None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self.close()
                raise HostDiedError("It was killed.")
        return super().receive(timeout_s)


def test_a_trainer_that_dies_twice_leaves_the_bytes_of_an_undisturbed_one(
    tmp_path: Path, expected: list[tuple[str, int, int, int]]
) -> None:
    deaths = [34, 25]
    made = lambda spec: DyingHost(spec, deaths.pop(0) if deaths else None)  # noqa: E731
    events = drive(stored(tmp_path), made)
    readies = [event for event in events if isinstance(event, TrainerReady)]
    assert [ready.resumed_from is None for ready in readies] == [True, False, False]
    assert record(tmp_path) == expected


def test_checkpoints_and_steps_belong_to_the_head(driven_once: Path) -> None:
    with closing(open_database(DataFolder(driven_once).database, readonly=True)) as db:
        head, *members = RunStore(db).list()
        kept = [len(CheckpointRows(db).list(run.run_id)) for run in (head, *members)]
    assert kept[0] > 0 and kept[1:] == [0, 0]
    assert [each[3] for each in record(driven_once)] == [COUNT - 1, 0, 0]


def test_a_run_is_continued_with_the_same_markets_only(driven: SessionSpec) -> None:
    first = record(driven.root)
    drive(driven)
    assert record(driven.root) == first
    drive(replace(driven, others=driven.others[:1]))
    assert len(record(driven.root)) == 5, "two markets are another model"


def test_a_candle_that_kills_twice_is_set_aside_in_its_market_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = WALKS[MARKETS[1]][20].open_time_ms
    apply_one_step, deaths = MarketSession.apply_one_step, list[int]()

    def fail(session: MarketSession, outcome: Outcome | None, factor: FloatArray) -> None:
        if session.market == MARKETS[1] and session.position_ms == deadly:
            deaths.append(deadly)
            raise ValueError("it cannot be computed")
        apply_one_step(session, outcome, factor)

    monkeypatch.setattr(MarketSession, "apply_one_step", fail)
    events = drive(stored(tmp_path))
    aside = [event for event in events if isinstance(event, Incident) and event.kind is IncidentKind.CANDLE_SET_ASIDE]
    assert len(deaths) == 2 and len(aside) == 1 and aside[0].what_happened.startswith("In b 1m (file), the candle of ")
    assert [each[1] for each in record(tmp_path)] == [32, 27, 24]


UNSEEDED = replace(rigs.SMALL, training=replace(rigs.SMALL.training, seed=None))


def test_a_market_joins_a_model_that_has_learned_and_gets_its_forecasts_at_once(tmp_path: Path) -> None:
    """Its candles up to then count as seen: the model has learned the others of those times."""
    two = replace(stored(tmp_path), others=MARKETS[2:], settings=UNSEEDED)
    first = next(event for event in drive(two) if isinstance(event, TrainerReady))
    events = drive(replace(two, others=MARKETS[1:]))
    ready = next(event for event in events if isinstance(event, TrainerReady))
    assert ready.run_id == first.run_id and ready.step == COUNT - 1 and ready.markets[1].position_ms is None
    made = [event for event in events if isinstance(event, ForecastMade)]
    assert len(made) == len(WALKS[MARKETS[1]]) and len({event.run_id for event in made}) == 1
    modes = [event.mode for event in made]
    assert modes == [ForecastMode.SEEN] * (len(made) - 1) + [ForecastMode.REPLAY]
    assert not any(isinstance(event, StepDone) for event in events), "late candles of one market teach nothing"
    later = random_walk(COUNT + 6)[COUNT:]
    stored(tmp_path, {market: later for market in MARKETS})
    events = drive(replace(two, others=MARKETS[1:]))
    assert {event.samples for event in events if isinstance(event, StepDone)} == {6}
    assert {event.mode for event in events if isinstance(event, ForecastMade)} == {ForecastMode.REPLAY}


def test_a_market_leaves_a_model_that_keeps_its_head(tmp_path: Path) -> None:
    """Also if the head's own market leaves: its run keeps the steps and checkpoints."""
    all_three = replace(stored(tmp_path), settings=UNSEEDED)
    drive(all_three)
    stored(tmp_path, {market: random_walk(COUNT + 6)[COUNT:] for market in MARKETS})
    first, second = all_three.others
    events = drive(replace(all_three, market=first, others=(second,)))
    with closing(open_database(DataFolder(tmp_path).database, readonly=True)) as db:
        head, *members = RunStore(db).list()
        steps = [event for event in events if isinstance(event, StepDone)]
        assert len(members) == 2 and {step.run_id for step in steps} == {head.run_id} and len(steps) == 6
        assert {event.run_id for event in events if isinstance(event, ForecastMade)} == {run.run_id for run in members}
        found = summarise_together(db, {run.market.symbol: run for run in members}, 3)
        assert found["pooled"]["steps"] == COUNT - 1 + 6 and "steps" not in found["b"]


def samples(root: Path) -> set[int]:
    """Of the steps at whose close all three markets had a candle."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        steps = RecordReader(db, RunStore(db).list()[0].run_id).steps()
    return {step.samples for step in steps[8:22]}


def test_a_market_that_is_switched_off_is_forecast_but_not_learned_from(
    driven_once: Path, switched_off: Path, expected: list[tuple[str, int, int, int]]
) -> None:
    assert samples(driven_once) == {6} and samples(switched_off) == {4}
    found = record(switched_off)
    assert [each[1:] for each in found] == [each[1:] for each in expected]
    assert all(ours[0] != theirs[0] for ours, theirs in zip(found, expected, strict=True))
    with closing(open_database(DataFolder(switched_off).database, readonly=True)) as db:
        assert [run.is_learned for run in RunStore(db).list()] == [True, False, True]


def test_the_status_has_the_scores_of_each_market_under_its_own_run(tmp_path: Path) -> None:
    inbox = Inbox()
    inbox.send(SetLearned(False, MARKETS[2]))
    events = drive(stored(tmp_path), inbox=inbox)
    last = [event for event in events if isinstance(event, TrainerStatus)][-1]
    with closing(open_database(DataFolder(tmp_path).database, readonly=True)) as db:
        runs = {run.market: run.run_id for run in RunStore(db).list()}
    found = {each.member.market: each for each in last.markets}
    assert {market: each.member.run_id for market, each in found.items()} == runs
    assert [each.member.is_learned for each in last.markets] == [True, True, False]
    assert [each.position_ms for each in last.markets] == [WALKS[market][-1].open_time_ms for market in MARKETS]
    assert last.run_id == runs[MARKETS[0]]
    assert len({each.accuracy.skill_close for each in last.markets}) == 3


def test_a_checkpoint_forecasts_the_market_that_is_asked_for(driven: SessionSpec) -> None:
    with closing(open_database(DataFolder(driven.root).database, readonly=True)) as db:
        head, second, _ = RunStore(db).list()
        newest, reader = CheckpointRows(db).newest(head.run_id), RecordReader(db, second.run_id)
        shown = reader.forecast_of(reader.latest_origin_ms() or 0)
    assert newest is not None and shown is not None
    with closing(TrainingService(driven, CLOCK)) as service:
        answer, _ = service.handle(ForecastWith((newest.checkpoint_id,), MARKETS[1]))
    assert isinstance(answer, CheckpointForecast)
    assert answer.run_id == head.run_id and answer.forecast is not None
    assert answer.forecast.origin_close == WALKS[MARKETS[1]][-1].close
    committed = from_stored(shown, MINUTE).event(second.run_id)
    closes = [[ghost.close for ghost in made.ghosts] for made in (answer.forecast, committed)]
    assert closes[0] == pytest.approx(closes[1], rel=1e-4), "of the same candle, one step later"


def test_a_market_stays_switched_off_after_a_restart(tmp_path: Path, switched_off: Path) -> None:
    deaths, inbox = [15, 20], Inbox()
    inbox.send(SetLearned(False, MARKETS[1]))
    drive(stored(tmp_path), lambda spec: DyingHost(spec, deaths.pop(0) if deaths else None), inbox)
    assert not deaths and record(tmp_path) == record(switched_off)


def test_a_corrected_candle_is_scored_again_in_its_market_alone(driven: SessionSpec) -> None:
    wrong = WALKS[MARKETS[1]][20]
    stored(driven.root, {**WALKS, MARKETS[1]: [replace(wrong, low=wrong.low * 0.99)]})
    inbox = Inbox()
    inbox.send(RescoreCandle(wrong.open_time_ms, MARKETS[1]))
    events = drive(driven, inbox=inbox)
    rescored = [event for event in events if isinstance(event, ForecastScored) and event.version == 2]
    with closing(open_database(DataFolder(driven.root).database, readonly=True)) as db:
        member = RunStore(db).list()[1]
    assert {event.run_id for event in rescored} == {member.run_id}
    assert {event.target_open_time_ms for event in rescored} == {wrong.open_time_ms}
