"""What a step did to the gradients, and what the gradient doctor makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NonFiniteOrigin(StrEnum):
    """Where a number that is not finite first appeared in a step."""

    INPUT = "input"
    LOSS = "loss"
    GRADIENTS = "gradients"
    PARAMETERS = "parameters"
    """They were not finite before the step, or the step itself left them so: an update had written them."""


@dataclass(frozen=True, slots=True)
class LayerStatistics:
    """One layer's gradient in one step, before clipping. None where the number is not finite or has no meaning."""

    norm: float | None
    """2-norm"""
    mean: float | None
    std: float | None
    largest: float | None
    """The largest absolute value."""
    gradient_ratio: float | None
    """Gradient norm over parameter norm."""
    update_ratio: float | None
    """Norm of the change over parameter norm; 0 in a skipped step."""


@dataclass(frozen=True, slots=True)
class GradientStatistics:
    """What one step measured of its gradients. Every step has one, a skipped one too."""

    layers: tuple[LayerStatistics, ...]
    """In the order of `TrainerReady.layers`: from the input to the output."""
    norm_after: float | None
    """Total 2-norm after clipping."""
    parameter_norm: float | None
    update_ratio: float | None
    """Norm of the change of all parameters over their norm."""
    loss_parts: tuple[float | None, ...]
    """The loss of each quantity (close, body, upper wick, lower wick, range, volume); they add up to the loss."""
    loss_scale: float | None = None
    """The factor of fp16's loss scaling; None without it."""
    non_finite: NonFiniteOrigin | None = None
    anchor_loss: float | None = None
    """The loss of the same samples had the model corrected nothing; None where it was not measured."""


class Disease(StrEnum):
    """What the gradient doctor can say of the last few hundred steps."""

    UNKNOWN = "too early to say"
    HEALTHY = "healthy"
    DIVERGED = "diverged"
    EXPLODING = "exploding gradients"
    VANISHING = "vanishing gradients"
    UPDATES_TOO_LARGE = "updates too large"
    ALWAYS_CLIPPING = "always clipping"
    NEVER_CLIPPING = "never clipping"
    DEAD_LAYERS = "dead layers"
    NOT_FINITE = "not finite"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that would mend it: a place in the settings tree, and its new value."""

    group: str
    name: str
    value: float | int | str


@dataclass(frozen=True, slots=True)
class WayBack:
    """What takes a diverged model back: settings as they were, and the last healthy checkpoint."""

    changes: tuple[SettingChange, ...]
    """Each takes effect at the next step."""
    checkpoint_id: str | None = None
    """None where no healthy one is kept."""
    checkpoint_step: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The gradient doctor's verdict: one disease, the evidence for it, and the one change that fits."""

    run_id: str
    step: int
    disease: Disease
    evidence: str
    """A sentence with the numbers that the verdict rests on."""
    advice: str
    """A sentence that says what to change, and why that first. Empty where nothing is to be done."""
    change: SettingChange | None = None
    """What the button in the Gradients dock applies; None where no setting would mend it."""
    layers: tuple[str, ...] = ()
    """The layers that the evidence is about; empty where it is about all of them."""
    way_back: WayBack | None = None
    """What one button does about a diverged model; None for all other verdicts."""
