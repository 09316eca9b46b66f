"""One of several processes that step on the same batches; writes the optimizer's input to a file.

Started by test_together.py with torchrun's variables in the environment: `python -m <this module> OUT`.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.engine.replicas import Replicas
from core.training.engine.samples import Batch
from core.training.pretraining.dataset import share_of
from core.training.pretraining.team import Team, join_team
from tests.core.training.engine import rigs

PRECISIONS = ("float32", "bfloat16")
STEPS = 3
SIZE = 14
CLIP_NORM = 0.01
"""Below every norm: clipping takes part in each step."""


def build(precision: str, accumulation: int, team: Team | None) -> TrainingEngine:
    model = rigs.model(seed=3)
    replicas = Replicas(model) if team is None or team.join is None else team.join(model)
    training = TrainingSettings(learning_rate=1e-3, precision=precision)  # type: ignore[arg-type]
    gradients = GradientSettings(accumulation=accumulation, clip_norm=CLIP_NORM)
    return TrainingEngine(model, rigs.CPU, training, gradients, 0, "mark", replicas)


def batches() -> list[Batch]:
    """The whole batch of each step."""
    return [rigs.batch(seed, SIZE) for seed in range(STEPS)]


def lonely() -> Batch:
    """One sample for two processes, filled up to a row each."""
    one = rigs.batch(9, 2)
    one.weights[1] = 0.0
    return one


def poisoned() -> Batch:
    """Only the second process's share of it holds a number that is not finite."""
    bad = rigs.batch(8, SIZE)
    bad.targets[1, 0, 0] = np.nan
    return bad


@dataclass(frozen=True, slots=True)
class Step:
    """gradient: what reached the optimizer, as one vector. measured: the norm before clipping, and the loss."""

    gradient: Tensor
    measured: Tensor
    is_skipped: bool
    computed_in: str
    """The precision of the forward pass."""


def step_of(trained: TrainingEngine, batch: Batch, team: Team | None) -> Step:
    """One step on the whole batch; in a team, on its share of it."""
    reference = np.tile(rigs.REFERENCE, (batch.size, 1, 1, 1))
    own, known = (batch, reference) if team is None else share_of(batch, reference, team.rank, team.world_size)
    seen: list[Tensor] = []

    def look(optimizer: torch.optim.Optimizer, *_: object) -> None:
        seen.extend(p.grad.clone().reshape(-1) for group in optimizer.param_groups for p in group["params"])

    dtypes: set[str] = set()
    head = trained.model.get_submodule("head")
    hooks = (
        trained.optimizer.register_step_pre_hook(look),
        head.register_forward_hook(lambda _module, _inputs, output: dtypes.add(str(output.dtype))),
    )
    result = trained.step(own, known)
    for hook in hooks:
        hook.remove()
    (computed_in,) = dtypes
    measured = torch.tensor([result.gradient_norm or torch.nan, result.loss or torch.nan])
    return Step(torch.cat(seen), measured, result.loss is None, computed_in)


def exchanges(team: Team) -> int:
    """How often gradients are exchanged in a step of three micro-batches. The model is small: at once, in one piece."""
    count: list[int] = []

    def counted(state, bucket):  # type: ignore[no-untyped-def]  # torch wants the type itself or none, not its name
        count.append(bucket.index())
        return default_hooks.allreduce_hook(distributed.group.WORLD, bucket)

    trained = build("float32", 3, team)
    replicated = trained._replicas.model
    assert isinstance(replicated, DistributedDataParallel)
    replicated.register_comm_hook(None, counted)
    step_of(trained, batches()[0], team)
    return len(count)


def weights_of(trained: TrainingEngine) -> Tensor:
    return torch.cat([parameter.detach().reshape(-1) for parameter in trained.model.parameters()])


def main(out: Path) -> None:
    found: dict[str, Tensor] = {}
    with join_team("cpu") as team:
        for precision in PRECISIONS:
            trained = build(precision, 3, team)
            for number, batch in enumerate(batches()):
                step = step_of(trained, batch, team)
                found[f"{precision}.gradient.{number}"] = step.gradient
                found[f"{precision}.measured.{number}"] = step.measured
                found[f"{precision}.is_as_set.{number}"] = torch.tensor(step.computed_in == f"torch.{precision}")
            found[f"{precision}.weights"] = weights_of(trained)
            found[f"{precision}.is_skipped"] = torch.tensor(step_of(trained, poisoned(), team).is_skipped)
            found[f"{precision}.weights after"] = weights_of(trained)
            found[f"{precision}.lonely"] = step_of(build(precision, 3, team), lonely(), team).gradient
        found["exchanges"] = torch.tensor(exchanges(team))
        replicas = team.join(rigs.model()) if team.join is not None else None
        assert replicas is not None
        found["agreed"] = replicas.agree(torch.tensor(team.rank == 1))
        found["any"] = torch.tensor([team.any(team.rank == 1), team.any(False)])
        found["total"] = torch.from_numpy(team.total(np.array([team.rank + 1.0])))
        found["first"] = torch.tensor(team.from_first(100 + team.rank))
    torch.save(found, out)


if __name__ == "__main__":
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    main(Path(sys.argv[1]) / f"rank-{os.environ['RANK']}.pt")
