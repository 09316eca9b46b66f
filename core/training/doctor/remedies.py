"""The one change that fits a disease: the first one that the settings still allow, in the order clip, rate,
initialisation, numerics (gradients too large) or activation, initialisation, depth (too small).

Norms and residuals, which usually follow the initialisation, are in every block of the model already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from core.domain.diagnosis import NonFiniteOrigin, SettingChange
from core.settings.tree import Settings
from core.training.doctor.evidence import Evidence, Spread

EXPLODING_NORM = 100.0
USUAL_NORM = 10.0
LARGE_UPDATE = 0.1
_SOUND_UPDATE = 0.01
_FIRST_THRESHOLD = 1.0
_SMALLEST_RATE = 1e-12
_SMALLEST_THRESHOLD, _LARGEST_THRESHOLD = 1e-12, 1e6
_USUAL_VALUE = 0.5
_USUAL_PERCENTILE = 90.0
_EARLY_STEPS = 300
_SMALLEST_WITHOUT_EXPONENT = 1e-6


@dataclass(frozen=True, slots=True)
class Remedy:
    """The change, as a sentence and as a setting."""

    advice: str
    change: SettingChange | None = None


def against_explosion(evidence: Evidence, settings: Settings) -> Remedy:
    """Clip first; if clipping is active already, lower the rate or change the initial weights."""
    mode = settings.gradients.clip_mode
    if mode in ("off", "observe"):
        return Remedy(
            f"Switch clipping on: nothing is clipped in mode {mode}, and clipping is the first remedy.",
            SettingChange("gradients", "clip_mode", "norm"),
        )
    if mode == "adaptive":
        return Remedy(
            "Clip to a fixed norm: an adaptive threshold rises together with the norms that it should hold down.",
            SettingChange("gradients", "clip_mode", "norm"),
        )
    lower = _lower_threshold(evidence, settings) if evidence.clip_share < 0.5 else None
    if lower is not None:
        return lower
    trend = evidence.norm_trend
    begins_early = evidence.first_step is not None and evidence.first_step <= _EARLY_STEPS
    was_large = trend is not None and math.exp(min(700.0, trend.start)) > EXPLODING_NORM
    if begins_early and was_large and settings.model.initialisation != "by-activation":
        return Remedy(
            "Clipping is active and the norms were large from the first steps without growing, so the initial weights "
            "are too large: choose them by the activation.",
            SettingChange("model", "initialisation", "by-activation"),
        )
    return lower_rate(evidence, settings, 0.1, "Clipping is active already, so the rate comes next")


def against_large_updates(evidence: Evidence, settings: Settings, ratio: float) -> Remedy:
    """Lower the rate so that an update is about a hundredth of the parameters instead of the share `ratio`."""
    factor = _SOUND_UPDATE / ratio
    why = "Clipping limits a gradient but not the optimizer's step, so the rate is what to change"
    return lower_rate(evidence, settings, max(0.01, min(1 / 3, factor)), why)


def lower_rate(evidence: Evidence, settings: Settings, factor: float, why: str) -> Remedy:
    """The current rate times `factor`. The schedule scales it in the same way."""
    rate = settings.training.learning_rate
    if rate * factor < _SMALLEST_RATE:
        return Remedy(f"{why}; but the learning rate is at its minimum. Restore an earlier checkpoint.")
    lower = _two_digits(rate * factor, math.floor)
    return Remedy(
        f"{why}: lower the learning rate from {text(rate)} to {text(lower)}."
        f"{_schedule_words(rate, evidence, settings)}",
        SettingChange("training", "learning_rate", lower),
    )


def _schedule_words(rate: float, evidence: Evidence, settings: Settings) -> str:
    """Explains why the newest step used another rate than the configured one, if it did."""
    training, used = settings.training, evidence.learning_rate
    if used is None or (training.schedule == "constant" and training.warmup_steps == 0) or text(used) == text(rate):
        return ""
    return (
        f" The newest step used {text(used)}: warm-up and schedule derive it from {text(rate)}, and will change the "
        "new rate in the same way."
    )


def against_dead_layers(settings: Settings) -> Remedy:
    """Activation, then the initial weights, then the numerics."""
    return _against_lost_signal(settings, "it passes a gradient on both sides of zero") or Remedy(
        "No remaining setting would help: restore an earlier checkpoint, or start a new run."
    )


def against_vanishing(settings: Settings) -> Remedy:
    """Activation, then the initial weights, then the numerics, then fewer layers."""
    remedy = _against_lost_signal(settings, "of all changes the activation has the strongest effect")
    if remedy is not None:
        return remedy
    if settings.model.layers > 1:
        fewer = settings.model.layers // 2
        return Remedy(
            f"Use {fewer} of the {settings.model.layers} layers: activation and initial weights are right already.",
            SettingChange("model", "layers", fewer),
        )
    return Remedy("No remaining setting would help: check the scale of the loss and of the input.")


def against_not_finite(evidence: Evidence, settings: Settings, origin: NonFiniteOrigin) -> Remedy:
    """Numerics, unless the norms had exploded before: then stop the explosion."""
    if origin is NonFiniteOrigin.INPUT:
        return Remedy("Check the candles of the quarantined steps: no setting corrects the input.")
    if evidence.share_of_norms_above(EXPLODING_NORM) > 0.1:
        return against_explosion(evidence, settings)
    if settings.training.precision != "float32":
        return Remedy(
            f"Compute in float32: {settings.training.precision} has too few bits for numbers of this size.",
            SettingChange("training", "precision", "float32"),
        )
    if origin is NonFiniteOrigin.PARAMETERS:
        return lower_rate(evidence, settings, 0.1, "An update wrote them, so it was too large")
    return Remedy(
        "Look for a division, a root or a logarithm of zero: the norms before were sound and the arithmetic is "
        "float32, so neither clipping nor the rate would help."
    )


def fitting_threshold(evidence: Evidence, settings: Settings, most: float = _LARGEST_THRESHOLD) -> Remedy:
    """A threshold that would clip one step in twenty, from the observed norms; at most `most`."""
    mode = settings.gradients.clip_mode
    if mode == "adaptive":
        return Remedy(
            f"Clip at the {_USUAL_PERCENTILE:.0f}th percentile of recent norms.",
            SettingChange("gradients", "clip_percentile", _USUAL_PERCENTILE),
        )
    spread = clipped_spread(evidence, settings)
    if spread is None:
        return Remedy("Choose a threshold near the observed norms.")
    value = _threshold(min(spread.high, most))
    why = "95 % of the steps stay below it" if value >= spread.high else "a norm up to that is usual"
    return Remedy(
        f"Set the threshold to {text(value)}: {why}, so it clips only outliers.",
        SettingChange("gradients", "clip_value" if mode == "value" else "clip_norm", value),
    )


def unless_already_set(remedy: Remedy, settings: Settings) -> Remedy:
    """The remedy, without its change if the settings have it already, so that no button does nothing.

    The clip threshold can change during training, so it is compared by the steps, not the settings.
    """
    change = remedy.change
    if change is None or change.name == "clip_norm":
        return remedy
    if getattr(getattr(settings, change.group), change.name) != change.value:
        return remedy
    return Remedy(remedy.advice)


def clipped_spread(evidence: Evidence, settings: Settings) -> Spread | None:
    """The number that this mode compares with the threshold."""
    match settings.gradients.clip_mode:
        case "value":
            return evidence.largest_number
        case "layer":
            return evidence.largest_layer_norm
        case _:
            return evidence.norm


def threshold_of(evidence: Evidence, settings: Settings) -> float | None:
    """The threshold of this mode. In mode value it is not a norm, and steps do not report it."""
    return settings.gradients.clip_value if settings.gradients.clip_mode == "value" else evidence.threshold


def text(value: float) -> str:
    """Three digits, in the format of the window's fields: 0.25, 0.00003, 1.2e-7."""
    if _SMALLEST_WITHOUT_EXPONENT <= abs(value) < 1:
        return f"{Decimal(f'{value:.3g}').normalize():f}"
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def _lower_threshold(evidence: Evidence, settings: Settings) -> Remedy | None:
    """None if the current threshold is about as low already."""
    present = threshold_of(evidence, settings)
    if settings.gradients.clip_mode == "value":
        bound = min(_USUAL_VALUE, _threshold(settings.gradients.clip_value / 10))
        if bound >= settings.gradients.clip_value:
            return None
        return Remedy(
            f"Clip each number at {text(bound)}: the current bound lets most steps through.",
            SettingChange("gradients", "clip_value", bound),
        )
    before = evidence.window_norm.quarter if evidence.window_norm is not None else _FIRST_THRESHOLD
    value = _threshold(before) if before <= USUAL_NORM else _FIRST_THRESHOLD
    if present is not None and 2.0 * value > present:
        return None
    why = "a quarter of the observed norms were below it" if before <= USUAL_NORM else "no observed norm was sound"
    return Remedy(
        f"Set the clip threshold to {text(value)}: {why}, and the current one lets most steps through.",
        SettingChange("gradients", "clip_norm", value),
    )


def _against_lost_signal(settings: Settings, why_gelu: str) -> Remedy | None:
    if settings.model.activation != "gelu":
        return Remedy(
            f"Use GELU instead of {settings.model.activation}: {why_gelu}.",
            SettingChange("model", "activation", "gelu"),
        )
    if settings.model.initialisation != "by-activation":
        return Remedy(
            "Choose the initial weights by the activation, so that each layer keeps the size of its signal.",
            SettingChange("model", "initialisation", "by-activation"),
        )
    if settings.training.precision != "float32":
        return Remedy(
            f"Compute in float32: gradients this small are rounded to zero in {settings.training.precision}.",
            SettingChange("training", "precision", "float32"),
        )
    return None


def _threshold(value: float) -> float:
    return _two_digits(max(_SMALLEST_THRESHOLD, min(_LARGEST_THRESHOLD, value)), math.ceil)


def _two_digits(value: float, rounding: Callable[[float], int]) -> float:
    """Round to two digits, up or down; shorter values stay unchanged."""
    place = math.floor(math.log10(value)) - 1
    return float(f"{rounding(round(value / 10.0**place, 9))}e{place}")
