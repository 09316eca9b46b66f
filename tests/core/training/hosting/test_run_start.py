"""What a run of several markets takes over from one of them alone, and the reverse."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

from core.domain.candle import Candle, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock, ManualClock, SystemClock
from core.domain.events import ForecastMode, ForecastScored, Incident, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.engine.engine import part_of
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.support.candles import MARKET, MINUTE, random_walk

COUNT = 9
OF_OTHERS = "embed_others.weight"


def seeded(seed: int | None) -> Settings:
    return dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, seed=seed))


UNSEEDED = seeded(None)


def learned_alone(
    root: Path, market: Market = MARKET, settings: Settings = UNSEEDED, clock: Clock | None = None
) -> CheckpointInfo:
    session = TrainingService(rigs.spec(root, settings, market), clock or SystemClock())
    rigs.feed(session, random_walk(COUNT))
    info = rigs.saved_now(session)
    session.close()
    return info


def start(session: TrainingService) -> tuple[str | None, list[Incident]]:
    """The checkpoint that it starts from, and what it reports."""
    events = session.opening_events()
    (ready,) = [event for event in events if isinstance(event, TrainerReady)]
    return ready.resumed_from, [event for event in events if isinstance(event, Incident)]


def weights(session: TrainingService) -> Mapping[str, Tensor]:
    return part_of(session._session.engine.tensors(), "model")


@pytest.fixture
def alone(tmp_path: Path) -> CheckpointInfo:
    """Of a time when the clock was years ahead."""
    return learned_alone(tmp_path, clock=ManualClock(2_150_000_000_000))


@pytest.fixture
def both(tmp_path: Path, alone: CheckpointInfo) -> Iterator[TrainingService]:
    session = rigs.service_of_two(tmp_path, UNSEEDED)
    yield session
    session.close()


def test_it_starts_with_the_weights_and_says_so(tmp_path: Path, alone: CheckpointInfo, both: TrainingService) -> None:
    before = TrainingService(rigs.spec(tmp_path, UNSEEDED), SystemClock())
    kept = weights(before)
    before.close()
    found = dict(weights(both))
    assert not found.pop(OF_OTHERS).any() and found.keys() == kept.keys()
    assert all(torch.equal(found[name], kept[name]) for name in kept)
    resumed_from, (incident,) = start(both)
    assert resumed_from == alone.checkpoint_id and incident.kind is IncidentKind.MODEL_TAKEN_OVER
    assert f"step {alone.step}" in incident.what_happened and MARKET.symbol in incident.what_happened


def test_candles_that_it_has_learned_count_as_seen_and_it_learns_from_both(both: TrainingService) -> None:
    walks: list[list[Candle]] = [random_walk(COUNT + 10), random_walk(COUNT + 10, seed=2)]
    events = rigs.feed_two(both, *walks)
    scored = [event for event in events if isinstance(event, ForecastScored) and event.horizon == 1]
    until_ms = walks[0][COUNT - 1].open_time_ms + MINUTE.duration_ms
    assert both._session.provenance.seen_until_ms == until_ms
    found = {(each.target_open_time_ms < until_ms, each.mode is ForecastMode.SEEN) for each in scored}
    assert found == {(True, True), (False, False)} and len({each.run_id for each in scored}) == 2
    assert both.status().step > 0 and bool(weights(both)[OF_OTHERS].any())


def test_its_own_checkpoint_comes_first_later(tmp_path: Path, both: TrainingService) -> None:
    rigs.feed_two(both, random_walk(COUNT), random_walk(COUNT, seed=2))
    own = rigs.saved_now(both)
    again = rigs.service_of_two(tmp_path, UNSEEDED)
    resumed_from, incidents = start(again)
    again.close()
    assert resumed_from == own.checkpoint_id and incidents == []


def test_the_model_that_was_saved_last_is_taken_and_a_damaged_one_skipped(
    tmp_path: Path, alone: CheckpointInfo
) -> None:
    last = learned_alone(tmp_path, rigs.OTHER)
    DataFolder(tmp_path).absolute(last.file).write_bytes(b"damaged")
    session = rigs.service_of_two(tmp_path, UNSEEDED)
    resumed_from, incidents = start(session)
    session.close()
    assert [each.kind for each in incidents] == [IncidentKind.CHECKPOINT_REFUSED, IncidentKind.MODEL_TAKEN_OVER]
    assert resumed_from == alone.checkpoint_id


@pytest.mark.parametrize(("seed", "is_new"), [(5, False), (None, True)])
def test_a_seed_or_the_wish_for_a_new_run_begins_with_a_new_model(
    tmp_path: Path, seed: int | None, is_new: bool
) -> None:
    """With a seed a run repeats, whatever was learned before."""
    learned_alone(tmp_path, settings=seeded(seed))
    spec = dataclasses.replace(rigs.spec(tmp_path, seeded(seed)), others=(rigs.OTHER,), new_run=is_new)
    session = TrainingService(spec, SystemClock())
    assert start(session) == (None, [])
    session.close()


@pytest.fixture
def together(tmp_path: Path) -> CheckpointInfo:
    """Of a model of two markets, with weights for what it read of the other one."""
    session = rigs.service_of_two(tmp_path, UNSEEDED)
    rigs.feed_two(session, random_walk(COUNT + 10), random_walk(COUNT + 10, seed=2))
    assert bool(weights(session)[OF_OTHERS].any())
    info = rigs.saved_now(session)
    session.close()
    return info


def test_a_market_that_is_alone_from_now_on_starts_with_what_it_had_with_others(
    tmp_path: Path, together: CheckpointInfo
) -> None:
    both = rigs.service_of_two(tmp_path, UNSEEDED)
    kept = dict(weights(both))
    both.close()
    session = TrainingService(rigs.spec(tmp_path, UNSEEDED), SystemClock())
    resumed_from, (incident,) = start(session)
    assert resumed_from == together.checkpoint_id and incident.kind is IncidentKind.MODEL_TAKEN_OVER
    assert f"step {together.step}" in incident.what_happened and "with other markets" in incident.what_happened
    kept.pop(OF_OTHERS)
    found = weights(session)
    assert found.keys() == kept.keys() and all(torch.equal(found[name], kept[name]) for name in kept)
    until_ms = random_walk(COUNT + 10)[-1].open_time_ms + MINUTE.duration_ms
    assert session._session.provenance.seen_until_ms == until_ms
    rigs.feed(session, random_walk(COUNT + 20))
    assert session.status().step > 0
    session.close()


def test_a_market_that_continues_alone_says_that_a_model_with_others_is_newer(
    tmp_path: Path, alone: CheckpointInfo, together: CheckpointInfo
) -> None:
    session = TrainingService(rigs.spec(tmp_path, UNSEEDED), SystemClock())
    resumed_from, (incident,) = start(session)
    assert resumed_from == alone.checkpoint_id and incident.kind is IncidentKind.CONTINUED_ALONE
    assert f"step {alone.step}" in incident.what_happened and f"step {together.step}" in incident.what_happened
    rigs.feed(session, rigs.after(session, COUNT + 3))
    own = rigs.saved_now(session)
    session.close()
    again = TrainingService(rigs.spec(tmp_path, UNSEEDED), SystemClock())
    assert start(again) == (own.checkpoint_id, [])
    again.close()
