"""Which of a run's scores `evaluate` judges, and what everyone lost in them. No torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray, Quantity
from core.forecast.experts import EXPERTS, FORECASTS, LOSS_ROWS, MODEL, unpack_losses
from core.forecast.score import FEWEST_FOR_AN_EDGE
from core.storage.reader import RecordReader
from core.storage.records import SHOWN_LOSSES, StoredScore
from core.storage.runs import Run
from core.training.online.spec import own_mode_of

WARM_UP = 1000
"""Candles that are not judged, where enough are left: as many as the reference looks back on."""
JUDGED_QUANTITIES = {"close": Quantity.CLOSE, "range": Quantity.RANGE}
ALSO_DRAWN = {
    "body": Quantity.BODY,
    "upper_wick": Quantity.UPPER_WICK,
    "lower_wick": Quantity.LOWER_WICK,
    "volume": Quantity.VOLUME,
}
"""What ghosts show beside close and range: judged against the reference like these, but no verdict rests on it."""
_ROW = {name: row for row, name in enumerate(LOSS_ROWS)}


@dataclass(frozen=True, slots=True)
class Judged:
    """The scores of one horizon that count, in time order."""

    scores: list[StoredScore]
    losses: FloatArray
    """Everyone's [n, len(LOSS_ROWS), Q]."""

    def shown(self, quantity: Quantity) -> FloatArray:
        """Losses of the combination: [n]."""
        return np.array([getattr(score, SHOWN_LOSSES[quantity]) for score in self.scores], dtype=np.float64)

    def that_hold(self, quantity: Quantity) -> Judged:
        """Those whose shown loss on this quantity was stored: scores from before it was have none."""
        known = np.isfinite(self.shown(quantity))
        return Judged([score for score, holds in zip(self.scores, known, strict=True) if holds], self.losses[known])

    def lost_by(self, expert: int, quantity: Quantity) -> FloatArray:
        return self.losses[:, _ROW[EXPERTS[expert]], quantity]

    def lost_without_model(self, quantity: Quantity) -> FloatArray:
        return self.losses[:, 0, quantity]

    def beside_twin(self) -> FloatArray:
        """Losses of the model and its frozen twin, for the close and for the range, where there was a twin: [m, 4]."""
        rows = [
            (score.model_loss, score.twin_loss, score.range_model_loss, score.range_twin_loss)
            for score in self.scores
            if score.twin_loss is not None and score.range_twin_loss is not None
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def means(self, quantity: Quantity) -> dict[str, float]:
        """Mean loss of each expert that speaks on the quantity; empty where nothing was judged."""
        if not self.scores:
            return {}
        speaking = [expert for expert in range(len(EXPERTS)) if FORECASTS[expert, quantity]]
        return {EXPERTS[expert]: float(self.lost_by(expert, quantity).mean()) for expert in speaking}

    def best_baseline(self, quantity: Quantity) -> int | None:
        """The expert, other than the model, that lost least; known in hindsight only."""
        means = {name: mean for name, mean in self.means(quantity).items() if name != EXPERTS[MODEL]}
        return EXPERTS.index(min(means, key=lambda name: means[name])) if means else None


def judged_from(opened: NDArray[np.int64]) -> int:
    """The first target's opening time that counts; all do where too few would be left."""
    has_warm_up = opened.size >= WARM_UP + FEWEST_FOR_AN_EDGE
    return int(opened[WARM_UP]) if has_warm_up else int(opened[0]) if opened.size else 0


def judged_from_nth(nth_origin: Callable[[int], int | None]) -> tuple[int, int]:
    """The same without all the times, and how many candles that leaves out. nth_origin: the opening time of the candle
    of the n-th forecast, from 0 on; None where there are not so many."""
    left_out = 0 if nth_origin(WARM_UP + FEWEST_FOR_AN_EDGE - 1) is None else WARM_UP
    return nth_origin(left_out) or 0, left_out


def judged(reader: RecordReader, run: Run, horizon: int, from_ms: int, *, after_gap: bool = False) -> Judged:
    """after_gap: those instead whose target comes after a hole or a session break, which count nowhere else."""
    scores, losses = [], []
    for score in reader.scores(horizon=horizon):
        everyone = unpack_losses(score.expert_losses)
        is_own = score.mode is own_mode_of(run.market) and score.after_gap == after_gap
        if is_own and everyone is not None and score.target_open_time_ms >= from_ms:
            scores.append(score)
            losses.append(everyone)
    shape = (0, len(LOSS_ROWS), len(Quantity))
    return Judged(scores, np.stack(losses) if losses else np.empty(shape))
