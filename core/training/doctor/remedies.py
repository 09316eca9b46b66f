"""The one change that fits a disease: the first in the order clip, rate, initialisation, numerics (for gradients that
are too large) or activation, initialisation, depth (too small) that the settings still leave open.

Norms and residuals, which the usual order has after the initialisation, every block of the model has already.
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
    """What to change, as a sentence and as a setting."""

    advice: str
    change: SettingChange | None = None


def against_explosion(evidence: Evidence, settings: Settings) -> Remedy:
    """Clip first; where clipping is at work already, a lower rate, or other first weights."""
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
    if _was_large_from_the_start(evidence) and settings.model.initialisation != "by-activation":
        return Remedy(
            "Clipping is at work and the norms were large from the first steps without growing, so the first weights "
            "are too large: choose them by the activation.",
            SettingChange("model", "initialisation", "by-activation"),
        )
    return lower_rate(evidence, settings, 0.1, "Clipping is at work already, so the rate comes next")


def against_large_updates(evidence: Evidence, settings: Settings, ratio: float) -> Remedy:
    """So much lower that an update is about a hundredth of the parameters, and not the share `ratio`."""
    factor = _SOUND_UPDATE / ratio
    why = "Clipping limits a gradient and not what the optimizer makes of it, so the rate is what to change"
    return lower_rate(evidence, settings, max(0.01, min(1 / 3, factor)), why)


def lower_rate(evidence: Evidence, settings: Settings, factor: float, why: str) -> Remedy:
    """The rate in force times `factor`. What the schedule makes of it falls in the same measure."""
    rate = settings.training.learning_rate
    if rate * factor < _SMALLEST_RATE:
        return Remedy(f"{why}; but the learning rate is as low as it goes. Restore a checkpoint from before.")
    lower = _two_digits(rate * factor, math.floor)
    return Remedy(
        f"{why}: lower the learning rate from {text(rate)} to {text(lower)}."
        f"{_schedule_words(rate, evidence, settings)}",
        SettingChange("training", "learning_rate", lower),
    )


def _schedule_words(rate: float, evidence: Evidence, settings: Settings) -> str:
    """Where the newest step used another rate than the one that is set, what made it that."""
    training, used = settings.training, evidence.learning_rate
    if used is None or (training.schedule == "constant" and training.warmup_steps == 0) or text(used) == text(rate):
        return ""
    return (
        f" The newest step used {text(used)}: the warm-up and the schedule make that of {text(rate)}, and will change "
        "the new rate in the same way."
    )


def against_dead_layers(settings: Settings) -> Remedy:
    """Activation, then the first weights, then the numerics."""
    if settings.model.activation != "gelu":
        return Remedy(
            f"Take GELU for {settings.model.activation}: it lets a gradient through on both sides of zero.",
            SettingChange("model", "activation", "gelu"),
        )
    return _against_lost_signal(settings) or Remedy(
        "No setting is left that would mend it: restore a checkpoint from before, or begin a new run."
    )


def against_vanishing(settings: Settings) -> Remedy:
    """Activation, then the first weights, then the numerics, then fewer layers."""
    if settings.model.activation != "gelu":
        return Remedy(
            f"Take GELU for {settings.model.activation}: of all changes the activation has the strongest effect.",
            SettingChange("model", "activation", "gelu"),
        )
    remedy = _against_lost_signal(settings)
    if remedy is not None:
        return remedy
    if settings.model.layers > 1:
        fewer = settings.model.layers // 2
        return Remedy(
            f"Take {fewer} of the {settings.model.layers} layers: activation and first weights are as they should be.",
            SettingChange("model", "layers", fewer),
        )
    return Remedy("No setting is left that would mend it: look at the scale of the loss and of the input.")


def against_not_finite(evidence: Evidence, settings: Settings, origin: NonFiniteOrigin) -> Remedy:
    """Numerics, unless the norms had exploded before: then the explosion is what to stop."""
    if origin is NonFiniteOrigin.INPUT:
        return Remedy("Look at the candles of the steps that were set aside: no setting mends the input.")
    if evidence.share_of_norms_above(EXPLODING_NORM) > 0.1:
        return against_explosion(evidence, settings)
    if settings.training.precision != "float32":
        return Remedy(
            f"Compute in float32: {settings.training.precision} has too few bits for numbers of this size.",
            SettingChange("training", "precision", "float32"),
        )
    if origin is NonFiniteOrigin.PARAMETERS:
        return lower_rate(evidence, settings, 0.1, "An update wrote them, so it was too long")
    return Remedy(
        "Look for a division, a root or a logarithm that meets zero: the norms before were sound and the arithmetic "
        "is float32, so neither clipping nor the rate would mend it."
    )


def fitting_threshold(evidence: Evidence, settings: Settings, most: float = _LARGEST_THRESHOLD) -> Remedy:
    """A threshold that would clip one step in twenty, from the norms that were seen; `most` where that is less."""
    mode = settings.gradients.clip_mode
    if mode == "adaptive":
        return Remedy(
            f"Clip at the {_USUAL_PERCENTILE:.0f}th percentile of recent norms.",
            SettingChange("gradients", "clip_percentile", _USUAL_PERCENTILE),
        )
    spread = what_is_clipped(evidence, settings)
    if spread is None:
        return Remedy("Choose a threshold near the norms seen.")
    value = _threshold(min(spread.high, most))
    why = "95 % of the steps stay below it" if value >= spread.high else "a norm up to that is usual"
    return Remedy(
        f"Set the threshold to {text(value)}: {why}, so it clips only those that stand out.",
        SettingChange("gradients", "clip_value" if mode == "value" else "clip_norm", value),
    )


def unless_in_force(remedy: Remedy, settings: Settings) -> Remedy:
    """Without its change where the settings say that already: a button that changes nothing is none.

    The threshold can be moved while it trains, so the steps tell which was in force, and the settings do not.
    """
    change = remedy.change
    if change is None or change.name == "clip_norm":
        return remedy
    if getattr(getattr(settings, change.group), change.name) != change.value:
        return remedy
    return Remedy(remedy.advice)


def what_is_clipped(evidence: Evidence, settings: Settings) -> Spread | None:
    """The number that the threshold of this mode is held against."""
    match settings.gradients.clip_mode:
        case "value":
            return evidence.largest_number
        case "layer":
            return evidence.largest_layer_norm
        case _:
            return evidence.norm


def threshold_of(evidence: Evidence, settings: Settings) -> float | None:
    """The threshold of this mode. In mode value it is no norm, and no step reports it."""
    return settings.gradients.clip_value if settings.gradients.clip_mode == "value" else evidence.threshold


def text(value: float) -> str:
    """Three digits, as the window's fields write them: 0.25, 0.00003, 1.2e-7."""
    if _SMALLEST_WITHOUT_EXPONENT <= abs(value) < 1:
        return f"{Decimal(f'{value:.3g}').normalize():f}"
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def _lower_threshold(evidence: Evidence, settings: Settings) -> Remedy | None:
    """None where the present one is about as low already: what is sound passes it, and what is not is clipped."""
    present = threshold_of(evidence, settings)
    if settings.gradients.clip_mode == "value":
        bound = min(_USUAL_VALUE, _threshold(settings.gradients.clip_value / 10))
        if bound >= settings.gradients.clip_value:
            return None
        return Remedy(
            f"Clip each number at {text(bound)}: the present bound lets most steps through.",
            SettingChange("gradients", "clip_value", bound),
        )
    before = evidence.window_norm.quarter if evidence.window_norm is not None else _FIRST_THRESHOLD
    value = _threshold(before) if before <= USUAL_NORM else _FIRST_THRESHOLD
    if present is not None and 2.0 * value > present:
        return None
    why = "a quarter of the norms seen were below it" if before <= USUAL_NORM else "no norm seen was sound"
    return Remedy(
        f"Set the clip threshold to {text(value)}: {why}, and the present one lets most steps through.",
        SettingChange("gradients", "clip_norm", value),
    )


def _was_large_from_the_start(evidence: Evidence) -> bool:
    begins_early = evidence.first_step is not None and evidence.first_step <= _EARLY_STEPS
    trend = evidence.norm_trend
    return begins_early and trend is not None and math.exp(min(700.0, trend.start)) > EXPLODING_NORM


def _against_lost_signal(settings: Settings) -> Remedy | None:
    if settings.model.initialisation != "by-activation":
        return Remedy(
            "Choose the first weights by the activation, so that each layer keeps the size of its signal.",
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
    """Round to two digits, up or down; the value itself where it has no more."""
    place = math.floor(math.log10(value)) - 1
    return float(f"{rounding(round(value / 10.0**place, 9))}e{place}")
