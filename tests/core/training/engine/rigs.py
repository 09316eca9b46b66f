"""Small engines and batches, and a plain loop to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from core.domain.quantities import LEVELS, QUANTITIES
from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.engine.regime_head import regime_logits
from core.training.engine.samples import Batch
from models.registry import build_model
from models.shape import ModelShape

SHAPE = ModelShape(12, 8, 8, 1, 2, 3, QUANTITIES, len(LEVELS))
REFERENCE = np.tile(np.linspace(-1.5, 1.5, len(LEVELS)), (3, QUANTITIES, 1))
RATE = 1e-2
CPU = torch.device("cpu")


def model(dtype: torch.dtype = torch.float32, seed: int = 0) -> nn.Module:
    return build_model("transformer", SHAPE, seed).to(dtype)


def engine(
    gradients: GradientSettings | None = None,
    training: TrainingSettings | None = None,
    dtype: torch.dtype = torch.float32,
    spike_action: str = "mark",
) -> TrainingEngine:
    rate = training or TrainingSettings(learning_rate=RATE)
    return TrainingEngine(model(dtype), CPU, rate, gradients or GradientSettings(), 0, spike_action)


def batch(seed: int = 0, size: int = 4, scale: float = 1.0) -> Batch:
    generator = np.random.default_rng(seed)
    samples = (
        generator.normal(size=(size, 8, 12)).astype(np.float32),
        np.ones((size, 8), dtype=bool),
        (scale * generator.normal(size=(size, 3, QUANTITIES))).astype(np.float32),
        generator.uniform(0.5, 1.5, size=(size, 3, QUANTITIES)).astype(np.float32),
    )
    regimes = generator.dirichlet(np.ones(3), size=(size, 2)).astype(np.float32)
    regimes[:, 0] = regime_logits(regimes[:, 0])
    return Batch(*samples, regimes)


def poisoned(where: str, value: float) -> Batch:
    """A batch with one number of an array replaced."""
    bad = batch(3)
    array = getattr(bad, where).copy()
    array.flat[5] = value
    return replace(bad, **{where: array})


def change_in_place(_module: object, _inputs: object, output: Tensor) -> Tensor:
    """A forward hook after which the backward pass fails: it changes a tensor that is needed there."""
    activated = output.exp()
    activated.add_(1.0)
    return activated


def forward_hook(trained: TrainingEngine, hook: Callable[..., Tensor | None]) -> RemovableHandle:
    """A context in which the first layer has this hook."""
    return trained.model.get_submodule("embed").register_forward_hook(hook)


def spoiled_gradients(trained: TrainingEngine, factor: float = torch.nan) -> RemovableHandle:
    """A context in which the first parameter's gradient is multiplied."""
    hook = next(trained.model.parameters()).register_hook(lambda gradient: gradient * factor)  # type: ignore[no-untyped-call]
    assert isinstance(hook, RemovableHandle)
    return hook


def state(trained: TrainingEngine) -> dict[str, Tensor]:
    """All that a step may change, copied."""
    return {name: tensor.detach().clone() for name, tensor in trained.tensors().items()}


def assert_same(before: dict[str, Tensor], after: dict[str, Tensor]) -> None:
    """Bit for bit. Moments that a skipped first step made are zeros."""
    for name, tensor in after.items():
        assert torch.equal(before[name], tensor) if name in before else not tensor.any(), name


def plain_loss(plain: nn.Module, samples: Batch) -> Tensor:
    """The loss in its plainest form: one pass over the whole batch, written out."""
    dtype = next(plain.parameters()).dtype
    corrections = plain(torch.tensor(samples.features, dtype=dtype), torch.tensor(samples.is_real)).to(dtype)
    quantiles = (torch.tensor(REFERENCE, dtype=dtype) + corrections).sort(dim=-1).values
    error = torch.tensor(samples.targets, dtype=dtype).unsqueeze(-1) - quantiles
    levels = torch.tensor(LEVELS, dtype=dtype)
    losses = torch.where(error >= 0.0, levels * error, (levels - 1.0) * error).mean(dim=-1)
    weights = torch.tensor(samples.weights, dtype=dtype)
    for horizon in range(corrections.shape[1]):
        price = TrainingSettings().shrinkage * (horizon + 1)
        losses[:, horizon] = losses[:, horizon] + price * (corrections[:, horizon] ** 2).mean(dim=-1)
    return (losses * weights).sum() / weights.sum()


def plain_optimizer(plain: nn.Module) -> torch.optim.AdamW:
    matrices = [p for name, p in plain.named_parameters() if p.dim() > 1 and name != "position"]
    others = [p for name, p in plain.named_parameters() if p.dim() < 2 or name == "position"]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95))


def gradients_of(trained: TrainingEngine, samples: Batch) -> list[Tensor]:
    """The gradients that reach the optimizer in one step, copied just before it."""
    seen: list[Tensor] = []

    def look(optimizer: torch.optim.Optimizer, *_: object) -> None:
        seen.extend(p.grad.clone() for group in optimizer.param_groups for p in group["params"])

    with trained.optimizer.register_step_pre_hook(look):
        trained.step(samples, REFERENCE)
    return seen
