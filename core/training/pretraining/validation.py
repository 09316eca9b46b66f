"""Walk-forward validation: the model's own quantiles on candles that come after all training candles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.forecast.score import pinball, skill
from core.training.engine.engine import TrainingEngine
from core.training.pretraining.dataset import Dataset, Series
from core.training.pretraining.team import Team

_ROWS_AT_ONCE = 256
_ROUNDING = 1e-9
_SCORED = (Quantity.CLOSE, Quantity.RANGE)


@dataclass(frozen=True, slots=True)
class Validation:
    """Skill over the reference one step ahead, on the held-back candles: 1 - pinball loss / the reference's."""

    close: Estimate
    range: Estimate
    n: int

    @property
    def skill(self) -> float | None:
        """The ranking of epochs: close and range in equal parts. None if nothing finite was measured."""
        values = [estimate.value for estimate in (self.close, self.range) if estimate.value is not None]
        return sum(values) / len(values) if values and all(map(math.isfinite, values)) else None

    @property
    def is_finite(self) -> bool:
        """Whether the losses of the model's forecasts are finite."""
        return all(_finite(one.value) == one.value for one in (self.close, self.range))

    def summary(self) -> dict[str, Any]:
        """The scores as JSON: a non-finite skill is null."""
        return {
            "close_skill": _finite(self.close.value),
            "close_ci95": _interval(self.close),
            "range_skill": _finite(self.range.value),
            "range_ci95": _interval(self.range),
            "n": self.n,
        }


def validate(engine: TrainingEngine, dataset: Dataset, team: Team) -> Validation:
    """Score the engine's forecasts of all held-back candles, each file alike. Several processes share the work."""
    parts = [_losses_of_series(engine, dataset, one, team) for one in dataset.series]
    losses = team.total(np.concatenate(parts))
    ends = np.cumsum([part.shape[0] for part in parts])
    measured = [part for part in np.split(losses, ends[:-1]) if part.size]
    rows = losses.shape[0] / len(measured)
    model, reference = np.concatenate([_alike(part, rows) for part in measured]).transpose(1, 2, 0)
    close, spread = (_skill(model[index], reference[index]) for index in range(len(_SCORED)))
    return Validation(close, spread, model.shape[1])


def _alike(losses: FloatArray, rows: float) -> FloatArray:
    """Losses in units of the reference's mean, weighted as `rows` rows: neither a long file nor a restless market
    counts more. Zeros if the market does not move. losses: as in `_losses_of_series`."""
    mean = losses[:, 1].mean(axis=0)
    moves = mean >= _ROUNDING
    alike: FloatArray = np.where(moves, losses / np.where(moves, mean, 1.0), 0.0) * (rows / losses.shape[0])
    return alike


def _skill(model: FloatArray, reference: FloatArray) -> Estimate:
    """No skill is defined if the reference's only error is rounding: the market does not move."""
    if float(reference.mean()) < _ROUNDING:
        return Estimate(None, None, None, model.shape[0])
    return skill(model, reference)


def _losses_of_series(engine: TrainingEngine, dataset: Dataset, one: Series, team: Team) -> FloatArray:
    """[origin, model or reference, close or range] in natural units; zeros in the rows of other processes."""
    losses = np.zeros((one.validation.shape[0], 2, len(_SCORED)))
    starts = range(0, losses.shape[0], _ROWS_AT_ONCE)
    for start in starts[team.rank :: team.world_size]:
        rows = slice(start, start + _ROWS_AT_ONCE)
        losses[rows] = _losses(engine, dataset, one, one.validation[rows])
    return losses


def _losses(engine: TrainingEngine, dataset: Dataset, one: Series, origins: NDArray[np.int64]) -> FloatArray:
    corrections = engine.corrections(*one.history.windows(origins, dataset.context))
    model = np.sort(one.history.anchors(origins) + corrections, axis=-1)[:, 0]
    quantiles = np.stack([model, one.references[origins].astype(np.float64)], axis=1)
    factor, offset = (unit[:, None, 0, :, None] for unit in one.history.units(origins))
    outcomes = one.history.targets(origins)[0][:, None, 0]
    scored: FloatArray = pinball(outcomes, offset + factor * quantiles)[..., list(_SCORED)]
    return scored


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _interval(estimate: Estimate) -> list[float] | None:
    low, high = _finite(estimate.low), _finite(estimate.high)
    return None if low is None or high is None else [low, high]
