"""One function for each disease: whether the evidence shows it, in numbers, and the first remedy.

`not_finite` is checked first (occasional bad batches do not hide the others), then the others in the order of
`VERDICTS`; the first match is the diagnosis. First come diseases that make other numbers meaningless, then those that
do harm now, then those that only waste time: non-finite numbers spoil every norm; exploding gradients make updates
large; too large updates kill layers; a dead layer is a cliff that also looks like vanishing; and the clip rate means
something only if the norms are sound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.domain.counts import counted
from core.domain.diagnosis import Disease, NonFiniteOrigin
from core.settings.tree import Settings
from core.training.doctor import remedies
from core.training.doctor.evidence import RECENT_STEPS, SETTLING_STEPS, Evidence, Layers, LossTrend, NotFinite
from core.training.doctor.remedies import EXPLODING_NORM, LARGE_UPDATE, USUAL_NORM, Remedy, text

FEWEST_STEPS = 50
"""Below this many steps with a gradient norm only non-finite numbers are reported."""
_RARE_INPUT = 0.05
_NOT_A_DISEASE = frozenset({Disease.UNKNOWN, Disease.HEALTHY})
_SHARE_OF_EXPLODING = 0.2
_SHARE_LET_THROUGH = 0.05
"""Clipped spikes do no harm; of unclipped ones, one step in twenty is enough."""
_GROWTH = 10.0
_FEWEST_TO_BE_STUCK = 100
"""A stuck loss takes longer to detect than a falling one."""
_CERTAIN = 2.6
"""A trend's z above which it is not chance: less than one in a hundred."""
_LEARNING_PERCENT = 0.5
_LEARNED_PERCENT = 20.0
_FINISHED_PERCENT = 95.0
_VANISHED_NORM = 1e-6
_VANISHED_LAYER = 1e-8
_DEPTH_GAP = 1000.0
_RISING = 3.0
_RISING_POWER = 1 / 8
"""The wider the gap, the faster must the early layers rise to count as recovering: a gap of 1e12 does not close
3-fold."""
_DEAD_SHARE = 1e-6
_CLIFF = 0.7
_ALWAYS = 0.95
_FAR_BELOW = 10.0
_STEADY = 30.0
_FAR_ABOVE = 30.0
_NAMED = 3

_ORIGIN_WORDS = {
    NonFiniteOrigin.INPUT: "in the input",
    NonFiniteOrigin.LOSS: "in the loss before the backward pass",
    NonFiniteOrigin.GRADIENTS: "in the gradients, after a loss that was finite",
    NonFiniteOrigin.PARAMETERS: "in the parameters, which an update had written",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A disease with its evidence: a `Diagnosis` without run and step."""

    disease: Disease
    evidence: str
    remedy: Remedy
    layers: tuple[str, ...] = ()


def not_finite(evidence: Evidence, settings: Settings) -> Verdict | None:
    """Steps with a non-finite number, and its origin."""
    found = evidence.not_finite
    if found is None:
        return None
    total = sum(found.counts.values())
    sentence = (
        f"{total} of the last {_steps(found.steps_looked_at)} met a number that was not finite; it began at step "
        f"{found.began_at_step}, {_ORIGIN_WORDS[found.began_with]}."
    )
    others = [f"{count} {_ORIGIN_WORDS[origin]}" for origin, count in found.counts.items()]
    if len(others) > 1:
        sentence += f" Seen since: {'; '.join(others)}."
    return Verdict(Disease.NOT_FINITE, sentence, remedies.against_not_finite(evidence, settings, found.began_with))


def too_early(evidence: Evidence, settings: Settings) -> Verdict | None:
    """Too few steps for a verdict."""
    if evidence.steps >= FEWEST_STEPS and evidence.norm is not None:
        return None
    since = f"since {evidence.counted_since}" if evidence.counted_since else "so far"
    sentence = (
        f"{_steps(evidence.steps)} with a gradient norm {since}; {FEWEST_STEPS} are needed, of which the first "
        f"{SETTLING_STEPS} are not counted."
    )
    return Verdict(Disease.UNKNOWN, sentence, Remedy(""))


def exploding(evidence: Evidence, settings: Settings) -> Verdict | None:
    """Above 100, or growing beyond the usual range while the loss does not fall."""
    assert evidence.norm is not None
    share = evidence.share_of_norms_above(EXPLODING_NORM)
    if share >= _SHARE_OF_EXPLODING:
        sentence = (
            f"The gradient norm has a median of {text(evidence.norm.median)} and a largest of "
            f"{text(evidence.norm.largest)} over {_recent(evidence)}; {100 * share:.0f} % of them are above "
            f"{EXPLODING_NORM:.0f}."
        )
    elif share >= _SHARE_LET_THROUGH and _lets_through(evidence, settings, share):
        sentence = (
            f"{100 * share:.0f} % of {_recent(evidence)} had a gradient norm above {EXPLODING_NORM:.0f}, up to "
            f"{text(evidence.norm.largest)} with a median of {text(evidence.norm.median)}, and clipping does not hold "
            "them down."
        )
    elif _is_growing(evidence) and not _is_learning(evidence.loss):
        sentence = (
            f"The gradient norm grew {text(evidence.growth)}-fold over the last {_steps(evidence.steps)}, to "
            f"{text(evidence.norm.high)}, and the loss does not fall."
        )
    else:
        return None
    norms = np.nan_to_num(evidence.layers.norms)
    largest = [int(place) for place in np.argsort(-norms)[:_NAMED] if norms[place] > USUAL_NORM]
    remedy = remedies.against_explosion(evidence, settings)
    return Verdict(Disease.EXPLODING, sentence, remedy, _names(evidence.layers, largest))


def updates_too_large(evidence: Evidence, settings: Settings) -> Verdict | None:
    """A step changes the parameters by more than a tenth; or the first ones did, and the loss has not recovered."""
    ratio = evidence.update_ratio
    if ratio is not None and ratio > LARGE_UPDATE:
        sentence = (
            f"A step changes the parameters by {_share(ratio)} of their norm, in the median of {_recent(evidence)}; "
            f"0.1 to 1 % is usual, more than {_share(LARGE_UPDATE)} is too much."
        )
    elif _first_updates_did_damage(evidence):
        ratio = evidence.largest_update_at_start
        assert ratio is not None and evidence.loss is not None and evidence.loss.first is not None
        sentence = (
            f"The run's first steps changed the parameters by up to {_share(ratio)} of their norm, and the model has "
            f"not recovered: the loss was {text(evidence.loss.first)} before them and is {text(evidence.loss.now)}."
        )
    else:
        return None
    ratios = np.nan_to_num(evidence.layers.update_ratios)
    worst = [int(place) for place in np.argsort(-ratios) if ratios[place] > LARGE_UPDATE][:_NAMED]
    remedy = remedies.against_large_updates(evidence, settings, ratio)
    return Verdict(Disease.UPDATES_TOO_LARGE, sentence, remedy, _names(evidence.layers, worst))


def dead_layers(evidence: Evidence, settings: Settings) -> Verdict | None:
    """No gradient in some layers, with a sharp boundary, while others learn."""
    layers = evidence.layers
    dead, level = _without_gradient(layers)
    if not dead or not evidence.update_ratio or not _falls_off_a_cliff(layers.norms):
        return None
    largest = max(float(layers.norms[place]) for place in dead)
    sentence = (
        f"{len(dead)} of {len(layers.names)} layers have a gradient norm of at most {text(largest)}, the others about "
        f"{text(level)}: {_list(layers, dead)}."
    )
    return Verdict(Disease.DEAD_LAYERS, sentence, remedies.against_dead_layers(settings), _names(layers, dead))


def vanishing(evidence: Evidence, settings: Settings) -> Verdict | None:
    """Too small to learn, as the loss shows. Small gradients that do train the model are healthy."""
    norm, loss = evidence.norm, evidence.loss
    assert norm is not None
    if loss is None or _is_learning(loss) or evidence.steps < _FEWEST_TO_BE_STUCK:
        return None
    fallen = loss.fall_since_start_percent
    if fallen is not None and fallen >= _FINISHED_PERCENT:
        return None
    sentence, places = _vanishing_with_depth(evidence)
    has_learned = fallen is not None and fallen >= _LEARNED_PERCENT
    began = evidence.norm_at_start  # small gradients from the start are no collapse
    has_collapsed = began is not None and norm.median * _DEPTH_GAP <= began
    if not sentence and norm.median < _VANISHED_NORM and (not has_learned or has_collapsed):
        sentence = f"The gradient norm has a median of {text(norm.median)} over {_recent(evidence)}"
    if not sentence:
        return None
    return Verdict(
        Disease.VANISHING,
        f"{sentence}, and the loss is stuck at {text(loss.now)}.",
        remedies.against_vanishing(settings),
        _names(evidence.layers, places),
    )


def always_clipping(evidence: Evidence, settings: Settings) -> Verdict | None:
    """Nearly every step is clipped. The threshold is too low if the norms are sound and the loss does not rise;
    otherwise lower the rate, unless the model learns anyway."""
    clipped, threshold = remedies.clipped_spread(evidence, settings), remedies.threshold_of(evidence, settings)
    if settings.gradients.clip_mode in ("off", "observe") or clipped is None or threshold is None:
        return None
    is_steady = clipped.high <= _STEADY * clipped.median
    if evidence.clip_share < _ALWAYS or not is_steady or clipped.median < _FAR_BELOW * threshold:
        return None
    sentence = f"{100 * evidence.clip_share:.0f} % of {_recent(evidence)} were clipped to {text(threshold)}"
    spread = f"{text(clipped.median)} in the median and {text(clipped.high)} at the 95th percentile"
    assert evidence.norm is not None
    rises, learns = _is_rising(evidence.loss), _is_learning(evidence.loss)
    if evidence.norm.high <= USUAL_NORM and not rises:
        sentence += f", though {_clipped_quantity(settings)} was sound and steady: {spread}."
        return Verdict(Disease.ALWAYS_CLIPPING, sentence, remedies.fitting_threshold(evidence, settings))
    if learns and evidence.norm.median <= USUAL_NORM:
        sentence += f", though {_clipped_quantity(settings)} was mostly sound, {spread}, and the loss falls."
        remedy = remedies.fitting_threshold(evidence, settings, USUAL_NORM)
        return Verdict(Disease.ALWAYS_CLIPPING, sentence, remedy)
    if learns:
        return None
    sentence += f", {_clipped_quantity(settings)} was {spread}, and the loss {'rises' if rises else 'does not fall'}."
    reason = "The loss rises" if rises else "The norms are above the usual 0.1 to 10"
    remedy = remedies.lower_rate(evidence, settings, 0.1, f"{reason}, so a higher threshold would do harm")
    return Verdict(Disease.ALWAYS_CLIPPING, sentence, remedy)


def never_clipping(evidence: Evidence, settings: Settings) -> Verdict | None:
    """A threshold far above all observed norms and above usual ones. A threshold of 1 with norms of 0.01 is a good
    guard."""
    clipped, threshold = remedies.clipped_spread(evidence, settings), remedies.threshold_of(evidence, settings)
    if settings.gradients.clip_mode not in ("norm", "value", "layer") or clipped is None or threshold is None:
        return None
    if threshold <= USUAL_NORM or threshold < _FAR_ABOVE * clipped.largest or evidence.clip_share > 0.0:
        return None
    sentence = (
        f"None of {_recent(evidence)} was clipped: the threshold is {text(threshold)}, and "
        f"{_clipped_quantity(settings)} was at most {text(clipped.largest)}. "
        "Exploding gradients would pass it for long."
    )
    return Verdict(Disease.NEVER_CLIPPING, sentence, remedies.fitting_threshold(evidence, settings))


def healthy(evidence: Evidence, settings: Settings) -> Verdict:
    """The verdict if no disease was found. The norms shown next to it are of the newest step: this one is some steps
    older."""
    sentence = f"Nothing unusual in the gradient norms of {_recent(evidence)}, and {_loss_words(evidence.loss)}."
    if settings.gradients.clip_mode == "observe" and evidence.threshold is not None:
        sentence += f" A threshold of {text(evidence.threshold)} would have clipped {100 * evidence.clip_share:.0f} %."
    return Verdict(Disease.HEALTHY, sentence, Remedy(""))


VERDICTS: tuple[Callable[[Evidence, Settings], Verdict | None], ...] = (
    too_early,
    exploding,
    updates_too_large,
    dead_layers,
    vanishing,
    always_clipping,
    never_clipping,
)


def judge(evidence: Evidence, settings: Settings, with_rolled_back: Evidence) -> Verdict:
    """The first disease that the evidence shows.

    with_rolled_back: the evidence with the steps before a rollback, which hold the cause of a non-finite number.
    """
    spoilt = not_finite(with_rolled_back, settings)
    if spoilt is not None and not _is_rare_bad_input(with_rolled_back.not_finite):
        found = spoilt
    else:
        spoken = (verdict(evidence, settings) for verdict in VERDICTS)
        found = next((verdict for verdict in spoken if verdict is not None), None) or healthy(evidence, settings)
        if spoilt is not None:
            both = replace(found, evidence=f"{found.evidence} Apart from that, {spoilt.evidence}")
            found = spoilt if found.disease in _NOT_A_DISEASE else both
    return replace(found, remedy=remedies.unless_already_set(found.remedy, settings))


def _is_rare_bad_input(found: NotFinite | None) -> bool:
    """Batches that were quarantined before any pass do no harm, and should not hide other verdicts."""
    if found is None or set(found.counts) != {NonFiniteOrigin.INPUT}:
        return False
    return found.counts[NonFiniteOrigin.INPUT] <= max(1.0, _RARE_INPUT * found.steps_looked_at)


def _first_updates_did_damage(evidence: Evidence) -> bool:
    """Large parameters hide the large first updates of Adam that made them: later the ratio looks sound."""
    ratio, loss = evidence.update_ratio_at_start, evidence.loss
    if ratio is None or ratio <= LARGE_UPDATE or loss is None or loss.fall_since_first_percent is None:
        return False
    return loss.fall_since_first_percent < _LEARNED_PERCENT


def _lets_through(evidence: Evidence, settings: Settings, share: float) -> bool:
    """Whether norms above 100, this share of the steps, reach the optimizer and may do harm: they are far from the
    others, or the loss does not fall."""
    assert evidence.norm is not None
    mode = settings.gradients.clip_mode
    if evidence.norm.high <= _STEADY * evidence.norm.median and _is_learning(evidence.loss):
        return False
    if mode in ("off", "observe") or evidence.clip_share < share:
        return True
    return mode != "value" and evidence.threshold is not None and evidence.threshold > EXPLODING_NORM


def _is_growing(evidence: Evidence) -> bool:
    trend = evidence.norm_trend
    if trend is None or trend.z <= _CERTAIN or evidence.growth < _GROWTH:
        return False
    return trend.end > math.log(USUAL_NORM)


def _is_learning(loss: LossTrend | None) -> bool:
    return loss is not None and loss.trend.z < -_CERTAIN and loss.fall_percent >= _LEARNING_PERCENT


def _is_rising(loss: LossTrend | None) -> bool:
    return loss is not None and loss.trend.z > _CERTAIN and loss.fall_percent <= -_LEARNING_PERCENT


def _without_gradient(layers: Layers) -> tuple[list[int], float]:
    """The layers with almost no gradient and no sign of recovery, and the usual norm among the others."""
    known = np.sort(layers.norms[~np.isnan(layers.norms)])
    if known.size < 2:
        return [], 0.0
    level = float(known[-max(1, known.size // 4)])
    low = (layers.norms <= _DEAD_SHARE * level) & (layers.rise < _RISING)
    return ([int(place) for place in np.flatnonzero(low)], level) if level > 0.0 else ([], level)


def _falls_off_a_cliff(norms: np.ndarray) -> bool:
    """Whether the norms fall at one layer, rather than gradually over the depth."""
    levels = np.log10(np.maximum(norms[~np.isnan(norms)], 1e-45))
    return bool(np.abs(np.diff(levels)).max() >= _CLIFF * (levels.max() - levels.min()))


def _vanishing_with_depth(evidence: Evidence) -> tuple[str, list[int]]:
    """The start of a sentence and the layers if the gradient is lost on the way to the input, else empty."""
    layers = evidence.layers
    early, late = layers.early, layers.late
    third = max(1, layers.norms.size // 3)
    if early is None or late is None or _is_closing(early, late, float(np.median(layers.rise[:third]))):
        return "", []
    if late > 0.0 and late >= _DEPTH_GAP * early:
        ratio = f"{text(late / early)} times" if early > late * 1e-30 else "many orders of magnitude"
        return f"Early layers have a norm of {text(early)}, {ratio} below the late ones' {text(late)}", [*range(third)]
    small = [int(place) for place in np.flatnonzero((layers.norms < _VANISHED_LAYER) & (layers.rise < _RISING))]
    if small and float(np.nanmax(layers.norms)) >= _DEPTH_GAP * _VANISHED_LAYER:
        return f"Layers {_list(layers, small)} have a norm below {_VANISHED_LAYER:.0e}".replace("e-08", "e-8"), small
    return "", []


def _is_closing(early: float, late: float, rise: float) -> bool:
    """Whether the early layers are recovering: behind a zero-initialised head they start with no gradient."""
    gap = late / early if early > late * 1e-30 else 1e30
    return rise >= max(_RISING, math.pow(gap, _RISING_POWER))


def _names(layers: Layers, places: list[int]) -> tuple[str, ...]:
    return tuple(layers.names[place] for place in places)


def _list(layers: Layers, places: list[int]) -> str:
    shown = ", ".join(_names(layers, places[:_NAMED]))
    return shown if len(places) <= _NAMED else f"{shown} and {len(places) - _NAMED} more"


def _clipped_quantity(settings: Settings) -> str:
    mode = settings.gradients.clip_mode
    return {"value": "the largest number", "layer": "the largest layer's norm"}.get(mode, "the norm")


def _loss_words(loss: LossTrend | None) -> str:
    if loss is None:
        return "the loss is not known yet"
    if _is_learning(loss):
        return f"the loss fell by {text(loss.fall_percent)} % to {text(loss.now)} over the last {_steps(loss.steps)}"
    return f"the loss is {text(loss.now)}"


def _share(ratio: float) -> str:
    return f"{100 * min(ratio, 1e6):.0f} %"


def _recent(evidence: Evidence) -> str:
    """The counted steps; with the total as long as some of those were left out of the count."""
    count = evidence.recent_norms.size
    if count < min(RECENT_STEPS, evidence.steps):
        return f"the last {count} of {_steps(evidence.steps)}"
    return f"the last {_steps(count)}"


def _steps(count: int) -> str:
    return counted(count, "step")
