"""Gradient statistics of a training step, and the gradient doctor's diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NonFiniteOrigin(StrEnum):
    """The part of a step in which a non-finite number first appeared."""

    INPUT = "input"
    LOSS = "loss"
    GRADIENTS = "gradients"
    PARAMETERS = "parameters"
    """Parameters that were not finite before the step, or after its update."""


@dataclass(frozen=True, slots=True)
class LayerStatistics:
    """One layer's gradient in one step, before clipping. None: not finite, or undefined."""

    norm: float | None
    """2-norm"""
    mean: float | None
    std: float | None
    largest: float | None
    """The largest absolute value."""
    gradient_ratio: float | None
    """Gradient norm over parameter norm."""
    update_ratio: float | None
    """Norm of the update over parameter norm; 0 in a skipped step."""


@dataclass(frozen=True, slots=True)
class GradientStatistics:
    """The gradient statistics of one step; skipped steps have them too."""

    layers: tuple[LayerStatistics, ...]
    """Layers in the order of `TrainerReady.layers`: from the input to the output."""
    norm_after: float | None
    """Total 2-norm after clipping."""
    parameter_norm: float | None
    update_ratio: float | None
    """Norm of the update of all parameters over their norm."""
    loss_parts: tuple[float | None, ...]
    """The loss of each quantity (close, body, upper wick, lower wick, range, volume); they add up to the loss."""
    loss_scale: float | None = None
    """The factor of fp16's loss scaling; None without it."""
    non_finite: NonFiniteOrigin | None = None
    anchor_loss: float | None = None
    """The loss of the same samples with all of the model's corrections at zero; None if it was not measured."""


class Disease(StrEnum):
    """The possible diagnoses of the last few hundred steps."""

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
    """A suggested change of one setting: its group and name in the settings tree, and the new value."""

    group: str
    name: str
    value: float | int | str


@dataclass(frozen=True, slots=True)
class DivergenceRecovery:
    """How to recover a diverged model: the earlier settings, and the last healthy checkpoint."""

    changes: tuple[SettingChange, ...]
    """Each takes effect at the next step."""
    checkpoint_id: str | None = None
    """None if there is no healthy one."""
    checkpoint_step: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The gradient doctor's finding: one disease, the evidence for it, and one suggested change."""

    run_id: str
    step: int
    disease: Disease
    evidence: str
    """A sentence with the numbers behind the diagnosis."""
    advice: str
    """A sentence with the first remedy, and its reason. Empty if nothing needs to be done."""
    change: SettingChange | None = None
    """Applied by the button in the Gradients dock; None if no setting would help."""
    layers: tuple[str, ...] = ()
    """The affected layers; empty: all of them."""
    recovery: DivergenceRecovery | None = None
    """Applied by one button for a diverged model; None for all other diagnoses."""
