"""A run moves between a GPU and a CPU: on a real GPU if there is one. Without, its checkpoints get the contents that
CUDA writes, and the other direction is tested on the function that decides (tests/core/training/engine/test_noise.py).
"""

from __future__ import annotations

import dataclasses
import shutil
from contextlib import closing
from pathlib import Path

import pytest
import torch

from core.domain.events import CheckpointsChanged, Incident, TrainerEvent, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import GradientSettings, Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import Run, RunStore
from core.training.commands import RestoreCheckpoint, SaveCheckpoint
from core.training.engine.engine import part_of
from core.training.hosting.pretrained import PretrainedStore
from core.training.hosting.service import TrainingService
from core.training.recovery.exit_reasons import DeathCause
from tests.core.training import rigs
from tests.core.training.pretraining import rigs as pretraining
from tests.support import driven, faulty_trainer
from tests.support.candles import START_MS, random_walk
from tests.support.driven import Driven
from tests.support.faulty_trainer import Fault, FaultKind
from tests.support.other_device import CPU_BYTES, move_checkpoints_to_cuda, move_pretrained_to_cuda

pytestmark = pytest.mark.faults

NOISY = dataclasses.replace(rigs.SMALL, gradients=GradientSettings(noise=0.05))
AUTO = dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, device="auto"))
ON_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device was found")
ON_CPU_ONLY = pytest.mark.skipif(torch.cuda.is_available(), reason="auto takes the GPU where there is one")


def trained(root: Path, count: int = 33) -> TrainingService:
    session = rigs.service(root, NOISY)
    rigs.feed(session, rigs.CANDLES[:count])
    return session


def saved(session: TrainingService) -> str:
    """The id of a checkpoint of the current state."""
    changed = [event for event in session.handle(SaveCheckpoint()) if isinstance(event, CheckpointsChanged)]
    assert changed[0].saved is not None
    return changed[0].saved.checkpoint_id


def stored_run(root: Path) -> Run:
    """The newest run in the folder."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        return RunStore(db).list()[0]


def incidents(events: tuple[TrainerEvent, ...]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Incident)]


@ON_GPU
@pytest.mark.parametrize(
    ("settings", "execution"), [(rigs.SMALL, "CUDA graph"), (NOISY, "eager")], ids=["graph", "noise"]
)
def test_a_run_moves_to_the_gpu_and_back(tmp_path: Path, settings: Settings, execution: str) -> None:
    for turn, device in enumerate(("cpu", "cuda", "cpu", "cuda")):
        training = dataclasses.replace(settings.training, device=device)  # type: ignore[arg-type]
        session = rigs.service(tmp_path, dataclasses.replace(settings, training=training))
        opening = session.opening_events()
        (ready,) = (event for event in opening if isinstance(event, TrainerReady))
        assert ready.uses_gpu == (device == "cuda") and ready.step == max(0, 30 * turn - 1)
        assert incidents(opening) == [] or turn == 0
        rigs.feed(session, rigs.CANDLES[30 * turn : 30 * turn + 30])
        engine = session._session.engine
        assert engine.is_finite() and (device == "cpu" or engine.execution == execution)
        saved(session)
        session.close()
        assert stored_run(tmp_path).device == ready.device, "as a report names it"
    record = driven.record_of(tmp_path)
    assert record.runs == 1 and len(record.steps) == len(record.scored_targets_ms) == 119


def test_a_gpu_run_resumes_on_the_cpu_deterministically(tmp_path: Path) -> None:
    session = trained(tmp_path / "one")
    newest = saved(session)
    session.close()
    assert move_checkpoints_to_cuda(tmp_path / "one") > 0
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    weights = []
    for root in (tmp_path / "one", tmp_path / "other"):
        session = rigs.service(root, NOISY)
        opening = session.opening_events()
        (ready,) = (event for event in opening if isinstance(event, TrainerReady))
        assert ready.resumed_from == newest and ready.step == 32 and incidents(opening) == []
        rigs.feed(session, rigs.CANDLES[33:40])
        weights.append({name: tensor.clone() for name, tensor in session._session.engine.tensors().items()})
        session.close()
    assert weights[0]["noise"].numel() == CPU_BYTES
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())


def test_a_gpu_checkpoint_of_another_run_is_restored(tmp_path: Path) -> None:
    first = trained(tmp_path, 15)
    wanted = saved(first)
    first.close()
    move_checkpoints_to_cuda(tmp_path)
    spec = dataclasses.replace(rigs.spec(tmp_path, NOISY), new_run=True)
    session = TrainingService(spec, driven.CLOCK)
    rigs.feed(session, rigs.CANDLES[:12])
    assert IncidentKind.RESTORED in incidents(session.handle(RestoreCheckpoint(wanted)))
    rigs.feed(session, rigs.CANDLES[12:15])
    assert session._session.engine.is_finite()
    session.close()


def test_a_new_run_starts_from_a_gpu_pretrained_model(tmp_path: Path) -> None:
    pretraining.run(tmp_path, pretraining.write(tmp_path / "a.csv", pretraining.reverting(200)), epochs=1)
    move_pretrained_to_cuda(tmp_path)
    (kept,) = PretrainedStore(DataFolder(tmp_path)).newest_first()
    session = rigs.service(tmp_path, pretraining.SMALL)
    opening = session.opening_events()
    (ready,) = (event for event in opening if isinstance(event, TrainerReady))
    assert ready.resumed_from == kept.checkpoint_id and incidents(opening) == ["started from a pretrained model"]
    rigs.feed(session, random_walk(20, start_ms=START_MS + 700 * 60_000))
    assert session.status().step > 0
    session.close()


def test_an_invalid_pretrained_model_is_skipped_without_a_trace(tmp_path: Path) -> None:
    """A model that cannot be restored must not end a new run, nor leave half of its state in it."""
    pretraining.run(tmp_path, pretraining.write(tmp_path / "a.csv", pretraining.reverting(200)), epochs=1)
    store = PretrainedStore(DataFolder(tmp_path))
    (kept,) = store.newest_first()
    tensors, metadata = store.load(kept)
    tensors["noise"] = torch.zeros(7, dtype=torch.uint8)
    facts = {name: metadata[name] for name in ("interval_ms", "seen_until_ms", "epoch", "skill")}
    store.write(tensors, metadata, kept.created_at_ms + 1, facts)
    store.remove(kept)
    session, fresh = rigs.service(tmp_path, pretraining.SMALL), rigs.service(tmp_path / "new", pretraining.SMALL)
    assert incidents(session.opening_events()) == ["pretrained model refused"]
    ours, new = (part_of(one._session.engine.tensors(), "model") for one in (session, fresh))
    assert all(torch.equal(tensor, new[name]) for name, tensor in ours.items())
    session.close()
    fresh.close()


@ON_CPU_ONLY
def test_after_a_lost_gpu_the_cpu_continues_from_its_checkpoints(tmp_path: Path) -> None:
    """Here ``auto`` means the GPU; its files are made to look like CUDA's before the next trainer starts."""
    records = []
    for root, kinds in ((tmp_path / "calm", ()), (tmp_path / "gone", (FaultKind.GONE,))):
        driven.store_candles(root, rigs.CANDLES[:35])
        faulty_trainer.schedule(root, [Fault(25, kind) for kind in kinds])
        run = Driven(root, AUTO, kind="thread")

        def move(event: TrainerEvent, root: Path = root) -> None:
            if isinstance(event, Incident) and event.kind == "GPU gone":
                assert move_checkpoints_to_cuda(root) > 0

        with faulty_trainer.installed(root):
            run.run(move)
        assert not run.failures
        records.append(driven.record_of(root))
    assert run.deaths == [DeathCause.GONE] and run.devices == ["auto", "cpu"]
    assert [ready.step for ready in run.readies] == [0, 20], "from the newest checkpoint"
    assert [incident.kind for incident in run.incidents] == ["GPU gone"]
    assert records[0] == records[1]
