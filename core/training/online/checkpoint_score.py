"""The score saved with a checkpoint: its model's, over candles that it forecast before they closed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.forecast.history import History
from core.forecast.score import pinball
from core.storage.records import StoredScore
from core.training.engine.engine import TrainingEngine
from core.training.online.score_ledger import CheckpointScores, ScoreLedger, skill_of_both
from core.training.recovery.failure import survivable_failure

_NOW = 100
"""Number of the newest scored candles that the current weights forecast again."""
_FEWEST_NOW = 30
"""The fewest candles of each market, if there are several."""
_SCORED = [Quantity.CLOSE, Quantity.RANGE]


def score_together(
    markets: Sequence[tuple[ScoreLedger, History]], engine: TrainingEngine, context: int
) -> CheckpointScores:
    """The mean over the markets of their scores, with the mean ends of their intervals: markets move together, so it is
    as wide as if they were one."""
    newest = max(_FEWEST_NOW, _NOW // len(markets))
    found = [score_checkpoint(ledger, history, engine, context, newest) for ledger, history in markets]
    if len(found) == 1:
        return found[0]
    model = _together([each.model for each in found])
    gain = _together([each.gain for each in found])
    return CheckpointScores(
        replace(model, n=sum(each.model.n for each in found)), _mean([each.shown for each in found]), gain
    )


def _together(found: Sequence[Estimate]) -> Estimate:
    """Over those with an interval; without any, over those with a value. Its candles are of the one with the most."""
    measured = [each for each in found if each.low is not None] or [each for each in found if each.value is not None]
    value, low, high = (_mean([getattr(each, name) for each in measured]) for name in ("value", "low", "high"))
    return Estimate(value, low, high, max(each.n for each in found))


def hits_together(markets: Sequence[ScoreLedger]) -> tuple[float | None, float | None]:
    """Direction and 90 % coverage, as means over the markets."""
    direction, coverage = zip(*(ledger.checkpoint_hits() for ledger in markets), strict=True)
    return _mean([each.value for each in direction]), _mean([each.value for each in coverage])


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of the known ones."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def score_checkpoint(
    ledger: ScoreLedger, history: History, engine: TrainingEngine, context: int, newest: int = _NOW
) -> CheckpointScores:
    """The ledger's scores, with the model's lowered to its current weights' score, if that is less.

    The newest scores are mostly of older weights, so a model that diverged in its last steps would still have good
    ones. The current weights have learned from these candles, which flatters them, so their result can only lower the
    score.
    """
    scores = ledger.checkpoint_scores()
    try:
        now = _skill_now(ledger.newest(newest), history, engine, context)
    except Exception as error:
        survivable_failure(error)
        return replace(scores, model=Estimate(None, None, None, scores.model.n))  # weights that cannot forecast
    known = scores.model.value
    if known is None or not math.isfinite(known) or now.value is None or now.value >= known:
        return scores
    return CheckpointScores(now, scores.shown, scores.gain)


def _skill_now(scores: list[StoredScore], history: History, engine: TrainingEngine, context: int) -> Estimate:
    """Raises the model's errors, and ArithmeticError if a forecast is not finite."""
    origins = np.searchsorted(history.open_time_ms, [score.origin_open_time_ms for score in scores])
    is_kept = np.array([score.origin_open_time_ms >= int(history.open_time_ms[0]) for score in scores], dtype=np.bool_)
    kept = [score for score, keeps in zip(scores, is_kept, strict=True) if keeps]
    if not kept:
        return Estimate(None, None, None, 0)
    losses = _losses(origins[is_kept], history, engine, context)
    if not np.isfinite(losses).all():
        raise ArithmeticError("a forecast that is not finite")
    reference = np.array([(score.reference_loss, score.range_reference_loss) for score in kept], dtype=np.float64)
    return skill_of_both(list(losses.T), list(reference.T))


def _losses(origins: np.ndarray, history: History, engine: TrainingEngine, context: int) -> FloatArray:
    """Losses of the current weights, one candle ahead, on close and range: [origin, 2]."""
    corrections = engine.corrections(*history.windows(origins, context))[:, 0]
    factor, offset = (unit[:, 0, :, None] for unit in history.units(origins))
    quantiles = offset + factor * np.sort(history.anchors(origins)[:, 0] + corrections, axis=-1)
    lost: FloatArray = pinball(history.targets(origins)[0][:, 0], quantiles)[:, _SCORED]
    return lost
