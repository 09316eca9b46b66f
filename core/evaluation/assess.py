"""Statistics of scores, with the values of `evaluate`. The intervals of skills, gains and direction are valid at every
moment, since they are watched while the run continues; so they are wider than those of a single test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.evaluation.columns import Origins, ScoreColumns
from core.evaluation.findings import (
    Curve,
    DrawnAccuracy,
    ExpertLoss,
    HorizonAccuracy,
    HorizonSkill,
    QuantityAccuracy,
    Request,
)
from core.forecast.confidence import gain_sequence, mean_sequence, skill_sequence
from core.forecast.experts import EXPERTS, FORECASTS, LOSS_ROWS, MODEL, REFERENCE, ExpertList
from core.forecast.score import COVERAGE_WINDOW, FEWEST_FOR_AN_ESTIMATE, mean, rolling_shares, share_of
from core.storage.records import SHOWN_LOSSES

ERROR_WINDOW = 100
MOST_POINTS = 400
SHOWN = "what is shown"
_FULLY = (Quantity.CLOSE, Quantity.RANGE)
"""The quantities with full statistics."""
_ALSO_DRAWN = (Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK, Quantity.VOLUME)
_WITHOUT_MODEL, _FIRST_EXPERT = 0, 1
"""Places in `ExpertList.loss_rows`."""
_BASELINES = tuple(expert for expert in range(len(EXPERTS)) if expert != MODEL)

Rows = NDArray[np.bool_]


def skill_at(columns: ScoreColumns, rows: Rows, horizon: int) -> HorizonSkill:
    """One row of the table of horizons. rows: mask of the scores that count."""
    losses = columns.losses[rows]
    close, spread = (_quantity_losses(columns, losses, rows, quantity) for quantity in _FULLY)
    return HorizonSkill(
        horizon=horizon,
        n=len(losses),
        close=skill_sequence(close.shown, close.reference, horizon),
        range=skill_sequence(spread.shown, spread.reference, horizon),
        model_gain_close=gain_sequence(close.shown, close.without, close.reference, horizon),
        model_gain_range=gain_sequence(spread.shown, spread.without, spread.reference, horizon),
    )


def assess(columns: ScoreColumns, origins: Origins, rows: Rows, request: Request) -> HorizonAccuracy:
    """All statistics of one horizon. rows: mask of its scores that count."""
    losses = columns.losses[rows]
    close, spread = (_quantity_losses(columns, losses, rows, quantity) for quantity in _FULLY)
    inside_90 = columns["inside_90"][rows]
    worst, best = _extremes(inside_90)
    hits, reverse_last, majority = _directions(columns, origins, rows, request.horizon)
    outcome, known = outcomes(columns, origins, rows)
    quantiles = columns["close"][rows][known]
    targets = columns["target_open_time_ms"][rows]
    return HorizonAccuracy(
        request=request,
        n=len(losses),
        close=_quantity(close, request.horizon),
        range=_quantity(spread, request.horizon),
        also_drawn=tuple(_drawn(columns, losses, rows, of, request.horizon) for of in _ALSO_DRAWN),
        experts=_experts(close, spread, columns.experts),
        direction=hits,
        reverse_last=reverse_last,
        majority=majority,
        coverage_50=share_of(columns["inside_50"][rows], request.horizon),
        coverage_90=share_of(inside_90, request.horizon),
        worst_500=worst,
        best_500=best,
        reliability=tuple(
            mean(column, request.horizon) for column in (outcome[:, None] <= quantiles).astype(np.float64).T
        ),
        coverage_curve=_thinned(targets[COVERAGE_WINDOW - 1 :], rolling_shares(inside_90, COVERAGE_WINDOW)),
        error_curve=_errors(targets[known], outcome - quantiles[:, MEDIAN]),
        no_change_curve=_errors(targets[known], outcome),
        loss_reduction_close=_loss_reduction(targets, close),
        loss_reduction_range=_loss_reduction(targets, spread),
    )


class _Losses:
    """Losses of one quantity, each [n] in time order."""

    def __init__(self, shown: FloatArray, losses_by_expert: FloatArray, quantity: Quantity) -> None:
        """losses_by_expert: [n, ..], in the order of `ExpertList.loss_rows`."""
        self.shown = shown
        self.quantity = quantity
        self.without = losses_by_expert[:, _WITHOUT_MODEL]
        self.reference = losses_by_expert[:, _FIRST_EXPERT + REFERENCE]
        self.losses_by_expert = losses_by_expert

    def of(self, expert: int) -> FloatArray:
        lost: FloatArray = self.losses_by_expert[:, _FIRST_EXPERT + expert]
        return lost

    @property
    def best_baseline(self) -> int | None:
        if not len(self.shown):
            return None
        speaking = [expert for expert in _BASELINES if FORECASTS[expert, self.quantity]]
        return min(speaking, key=lambda expert: float(self.of(expert).mean()))


def _quantity_losses(columns: ScoreColumns, losses: NDArray[np.float32], rows: Rows, quantity: Quantity) -> _Losses:
    shown = columns[SHOWN_LOSSES[quantity]][rows]
    return _Losses(shown, losses[:, :, quantity].astype(np.float64), quantity)


def _quantity(of: _Losses, horizon: int) -> QuantityAccuracy:
    best = of.best_baseline
    return QuantityAccuracy(
        n=of.shown.size,
        loss=float(of.shown.mean()) if of.shown.size else None,
        skill=skill_sequence(of.shown, of.reference, horizon),
        best_baseline=None if best is None else EXPERTS[best],
        skill_vs_best=skill_sequence(of.shown, of.of(REFERENCE if best is None else best), horizon),
        skill_without_model=skill_sequence(of.without, of.reference).value,
        model_gain=gain_sequence(of.shown, of.without, of.reference, horizon),
    )


def _drawn(
    columns: ScoreColumns, losses: NDArray[np.float32], rows: Rows, quantity: Quantity, horizon: int
) -> DrawnAccuracy:
    of = _quantity_losses(columns, losses, rows, quantity)
    holds = np.isfinite(of.shown)
    found = skill_sequence(of.shown[holds], of.reference[holds], horizon)
    return DrawnAccuracy(quantity, found, is_stored=bool(holds.any()) or not holds.size)


def _experts(close: _Losses, spread: _Losses, experts: ExpertList) -> tuple[ExpertLoss, ...]:
    """The shown forecast, the same without the model, then each expert that forecasts at least one of the two."""
    if len(close.shown) < FEWEST_FOR_AN_ESTIMATE:
        return ()
    found = [
        _expert(SHOWN, close, spread, close.shown, spread.shown),
        _expert(LOSS_ROWS[_WITHOUT_MODEL], close, spread, close.without, spread.without),
    ]
    for expert, name in enumerate(experts.names):
        own = [of.of(expert) if experts.forecasts[expert, of.quantity] else None for of in (close, spread)]
        if any(each is not None for each in own):
            found.append(_expert(name, close, spread, *own))
    return tuple(found)


def _expert(
    name: str, close: _Losses, spread: _Losses, on_close: FloatArray | None, on_range: FloatArray | None
) -> ExpertLoss:
    return ExpertLoss(name, *_mean_and_skill(on_close, close.reference), *_mean_and_skill(on_range, spread.reference))


def _mean_and_skill(lost: FloatArray | None, reference: FloatArray) -> tuple[float | None, float | None]:
    if lost is None:
        return None, None
    total = float(reference.sum())
    return float(lost.mean()), 1.0 - float(lost.sum()) / total if total > 0.0 else None


def _share_sequence(hits: NDArray[np.bool_], horizon: int) -> Estimate:
    return mean_sequence(hits.astype(np.float64), horizon)


def _extremes(inside: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    windows = rolling_shares(inside, COVERAGE_WINDOW)
    return (float(windows.min()), float(windows.max())) if windows.size else (None, None)


def _directions(
    columns: ScoreColumns, origins: Origins, rows: Rows, horizon: int
) -> tuple[Estimate, Estimate, Estimate]:
    """Of the forecast, of "reverse last", and of the more frequent direction; without flat candles.

    A direction is from the forecast's last close to the target's. "Reverse last" is the opposite of the last candle
    that the forecast had seen.
    """
    moved = rows.copy()
    moved[rows] = columns["direction_hit"][rows] >= 0
    places = np.searchsorted(origins.open_time_ms, columns["target_open_time_ms"][moved])
    places = places[(places > horizon) & (places < origins.open_time_ms.size)]
    actual = np.sign(origins.closes[places] - origins.closes[places - horizon])
    before = np.sign(origins.closes[places - horizon] - origins.closes[places - horizon - 1])
    was_moving = before != 0.0
    frequent = 1.0 if (actual > 0.0).sum() >= (actual < 0.0).sum() else -1.0
    return (
        _share_sequence(columns["direction_hit"][moved] == 1, horizon),
        _share_sequence(actual[was_moving] == -before[was_moving], horizon),
        _share_sequence(actual == frequent, horizon),
    )


def outcomes(columns: ScoreColumns, origins: Origins, rows: Rows) -> tuple[FloatArray, Rows]:
    """The actual close returns [k], and a mask of the n scores that have one [n]: a target's close is stored with the
    forecast made from it, so the newest target may have none yet."""
    targets = columns["target_open_time_ms"][rows]
    places = np.searchsorted(origins.open_time_ms, targets)
    inside = places < origins.open_time_ms.size
    known: Rows = np.zeros(targets.size, dtype=np.bool_)
    known[inside] = origins.open_time_ms[places[inside]] == targets[inside]
    actual = np.log(origins.closes[places[known]] / columns["origin_close"][rows][known])
    return actual, known


def _errors(targets: NDArray[np.int64], errors: FloatArray) -> Curve:
    if errors.size < ERROR_WINDOW:
        return _thinned(targets[:0], errors[:0])
    sums = np.concatenate([[0.0], np.cumsum(np.abs(errors))])
    return _thinned(targets[ERROR_WINDOW - 1 :], (sums[ERROR_WINDOW:] - sums[:-ERROR_WINDOW]) / ERROR_WINDOW)


def _loss_reduction(targets: NDArray[np.int64], of: _Losses) -> Curve:
    total = float(of.reference.sum())
    if of.shown.size < FEWEST_FOR_AN_ESTIMATE or total <= 0.0:
        return _thinned(targets[:0], of.shown[:0])
    return _thinned(targets, np.cumsum(of.reference - of.shown) / total)


def _thinned(targets: NDArray[np.int64], values: FloatArray) -> Curve:
    """About one point per pixel, including the first and the last."""
    if values.size > MOST_POINTS:
        kept = np.unique(np.linspace(0, values.size - 1, MOST_POINTS).astype(np.int64))
        targets, values = targets[kept], values[kept]
    return Curve(targets, values)


def groups_of(regimes: NDArray[np.int8], names: Sequence[str]) -> tuple[str, ...]:
    """The regimes that have at least one score."""
    return tuple(name for place, name in enumerate(names) if bool((regimes == place).any()))
