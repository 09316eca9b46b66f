"""Statistics of scores. The intervals of skills, gains and direction are valid at every
moment, since they are watched while the run continues; so they are wider than a single test's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import MEDIAN, FloatArray
from core.evaluation.findings import (
    Curve,
    DrawnAccuracy,
    ExpertLoss,
    HorizonAccuracy,
    HorizonSkill,
    QuantityAccuracy,
    Request,
    RunAccuracy,
)
from core.evaluation.judged_scores import ALSO_DRAWN, JUDGED_QUANTITIES, JudgedScores, Origins, QuantityLosses, Rows
from core.forecast.confidence import gain_sequence, judged_count, mean_sequence, share_sequence, skill_sequence
from core.forecast.experts import EXPERTS, LOSS_ROWS, REFERENCE
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import COVERAGE_WINDOW, mean, quotient, rolling_means
from core.training.online.evidence import RunEvidence

ERROR_WINDOW = 100
MOST_POINTS = 400
SHOWN = "what is shown"


def skill_at(those: JudgedScores, horizon: int) -> HorizonSkill:
    close, spread = (those.of(quantity) for quantity in JUDGED_QUANTITIES.values())
    return HorizonSkill(
        horizon=horizon,
        n=len(close),
        close=skill_sequence(close.shown, close.reference, horizon),
        range=skill_sequence(spread.shown, spread.reference, horizon),
        model_gain_close=gain_sequence(close.shown, close.without_model, close.reference, horizon),
        model_gain_range=gain_sequence(spread.shown, spread.without_model, spread.reference, horizon),
    )


def with_run_figures(found: RunAccuracy, evidence: RunEvidence) -> RunAccuracy:
    """With the skills and gains of the run one candle ahead, in place of those of the scores that were read."""
    (_, close, spread), (_, gain_close, gain_range) = evidence.skills(), evidence.model_gains()
    first = HorizonSkill(1, close.n, close, spread, gain_close, gain_range)
    chosen = found.chosen
    if chosen.request.horizon == 1:
        shown = (_with_skill(chosen.close, close, gain_close), _with_skill(chosen.range, spread, gain_range))
        chosen = replace(chosen, close=shown[0], range=shown[1], experts=_with_skills(chosen.experts, *shown))
    return replace(found, horizons=(first, *found.horizons[1:]), chosen=chosen)


def _with_skill(of: QuantityAccuracy, skill: Estimate, gain: Estimate) -> QuantityAccuracy:
    without = None if skill.value is None or gain.value is None else skill.value - gain.value
    return replace(of, n=skill.n, skill=skill, model_gain=gain, skill_without_model=without)


def _with_skills(
    experts: tuple[ExpertLoss, ...], close: QuantityAccuracy, spread: QuantityAccuracy
) -> tuple[ExpertLoss, ...]:
    """The first two are what is shown and the same without the model."""
    if not experts:
        return ()
    shown, without, *others = experts
    return (
        replace(shown, close_skill=close.skill.value, range_skill=spread.skill.value),
        replace(without, close_skill=close.skill_without_model, range_skill=spread.skill_without_model),
        *others,
    )


def assess(those: JudgedScores, origins: Origins, request: Request) -> HorizonAccuracy:
    close, spread = (those.of(quantity) for quantity in JUDGED_QUANTITIES.values())
    inside_50, inside_90 = (those[name].astype(np.float64) for name in ("inside_50", "inside_90"))
    worst, best = extremes(those["inside_90"])
    _, reverse_last, majority = (
        mean_sequence(each.astype(np.float64), request.horizon) for each in directions(those, origins, request.horizon)
    )
    outcome, known = outcomes(those, origins)
    targets = those["target_open_time_ms"]
    return HorizonAccuracy(
        request=request,
        n=len(close),
        close=_quantity(close, request.horizon),
        range=_quantity(spread, request.horizon),
        also_drawn=tuple(_drawn(those.of(quantity), request.horizon) for quantity in ALSO_DRAWN.values()),
        experts=_experts(close, spread),
        direction=direction_of(those, request.horizon),
        reverse_last=reverse_last,
        majority=majority,
        coverage_50=mean_sequence(inside_50, request.horizon),
        coverage_90=mean_sequence(inside_90, request.horizon),
        worst_500=worst,
        best_500=best,
        reliability=shares_below(those, origins, request.horizon),
        coverage_curve=_thinned(targets[COVERAGE_WINDOW - 1 :], rolling_means(those["inside_90"], COVERAGE_WINDOW)),
        error_curve=_errors(targets[known], outcome - those["close"][known, MEDIAN]),
        no_change_curve=_errors(targets[known], outcome),
        loss_reduction_close=_loss_reduction(targets, close, request.horizon),
        loss_reduction_range=_loss_reduction(targets, spread, request.horizon),
    )


def direction_of(those: JudgedScores, horizon: int) -> Estimate:
    """How often the direction was right, without flat candles, in the blocks of the leaderboard."""
    moved = those["direction_hit"] >= 0
    return share_sequence(those["direction_hit"] == 1, moved, horizon)


def _quantity(of: QuantityLosses, horizon: int) -> QuantityAccuracy:
    best = of.best_baseline
    return QuantityAccuracy(
        n=of.shown.size,
        loss=float(of.shown.mean()) if of.shown.size else None,
        skill=skill_sequence(of.shown, of.reference, horizon),
        best_baseline=None if best is None else EXPERTS[best],
        skill_vs_best=skill_sequence(of.shown, of.of(REFERENCE if best is None else best), horizon),
        skill_without_model=skill_sequence(of.without_model, of.reference).value,
        model_gain=gain_sequence(of.shown, of.without_model, of.reference, horizon),
    )


def _drawn(of: QuantityLosses, horizon: int) -> DrawnAccuracy:
    shown = of.where_shown()
    found = skill_sequence(shown.shown, shown.reference, horizon)
    return DrawnAccuracy(of.quantity, found, is_stored=bool(len(shown)) or not len(of))


def _experts(close: QuantityLosses, spread: QuantityLosses) -> tuple[ExpertLoss, ...]:
    """The shown forecast, the forecast without the model, then each expert that forecasts the close or the range."""
    if len(close.shown) < FEWEST_FOR_AN_ESTIMATE:
        return ()
    found = [
        _expert(SHOWN, close, spread, close.shown, spread.shown),
        _expert(LOSS_ROWS[0], close, spread, close.without_model, spread.without_model),
    ]
    forecasts = close.experts.forecasts
    for expert, name in enumerate(close.experts.names):
        own = [of.of(expert) if forecasts[expert, of.quantity] else None for of in (close, spread)]
        if any(each is not None for each in own):
            found.append(_expert(name, close, spread, *own))
    return tuple(found)


def _expert(
    name: str, close: QuantityLosses, spread: QuantityLosses, on_close: FloatArray | None, on_range: FloatArray | None
) -> ExpertLoss:
    return ExpertLoss(name, *_mean_and_skill(on_close, close.reference), *_mean_and_skill(on_range, spread.reference))


def _mean_and_skill(lost: FloatArray | None, reference: FloatArray) -> tuple[float | None, float | None]:
    if lost is None:
        return None, None
    return float(lost.mean()), quotient(float((reference - lost).sum()), float(reference.sum()), lost.size)


def extremes(inside: Rows) -> tuple[float | None, float | None]:
    """The lowest and the highest coverage of any `COVERAGE_WINDOW` consecutive candles; None if there are fewer."""
    windows = rolling_means(inside, COVERAGE_WINDOW)
    return (float(windows.min()), float(windows.max())) if windows.size else (None, None)


def directions(those: JudgedScores, origins: Origins, horizon: int) -> tuple[Rows, Rows, Rows]:
    """Hits of the forecast, of "reverse last", and of the more frequent direction, which is known in hindsight only;
    without flat candles.

    A direction is from the forecast's last close to the target's. "Reverse last" is the opposite of the last candle
    that the forecast had seen.
    """
    moved = those.where(those["direction_hit"] >= 0)
    places = np.searchsorted(origins.open_time_ms, moved["target_open_time_ms"])
    places = places[(places > horizon) & (places < origins.open_time_ms.size)]
    actual = np.sign(origins.closes[places] - origins.closes[places - horizon])
    before = np.sign(origins.closes[places - horizon] - origins.closes[places - horizon - 1])
    was_moving = before != 0.0
    frequent = 1.0 if (actual > 0.0).sum() >= (actual < 0.0).sum() else -1.0
    return moved["direction_hit"] == 1, actual[was_moving] == -before[was_moving], actual == frequent


def shares_below(those: JudgedScores, origins: Origins, horizon: int) -> tuple[Estimate, ...]:
    """How often the close was at or below each quantile shown, level by level."""
    outcome, known = outcomes(those, origins)
    below = outcome[:, None] <= those["close"][known]
    return tuple(mean(column, horizon) for column in below.astype(np.float64).T)


def outcomes(those: JudgedScores, origins: Origins) -> tuple[FloatArray, Rows]:
    """The actual close returns [k], and a mask of the n scores that have one [n]: a target's close is stored with the
    forecast made from it, so the newest target may have none yet."""
    targets = those["target_open_time_ms"]
    places = np.searchsorted(origins.open_time_ms, targets)
    inside = places < origins.open_time_ms.size
    known: Rows = np.zeros(targets.size, dtype=np.bool_)
    known[inside] = origins.open_time_ms[places[inside]] == targets[inside]
    actual = np.log(origins.closes[places[known]] / those["origin_close"][known])
    return actual, known


def _errors(targets: NDArray[np.int64], errors: FloatArray) -> Curve:
    return _thinned(targets[ERROR_WINDOW - 1 :], rolling_means(np.abs(errors), ERROR_WINDOW))


def _loss_reduction(targets: NDArray[np.int64], of: QuantityLosses, horizon: int) -> Curve:
    """Over the candles of the skill, at which it ends."""
    count = judged_count(len(of), horizon)
    shown, reference = of.shown[:count], of.reference[:count]
    total = float(reference.sum())
    if count < FEWEST_FOR_AN_ESTIMATE or quotient(1.0, total, count) is None:
        return _thinned(targets[:0], shown[:0])
    return _thinned(targets[:count], np.cumsum(reference - shown) / total)


def _thinned(targets: NDArray[np.int64], values: FloatArray) -> Curve:
    """About one point per pixel, including the first and the last."""
    if values.size > MOST_POINTS:
        rows = np.unique(np.linspace(0, values.size - 1, MOST_POINTS).astype(np.int64))
        targets, values = targets[rows], values[rows]
    return Curve(targets, values)
