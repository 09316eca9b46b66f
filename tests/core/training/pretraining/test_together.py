"""Two real processes that train one model over gloo, against one process with the same effective batch: slow tests. The
fast ones hold what one of two does with what torch.distributed tells it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, distributed, nn

from core.settings.tree import Settings, TrainingSettings
from core.storage.folder import DataFolder
from core.training.engine import replicas
from core.training.engine.device import choose_device
from core.training.engine.device_faults import DeviceError
from core.training.hosting.pretrained import PretrainedStore
from core.training.pretraining import team
from core.training.pretraining.errors import PretrainingError
from core.training.pretraining.team import JoinedProcess, join_team
from tests.core.training.pretraining import replica, rigs
from tests.support.commands import ROOT

WORLD = 2
TOLERANCE = {"float32": 2e-6, "bfloat16": 1e-2}
"""Of the whole gradient's norm. float32: the same sums in another order. bfloat16 keeps 8 bits, so each product is
rounded by up to 2**-9 = 0.002, and which rows a matrix product adds up before it rounds differs between one batch of 14
and micro-batches of 2 and 3; a handful of such roundings lie between the loss and a weight. A wrong factor (2 for the
processes, 3 for the micro-batches) puts the norm before clipping and the loss off by at least 0.33."""


def spawn(command: Sequence[str]) -> list[subprocess.CompletedProcess[str]]:
    """Run it in two processes, with the variables that torchrun sets."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with contextlib.ExitStack() as started:
        running = [
            started.enter_context(
                subprocess.Popen(
                    [sys.executable, *command],
                    cwd=ROOT,
                    env={**os.environ, **variables(rank, port)},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for rank in range(WORLD)
        ]
        with ended(running):
            outcome = [process.communicate(timeout=60.0) for process in running]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *texts)
        for process, texts in zip(running, outcome, strict=True)
    ]


@contextlib.contextmanager
def ended(running: Sequence[subprocess.Popen[str]]) -> Iterator[None]:
    """None outlives the test, also where one hangs."""
    try:
        yield
    finally:
        for process in running:
            process.kill()


def variables(rank: int, port: int) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(WORLD),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }


class TwoAlike:
    """torch.distributed, seen from one of two processes that have the same numbers."""

    ReduceOp = distributed.ReduceOp

    def get_world_size(self) -> int:
        return 2

    def get_rank(self) -> int:
        return 1

    def all_reduce(self, tensor: Tensor, op: object = distributed.ReduceOp.SUM) -> None:
        if op == distributed.ReduceOp.SUM:
            tensor.mul_(2)

    def broadcast(self, tensor: Tensor, source: int) -> None:
        tensor.fill_(100 + source)


class Exchanging(nn.Module):
    """In place of DistributedDataParallel: it exchanges nothing, and counts the passes after which it would."""

    def __init__(self, model: nn.Module, **_: object) -> None:
        super().__init__()
        self.module, self.passes, self._is_quiet = model, 0, False

    def forward(self, *inputs: Tensor) -> Tensor:
        self.passes += not self._is_quiet
        output: Tensor = self.module(*inputs)
        return output

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        self._is_quiet = True
        yield
        self._is_quiet = False


@pytest.fixture
def one_of_two(monkeypatch: pytest.MonkeyPatch) -> JoinedProcess:
    for module in (replicas, team):
        monkeypatch.setattr(module, "distributed", TwoAlike())
    monkeypatch.setattr(replicas, "DistributedDataParallel", Exchanging)
    return JoinedProcess(choose_device("cpu"))


def test_the_mean_over_two_shards_equals_the_whole(one_of_two: JoinedProcess) -> None:
    """Every sample counts the same here, so that both shares weigh the same."""
    whole = replica.batches()[0]
    whole.weights[:] = 1.0
    alone = replica.step_of(replica.build("float32", 1, None), whole, None)
    steps = []
    for rank in range(WORLD):
        one_of_two.rank = rank
        trained = replica.build("float32", 3, one_of_two)  # type: ignore[arg-type]
        steps.append(replica.step_of(trained, whole, one_of_two))  # type: ignore[arg-type]
        assert trained._replicas.model.passes == 1, "exchanged once a step"
    # Each clips its own gradient to the same norm, which in the real thing is that of the mean.
    unclipped = [step.gradient * float(step.measured[0]) for step in steps]
    wanted = alone.gradient * float(alone.measured[0])
    assert float((sum(unclipped) / WORLD - wanted).norm() / wanted.norm()) < 1e-4
    assert float(sum(step.measured[1] for step in steps)) / WORLD == pytest.approx(float(alone.measured[1]), rel=1e-5)


def test_one_process_reduces_the_data_of_both(one_of_two: JoinedProcess) -> None:
    joined = one_of_two.join(nn.Linear(1, 1))
    assert float(joined.share_of_weight(torch.tensor(3.0))) == 3.0, "of six, half"
    assert float(joined.share_of_weight(torch.tensor(0.0))) > 0.0
    assert float(joined.mean(torch.tensor(0.5))) == 0.5
    assert bool(joined.agree(torch.tensor(True))) and not bool(joined.agree(torch.tensor(False)))
    assert (one_of_two.rank, one_of_two.world_size) == (1, 2)
    assert one_of_two.any(True) and not one_of_two.any(False)
    assert one_of_two.total(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert one_of_two.from_first(7) == 100


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Tensor]]:
    """The optimizer's input in each of the two processes."""
    folder = tmp_path_factory.mktemp("replicas")
    for done in spawn(["-m", replica.__name__, str(folder)]):
        assert done.returncode == 0, done.stderr
    return [torch.load(folder / f"rank-{rank}.pt", weights_only=True) for rank in range(WORLD)]


@pytest.mark.slow
def test_both_processes_have_the_same_gradients_and_weights_bit_for_bit(found: list[dict[str, Tensor]]) -> None:
    one, other = found
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


@pytest.mark.slow
@pytest.mark.parametrize("precision", replica.PRECISIONS)
def test_two_processes_equal_one_with_the_same_batch(found: list[dict[str, Tensor]], precision: str) -> None:
    """Micro-batches, exchange and clipping included. The one process takes each batch whole."""
    alone = replica.build(precision, 1, None)
    for step, batch in enumerate(replica.batches()):
        wanted = replica.step_of(alone, batch, None)
        together, measured = (found[0][f"{precision}.{name}.{step}"] for name in ("gradient", "measured"))
        assert bool(found[0][f"{precision}.is_as_set.{step}"]) and wanted.computed_in == f"torch.{precision}"
        assert float(measured[0]) > 2.0 * replica.CLIP_NORM
        assert float(together.norm()) == pytest.approx(replica.CLIP_NORM, rel=1e-3), "clipped after the exchange"
        assert float((together - wanted.gradient).norm() / wanted.gradient.norm()) < TOLERANCE[precision]
        torch.testing.assert_close(measured, wanted.measured, rtol=TOLERANCE[precision], atol=0.0)
    close = {"float32": 1e-5, "bfloat16": 2 * replica.STEPS * 1e-3}[precision]
    assert float((found[0][f"{precision}.weights"] - replica.weights_of(alone)).abs().max()) <= close


@pytest.mark.slow
@pytest.mark.parametrize("precision", replica.PRECISIONS)
def test_a_process_without_samples_joins_with_zero_weight(found: list[dict[str, Tensor]], precision: str) -> None:
    wanted = replica.step_of(replica.build(precision, 1, None), replica.lonely(), None).gradient
    together = found[0][f"{precision}.lonely"]
    assert float((together - wanted).norm() / wanted.norm()) < TOLERANCE[precision]


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize("precision", replica.PRECISIONS)
def test_a_non_finite_step_in_one_process_is_skipped_by_both(found: list[dict[str, Tensor]], precision: str) -> None:
    for outcome in found:
        assert bool(outcome[f"{precision}.is_skipped"])
        assert torch.equal(outcome[f"{precision}.weights"], outcome[f"{precision}.weights after"])


@pytest.mark.slow
def test_gradients_are_exchanged_once_per_step(found: list[dict[str, Tensor]]) -> None:
    assert [int(outcome["exchanges"]) for outcome in found] == [1, 1]


@pytest.mark.slow
def test_decisions_are_shared_by_all_processes(found: list[dict[str, Tensor]]) -> None:
    for outcome in found:
        assert bool(outcome["agreed"]), "one wants to skip, so both do"
        assert outcome["any"].tolist() == [True, False]
        assert outcome["total"].tolist() == [3.0] and int(outcome["first"]) == 100


@pytest.mark.slow
def test_distributed_pretraining_equals_a_single_process(tmp_path: Path) -> None:
    """The command itself in two processes, with a batch that does not divide by two and a short last one."""
    file = rigs.write(tmp_path / "reverting.csv", rigs.reverting(400))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "settings.json").write_text(
        json.dumps({"model": {"width": 16, "layers": 1, "heads": 2, "context": 8, "horizons": 3}})
    )
    options = ["--epochs", "2", "--batch-size", "25", "--seed", "5", "--device", "cpu"]
    command = ["-m", "desktop", "pretrain", str(file), *options, "--json", "--data-dir", str(tmp_path / "two")]
    first, second = spawn(command)
    assert first.returncode == 0 and second.returncode == 0, first.stderr + second.stderr
    assert second.stdout == "" and "Epoch" not in second.stderr, "only the first process speaks"
    together = json.loads(first.stdout)
    settings = Settings(model=rigs.SMALL.model, training=TrainingSettings(seed=5, device="cpu"))
    alone = rigs.run(tmp_path / "one", file, settings=settings, batch_size=25)
    assert together["world_size"] == 2 and together["steps"] == alone["steps"] == 2 * 13
    for one, other in zip(together["epochs"], alone["epochs"], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-5)
        assert one["validation"]["close_skill"] == pytest.approx(other["validation"]["close_skill"], abs=1e-5)
    assert len(PretrainedStore(DataFolder(tmp_path / "two")).newest_first()) == 1, "the first process writes"


def test_without_torchrun_there_is_one_process() -> None:
    with join_team("cpu", {}) as team:
        assert not isinstance(team, JoinedProcess) and team.world_size == 1 and team.join is None


def test_several_processes_do_not_share_one_named_gpu() -> None:
    variables = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    with pytest.raises(DeviceError, match="--device cuda:1"), join_team("cuda:1", variables):
        pass


def test_incomplete_torchrun_variables_are_explained() -> None:
    with pytest.raises(PretrainingError, match="MASTER_ADDR"), join_team("cpu", {"RANK": "0", "WORLD_SIZE": "2"}):
        pass
