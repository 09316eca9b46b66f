"""A plain training loop over any torch network, which reports real statistics of each step as the engine does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from core.domain.diagnosis import Diagnosis, GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.domain.events import StepDone
from core.settings.tree import GradientSettings, ModelSettings, Settings, TrainingSettings
from core.training.doctor.doctor import GradientDoctor

RUN_ID = "patient"
Sample = tuple[tuple[Tensor, ...], Tensor]


@dataclass
class Patient:
    """A network, what it learns, and how it is trained."""

    model: nn.Module
    sample: Callable[[int], Sample]
    """From the number of the step to the model's inputs and the target."""
    loss: Callable[[Tensor, Tensor], Tensor]
    rate: float
    optimizer: str = "adamw"
    """adamw, sgd or momentum"""
    clip_mode: str = "norm"
    clip_norm: float = 1.0
    weight_decay: float = 0.01
    steps: int = 100
    before_step: Callable[[int], None] = lambda step: None
    layers: list[tuple[str, list[nn.Parameter]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.layers = layers_of(self.model)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.layers)

    @property
    def settings(self) -> Settings:
        return Settings(
            model=ModelSettings(),
            training=TrainingSettings(learning_rate=min(1.0, self.rate)),
            gradients=GradientSettings(clip_mode=self.clip_mode, clip_norm=self.clip_norm),  # type: ignore[arg-type]
        )


def layers_of(model: nn.Module) -> list[tuple[str, list[nn.Parameter]]]:
    """Modules with parameters are layers, in the order of registration."""
    layers: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        layers.setdefault(name.rpartition(".")[0] or name, []).append(parameter)
    return list(layers.items())


def diagnose(patient: Patient) -> Diagnosis:
    """Train it to the end, and ask the doctor then."""
    doctor = GradientDoctor(RUN_ID, patient.names, lambda: patient.settings)
    for step in train(patient):
        doctor.observe(step)
    return doctor.diagnose()


def norms_of(patient: Patient) -> list[float]:
    """Its gradient norms, as far as they are finite."""
    return [step.gradient_norm for step in train(patient) if step.gradient_norm is not None]


def train(patient: Patient) -> Iterator[StepDone]:
    """Guarded as the engine is: a step that met a number that is not finite changes nothing."""
    optimizer = _optimizer(patient)
    for number in range(1, patient.steps + 1):
        patient.before_step(number)
        yield _step(patient, optimizer, number)


def _optimizer(patient: Patient) -> torch.optim.Optimizer:
    parameters = patient.model.parameters()
    if patient.optimizer == "adamw":
        return torch.optim.AdamW(
            parameters, lr=patient.rate, weight_decay=patient.weight_decay, betas=(0.9, 0.95), fused=True
        )
    return torch.optim.SGD(parameters, lr=patient.rate, momentum=0.9 if patient.optimizer == "momentum" else 0.0)


def _step(patient: Patient, optimizer: torch.optim.Optimizer, number: int) -> StepDone:
    inputs, target = patient.sample(number)
    before = _flat(patient.model.parameters())
    optimizer.zero_grad(set_to_none=True)
    loss = patient.loss(patient.model(*inputs), target)
    loss.backward()  # type: ignore[no-untyped-call]
    measured = _measure(_split(patient, _flat(gradients_of(patient.model))))
    norm = math.hypot(*(layer.norm for layer in measured))
    origin = _origin((*inputs, target), before, loss, norm)
    clipped = False
    if origin is None:
        clipped = _clip(patient, norm)
        optimizer.step()
    changes = _flat(patient.model.parameters()) - before
    return StepDone(
        run_id=RUN_ID,
        step=number,
        candle_open_time_ms=number * 60_000,
        loss=None if origin else float(loss.detach()),
        prequential_loss=None,
        gradient_norm=_known(norm),
        clipped=clipped,
        learning_rate=patient.rate,
        clip_norm=patient.clip_norm,
        samples=32,
        duration_ms=1.0,
        at_ms=number * 60_000,
        skipped_because=None if origin is None else f"not finite: {origin}",
        gradients=_statistics(measured, _norms(_split(patient, before)), _norms(_split(patient, changes)), origin),
    )


def _origin(sample: tuple[Tensor, ...], before: Tensor, loss: Tensor, norm: float) -> NonFiniteOrigin | None:
    if not all(_is_finite(tensor) for tensor in sample):
        return NonFiniteOrigin.INPUT
    if not _is_finite(before):
        return NonFiniteOrigin.PARAMETERS
    if not _is_finite(loss):
        return NonFiniteOrigin.LOSS
    return None if math.isfinite(norm) else NonFiniteOrigin.GRADIENTS


def _clip(patient: Patient, norm: float) -> bool:
    if patient.clip_mode == "off":
        return False
    if patient.clip_mode == "norm":
        nn.utils.clip_grad_norm_(patient.model.parameters(), patient.clip_norm)
    return norm > patient.clip_norm


@dataclass(frozen=True)
class _LayerNumbers:
    norm: float
    largest: float
    mean: float
    std: float


def _measure(gradients: list[Tensor]) -> list[_LayerNumbers]:
    means = torch.stack([gradient.mean() for gradient in gradients])
    squares = torch.stack([gradient.square().mean() for gradient in gradients])
    rows = zip(
        _norms(gradients),
        torch.stack(torch._foreach_norm(gradients, math.inf)).tolist(),
        means.tolist(),
        (squares - means.square()).clamp_min(0.0).sqrt().tolist(),
        strict=True,
    )
    return [_LayerNumbers(*row) for row in rows]


def _statistics(
    measured: list[_LayerNumbers], sizes: list[float], changes: list[float], origin: NonFiniteOrigin | None
) -> GradientStatistics:
    layers = tuple(
        LayerStatistics(
            norm=_known(layer.norm),
            mean=_known(layer.mean),
            std=_known(layer.std),
            largest=_known(layer.largest),
            gradient_ratio=_ratio(layer.norm, size),
            update_ratio=_ratio(change, size),
        )
        for layer, size, change in zip(measured, sizes, changes, strict=True)
    )
    return GradientStatistics(
        layers=layers,
        norm_after=None,
        parameter_norm=_known(math.hypot(*sizes)),
        update_ratio=_ratio(math.hypot(*changes), math.hypot(*sizes)),
        loss_parts=(),
        non_finite=origin,
    )


def _norms(tensors: list[Tensor]) -> list[float]:
    numbers: list[float] = torch.stack(torch._foreach_norm(tensors)).tolist()
    return numbers


def gradients_of(model: nn.Module) -> list[Tensor]:
    """Zeros where the loss does not depend on a parameter."""
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]


def _flat(tensors: Iterable[Tensor]) -> Tensor:
    """In float64, so that a square of what float32 can hold neither overflows nor is lost."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors]).double()


def _split(patient: Patient, flat: Tensor) -> list[Tensor]:
    return list(flat.split([sum(p.numel() for p in parameters) for _, parameters in patient.layers]))


def _is_finite(tensor: Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _ratio(part: float, whole: float) -> float | None:
    return _known(part / whole) if whole > 0.0 else None
