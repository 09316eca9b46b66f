"""A model of several markets: its checkpoints, and what its learning rate follows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import ManualClock
from core.domain.events import StepDone
from core.forecast.baseline_inputs import LAGS_READ
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.weights import CheckpointError
from core.training.engine.device import Device
from core.training.hosting.checkpoint_writer import Circumstances
from core.training.hosting.opening import OpenedRun, open_run, restore_newest
from core.training.online.snapshot import pack, unpack_all, unpack_learned
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support.candles import MINUTE, START_MS, random_walk
from tests.support.plain_loop import Candles, closes

SETTINGS = replace(rigs.SMALL, online=replace(rigs.SMALL.online, twin_age=20))
NAMES = ("a", "b", "c")
WALKS = [random_walk(52), random_walk(52, seed=9)[7:], [*random_walk(52, seed=3)[:30], *random_walk(52, seed=3)[33:]]]


def all_closes(walks: Sequence[Sequence[Candle]] = WALKS) -> list[Candles]:
    """Of a market that starts later, too, and of one with a gap."""
    return list(closes([iter(walk) for walk in walks]))


@contextmanager
def opened(root: Path, names: Sequence[str] = NAMES, new_run: bool = False) -> Iterator[OpenedRun]:
    DataFolder(root).ensure()
    db = open_database(DataFolder(root).database)
    first, *others = (Market(FILE_VENUE, name, MINUTE) for name in names)
    spec = SessionSpec(root, first, SETTINGS, new_run, others=tuple(others))
    run = open_run(spec, db, Device(torch.device("cpu"), "CPU"), ManualClock(START_MS))
    run.writer.circumstances = lambda: Circumstances(run.spec.settings, "CPU", "healthy", None)
    yield run
    db.close()


def resumed(run: OpenedRun) -> None:
    """Continue from its newest checkpoint, as the service does."""
    info = restore_newest(run.session, run.writer, lambda info, why: None)
    assert info is not None
    run.session.checkpoint_id = info.checkpoint_id
    run.session.ladder.known_good.remember(run.session.step)
    run.session.load_record()


def learn(run: OpenedRun, those: Sequence[Candles]) -> None:
    for close in those:
        run.session.on_close(rigs.close_of(close, run.spec.markets))


def state(run: OpenedRun) -> tuple[dict[str, bytes], object]:
    """All that a checkpoint has, and all that the record has."""
    tensors, metadata = pack(run.session, SETTINGS.model)
    readers = [market.record.reader for market in run.session.markets]
    record = [(each.forecasts_sha256(), each.counts().scored, len(each.steps())) for each in readers]
    bits = {name: tensor.detach().cpu().contiguous().numpy().tobytes() for name, tensor in tensors.items()}
    return bits, (metadata["generator"], metadata["of_markets"], metadata["closes"], metadata["step"], record)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], object]:
    with opened(tmp_path_factory.mktemp("whole")) as run:
        learn(run, all_closes())
        return state(run)


@pytest.mark.parametrize(
    ("saved", "died"),
    [pytest.param(10, 10, marks=pytest.mark.slow), (34, 45), pytest.param(45, 46, marks=pytest.mark.slow)],
)
def test_a_resumed_run_has_the_bytes_of_an_uninterrupted_one(
    tmp_path: Path, undisturbed: tuple[dict[str, bytes], object], saved: int, died: int
) -> None:
    """Also where forecasts and scores after the checkpoint are in the record already."""
    with opened(tmp_path / "first") as run:
        learn(run, all_closes()[:saved])
        assert run.writer.save(run.session, "manual") is not None
        learn(run, all_closes()[saved:died])
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    with opened(tmp_path / "second") as run:
        resumed(run)
        learn(run, all_closes()[saved:])
        bits, rest = state(run)
    assert rest == undisturbed[1]
    assert bits == undisturbed[0]


@pytest.mark.parametrize("count", [1, 3])
def test_a_checkpoint_names_its_markets(tmp_path: Path, count: int) -> None:
    with opened(tmp_path, NAMES[:count]) as run:
        learn(run, all_closes(WALKS[:count])[:5])
        tensors, metadata = pack(run.session, SETTINGS.model)
    assert metadata["markets"] == [f"{name} 1m (file)" for name in NAMES[:count]]
    assert {name.partition(".")[0] for name in tensors if name[0] == "m"} == {"model", "m000", "m001", "m002"} - {
        f"m{place:03d}" for place in range(count, 3)
    }


def test_the_model_of_one_market_fits_another_market(tmp_path: Path) -> None:
    with opened(tmp_path / "from", NAMES[:1]) as run:
        learn(run, all_closes(WALKS[:1])[:30])
        tensors, metadata = pack(run.session, SETTINGS.model)
        learned = run.session.forecaster.state(0)
    with opened(tmp_path / "to", ("x",)) as run:
        unpack_learned(run.session, tensors, metadata)
        found = run.session.forecaster.state(0)
    assert all(found[name].tobytes() == learned[name].tobytes() for name in learned)


def test_a_restored_model_finds_each_market_by_its_name(tmp_path: Path) -> None:
    """In a run with other markets; one that the checkpoint does not have keeps its own weights of experts."""
    with opened(tmp_path / "from") as run:
        learn(run, all_closes()[:30])
        tensors, metadata = pack(run.session, SETTINGS.model)
        learned = {each.market.symbol: each.forecaster.state(each.place) for each in run.session.markets}
    with opened(tmp_path / "to", ("b", "c", "d")) as run:
        before = run.session.forecaster.state(2)
        unpack_learned(run.session, tensors, metadata)
        found = [each.forecaster.state(each.place) for each in run.session.markets]
        for ours, theirs in zip(found, (learned["b"], learned["c"], before), strict=True):
            assert all(ours[name].tobytes() == theirs[name].tobytes() for name in theirs)
    with opened(tmp_path / "strange", ("x", "y")) as run, pytest.raises(CheckpointError, match="other markets"):
        unpack_all(run.session, tensors, metadata)


@pytest.mark.parametrize(("other", "is_kept"), [("b", True), ("c", False)])
def test_what_was_learned_of_a_market_is_not_used_for_another_in_its_place(
    tmp_path: Path, other: str, is_kept: bool
) -> None:
    with opened(tmp_path / "from", ("a", "b")) as run:
        learn(run, all_closes(WALKS[:2])[:30])
        tensors, metadata = pack(run.session, SETTINGS.model)
    with opened(tmp_path / "to", ("a", other)) as run:
        unpack_all(run.session, tensors, metadata)
        learn(run, all_closes(WALKS[:2])[30:31])
        tensors, _ = pack(run.session, SETTINGS.model)
    of_others = tensors["m000.past.baselines.experts.returns.response"][..., LAGS_READ:]
    assert bool(of_others.any()) is is_kept


def test_a_market_that_is_back_after_starts_without_it_has_its_expert_weights_and_calibration(tmp_path: Path) -> None:
    with opened(tmp_path / "all") as run:
        learn(run, all_closes()[:30])
        tensors, metadata = pack(run.session, SETTINGS.model)
        learned = run.session.forecaster.state(2)
    assert metadata["absent"] == []
    for start in ("first", "second"):
        with opened(tmp_path / start, ("a", "b")) as run:
            unpack_all(run.session, tensors, metadata)
            learn(run, all_closes(WALKS[:2])[30:33])
            tensors, metadata = pack(run.session, SETTINGS.model)
    assert len(metadata["markets"]) == 2 and len(metadata["absent"]) == 1
    with opened(tmp_path / "back") as run:
        unpack_all(run.session, tensors, metadata)
        found = run.session.forecaster.state(2)
        _, metadata = pack(run.session, SETTINGS.model)
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in learned.items()
    }
    assert metadata["absent"] == []


def test_a_model_of_several_markets_is_refused_by_a_run_of_one(tmp_path: Path) -> None:
    with opened(tmp_path / "several") as run:
        learn(run, all_closes()[:5])
        tensors, metadata = pack(run.session, SETTINGS.model)
    with opened(tmp_path / "one", ("a",)) as run, pytest.raises(CheckpointError, match="one market and of several"):
        unpack_learned(run.session, tensors, metadata)


@pytest.mark.slow
def test_checkpoints_of_many_markets_are_further_apart(tmp_path: Path) -> None:
    with opened(tmp_path, [f"m{number}" for number in range(6)]) as run:
        walks = [random_walk(42, seed=seed) for seed in range(6)]
        due = []
        for close in all_closes(walks):
            learn(run, [close])
            if run.writer.is_due(run.session, False):
                due.append(run.session.step)
    assert due == [20, 40]


def test_the_learning_rate_follows_only_markets_that_are_learned_from(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        first, switched_off, _ = run.session.markets
        switched_off.is_learned = False
        closes = (rigs.close_of(each, run.spec.markets) for each in all_closes(WALKS[:2])[:20])
        steps = [event for close in closes for event in run.session.on_close(close) if isinstance(event, StepDone)]
    assert switched_off.prequential_loss is not None
    assert steps[-1].prequential_loss == first.prequential_loss != switched_off.prequential_loss
