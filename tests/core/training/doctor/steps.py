"""Steps with chosen numbers, for rules that real training does not reach reliably."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.domain.diagnosis import Diagnosis, GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.domain.events import StepDone
from core.settings.tree import GradientSettings, ModelSettings, Settings, TrainingSettings
from core.training.doctor.doctor import GradientDoctor

NAMES = ("embed", "block", "head")


def settings(
    clip_mode: str = "norm",
    activation: str = "gelu",
    initialisation: str = "torch",
    precision: str = "float32",
    rate: float = 1e-4,
) -> Settings:
    return Settings(
        model=ModelSettings(activation=activation, initialisation=initialisation),  # type: ignore[arg-type]
        training=TrainingSettings(precision=precision, learning_rate=rate),  # type: ignore[arg-type]
        gradients=GradientSettings(clip_mode=clip_mode),  # type: ignore[arg-type]
    )


def step(
    number: int,
    norm: float | None = 1.0,
    loss: float | None = 1.0,
    layers: Sequence[float | None] = (0.5, 0.5, 0.5),
    *,
    update_ratio: float | None = 1e-3,
    largest: float | None = 0.1,
    clip_norm: float = 1.0,
    clipped: bool | None = None,
    origin: NonFiniteOrigin | None = None,
    loss_scale: float | None = None,
    rate: float = 1e-4,
) -> StepDone:
    """A sound step, but for what is named. One with an origin is skipped."""
    if origin is not None:
        norm = loss = None
    statistics = GradientStatistics(
        layers=tuple(LayerStatistics(value, 0.0, 0.1, largest, 1e-3, update_ratio) for value in layers),
        norm_after=norm,
        parameter_norm=1.0,
        update_ratio=update_ratio,
        loss_parts=(),
        loss_scale=loss_scale,
        non_finite=origin,
    )
    return StepDone(
        run_id="run",
        step=number,
        candle_open_time_ms=0,
        loss=loss,
        prequential_loss=None,
        gradient_norm=norm,
        clipped=(norm or 0.0) > clip_norm if clipped is None else clipped,
        learning_rate=rate,
        clip_norm=clip_norm,
        samples=32,
        duration_ms=1.0,
        at_ms=0,
        skipped_because=None if origin is None else "not finite",
        gradients=statistics,
    )


def doctor_of(steps: Iterable[StepDone], chosen: Settings | None = None) -> GradientDoctor:
    doctor = GradientDoctor("run", NAMES, lambda: chosen or settings())
    for one in steps:
        doctor.observe(one)
    return doctor


def verdict(build: Callable[[int], StepDone], count: int = 150, chosen: Settings | None = None) -> Diagnosis:
    """The diagnosis after steps 1 to `count`."""
    return doctor_of((build(number) for number in range(1, count + 1)), chosen).diagnose()
