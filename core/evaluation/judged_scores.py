"""Selects the scores of a run that `evaluate` judges, with the losses of all experts. No torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray, Quantity
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, NO_CHALLENGERS, REFERENCE, ExpertList, unpack_losses
from core.forecast.score import FEWEST_FOR_AN_EDGE
from core.storage.record_reader import RecordReader
from core.storage.records import SHOWN_LOSSES, StoredScore
from core.storage.runs import Run
from core.training.online.trainer_spec import own_mode_of

WARM_UP = 1000
"""Candles that are not judged, if enough are left: the window of the reference."""
JUDGED_QUANTITIES = {"close": Quantity.CLOSE, "range": Quantity.RANGE}
ALSO_DRAWN = {
    "body": Quantity.BODY,
    "upper_wick": Quantity.UPPER_WICK,
    "lower_wick": Quantity.LOWER_WICK,
    "volume": Quantity.VOLUME,
}
"""Other quantities of ghosts: judged against the reference too, but without a verdict."""


class QuantityLosses:
    """Losses of one quantity in time order: of the combination, [n], and of each expert."""

    def __init__(
        self, shown: FloatArray, by_row: FloatArray, quantity: Quantity, experts: ExpertList = NO_CHALLENGERS
    ) -> None:
        """by_row: [n, ..], in the order of `ExpertList.loss_rows`."""
        self.shown = shown
        self.quantity = quantity
        self._by_row = by_row
        self.experts = experts

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def without_model(self) -> FloatArray:
        return self._by_row[:, 0]

    @property
    def without_challengers(self) -> FloatArray:
        """Of the combination of everything but the challengers."""
        return self._by_row[:, -1] if self.experts.challengers else self.shown

    @property
    def reference(self) -> FloatArray:
        return self.of(REFERENCE)

    def of(self, expert: int) -> FloatArray:
        lost: FloatArray = self._by_row[:, 1 + expert]
        return lost

    @property
    def means(self) -> dict[str, float]:
        """Mean loss of each expert that forecasts the quantity; empty without scores."""
        able = np.flatnonzero(self.experts.forecasts[:, self.quantity]).tolist() if len(self) else []
        return {self.experts.names[expert]: float(self.of(expert).mean()) for expert in able}

    @property
    def best_baseline(self) -> int | None:
        """The expert with the lowest loss that is no model; known in hindsight only. None without scores."""
        able = [expert for expert in range(len(EXPERTS)) if FORECASTS[expert, self.quantity] and expert != MODEL]
        return min(able, key=lambda expert: float(self.of(expert).mean())) if len(self) else None

    def where_shown(self) -> QuantityLosses:
        """Of the scores that have the combination's loss: older ones have none of some quantities."""
        known = np.isfinite(self.shown)
        return QuantityLosses(self.shown[known], self._by_row[known], self.quantity, self.experts)


@dataclass(frozen=True, slots=True)
class JudgedScores:
    """The scores of one horizon that count, in time order."""

    scores: list[StoredScore]
    losses: FloatArray
    """Losses of all experts [n, .., Q], in the order of `ExpertList.loss_rows`."""
    experts: ExpertList = NO_CHALLENGERS
    without_detail: int = 0
    """How many further ones would count, if their detail were still stored."""

    @property
    def target_open_time_ms(self) -> NDArray[np.int64]:
        """[n]"""
        return np.array([score.target_open_time_ms for score in self.scores], dtype=np.int64)

    def of(self, quantity: Quantity) -> QuantityLosses:
        shown = np.array([getattr(score, SHOWN_LOSSES[quantity]) for score in self.scores], dtype=np.float64)
        return QuantityLosses(shown, self.losses[:, :, quantity], quantity, self.experts)

    def model_and_reference_model(self) -> tuple[FloatArray, FloatArray]:
        """Losses of both, for close and range, of the scores that have both: [2, m] each."""
        rows = [
            (score.model_loss, score.range_model_loss, score.twin_loss, score.range_twin_loss)
            for score in self.scores
            if score.twin_loss is not None and score.range_twin_loss is not None
        ]
        losses = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        return losses[:2], losses[2:]


def left_out(opened: NDArray[np.int64]) -> int:
    """How many of the first candles do not count; none if too few would be left."""
    return WARM_UP if opened.size >= WARM_UP + FEWEST_FOR_AN_EDGE else 0


def judged_from(opened: NDArray[np.int64]) -> int:
    """The open time of the first target that counts."""
    return int(opened[left_out(opened)]) if opened.size else 0


def judged_from_nth(nth_origin: Callable[[int], int | None]) -> tuple[int, int]:
    """The same without reading all times, with the number of candles it leaves out. nth_origin: the open time of the
    candle of the n-th forecast, from 0; None if there are fewer."""
    left_out = 0 if nth_origin(WARM_UP + FEWEST_FOR_AN_EDGE - 1) is None else WARM_UP
    return nth_origin(left_out) or 0, left_out


def judged(reader: RecordReader, run: Run, horizon: int, from_ms: int, *, after_gap: bool = False) -> JudgedScores:
    """after_gap: instead, scores whose target comes after a gap or a session break, which count nowhere else."""
    experts = ExpertList(run.challengers)
    rows = len(experts.loss_rows)
    scores, losses, without_detail = [], [], 0
    for score in reader.scores(horizon=horizon):
        is_own = score.mode is own_mode_of(run.market) and score.after_gap == after_gap
        if not is_own or score.target_open_time_ms < from_ms:
            continue
        losses_by_expert = unpack_losses(score.expert_losses)
        if losses_by_expert is not None and len(losses_by_expert) == rows:
            scores.append(score)
            losses.append(losses_by_expert)
        elif score.version == 1:  # a corrected score never had it
            without_detail += 1
    stacked = np.stack(losses) if losses else np.empty((0, rows, len(Quantity)))
    return JudgedScores(scores, stacked, experts, without_detail)
