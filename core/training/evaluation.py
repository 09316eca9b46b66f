"""What `evaluate` says of a whole run beside its summary: every expert, every horizon, coverage over time. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.events import Estimate
from core.forecast.experts import EXPERTS, LOSS_ROWS, MODEL, REFERENCE, SPEAKS, unpack_losses
from core.forecast.quantities import FloatArray, Quantity
from core.forecast.score import FEWEST_FOR_AN_EDGE, diebold_mariano, gain, rolling_shares, share, skill
from core.storage.reader import RecordReader
from core.storage.records import StoredScore
from core.storage.runs import Run
from core.training.spec import own_mode_of

WARM_UP = 1000
"""Candles that are not judged, where enough are left: as many as the reference looks back on."""
_COVERAGE_WINDOW = 500
_NOMINAL = 0.9
_ROW = {name: row for row, name in enumerate(LOSS_ROWS)}
_QUANTITIES = {"close": Quantity.CLOSE, "range": Quantity.RANGE}


@dataclass(frozen=True, slots=True)
class _Judged:
    """The scores of one horizon that count, in time order."""

    scores: list[StoredScore]
    losses: FloatArray
    """Everyone's [n, len(LOSS_ROWS), Q]."""

    def shown(self, quantity: Quantity) -> FloatArray:
        """Losses of the combination: [n]."""
        name = "loss" if quantity is Quantity.CLOSE else "range_loss"
        return np.array([getattr(score, name) for score in self.scores], dtype=np.float64)

    def lost_by(self, expert: int, quantity: Quantity) -> FloatArray:
        return self.losses[:, _ROW[EXPERTS[expert]], quantity]

    def lost_without_model(self, quantity: Quantity) -> FloatArray:
        return self.losses[:, 0, quantity]


def evaluate_run(db: Database, run: Run, horizons: int) -> dict[str, Any]:
    """Plain data, fit for JSON: the scores of the run's own forecasts after the warm-up. Raises StorageError."""
    reader = RecordReader(db, run.run_id)
    opened, closes, made_at_ms = reader.origins()
    judged_from_ms = _judged_from(opened)
    by_horizon = {horizon: _judged(reader, run, horizon, judged_from_ms) for horizon in range(1, horizons + 1)}
    first = by_horizon[1]
    return {
        "interval": str(run.market.interval),
        "judged": len(first.scores),
        "pinball": _pinball(first),
        "horizons": {str(horizon): _pinball(judged) for horizon, judged in by_horizon.items()},
        "direction": _direction(first.scores, opened, closes),
        "coverage": _coverage(first.scores),
        "diebold_mariano_p": diebold_mariano(first.shown(Quantity.CLOSE), first.lost_by(REFERENCE, Quantity.CLOSE)),
        "candles_per_s": _rate(made_at_ms),
    }


def _judged_from(opened: NDArray[np.int64]) -> int:
    """The first target's opening time that counts; all do where too few would be left."""
    has_warm_up = opened.size >= WARM_UP + FEWEST_FOR_AN_EDGE
    return int(opened[WARM_UP]) if has_warm_up else int(opened[0]) if opened.size else 0


def _judged(reader: RecordReader, run: Run, horizon: int, from_ms: int) -> _Judged:
    scores, losses = [], []
    for score in reader.scores(horizon=horizon):
        everyone = unpack_losses(score.expert_losses)
        is_own = score.mode is own_mode_of(run.market) and not score.after_gap
        if is_own and everyone is not None and score.target_open_time_ms >= from_ms:
            scores.append(score)
            losses.append(everyone)
    shape = (0, len(LOSS_ROWS), len(Quantity))
    return _Judged(scores, np.stack(losses) if losses else np.empty(shape))


def _pinball(judged: _Judged) -> dict[str, Any]:
    return {name: _pinball_of(judged, quantity) for name, quantity in _QUANTITIES.items()}


def _pinball_of(judged: _Judged, quantity: Quantity) -> dict[str, Any]:
    """Mean losses, and what they say of each other; all None where nothing was judged."""
    shown, reference = judged.shown(quantity), judged.lost_by(REFERENCE, quantity)
    without = judged.lost_without_model(quantity)
    means = {
        EXPERTS[expert]: _mean(judged.lost_by(expert, quantity))
        for expert in range(len(EXPERTS))
        if SPEAKS[expert, quantity]
    }
    baselines = {name: mean for name, mean in means.items() if name != EXPERTS[MODEL] and mean is not None}
    best = min(baselines, key=lambda name: baselines[name], default=None)
    best_losses = reference if best is None else judged.losses[:, _ROW[best], quantity]
    overall, spared = skill(shown, reference), gain(shown, without, reference)
    return {
        "combination": _mean(shown),
        "model": means[EXPERTS[MODEL]],
        "reference": means[EXPERTS[REFERENCE]],
        "best_baseline": None if best is None else baselines[best],
        "best_baseline_name": best,
        "skill": overall.value,
        "skill_ci95": _interval(overall),
        "skill_vs_best": skill(shown, best_losses).value,
        "skill_without_model": skill(without, reference).value,
        "model_gain": spared.value,
        "model_gain_ci95": _interval(spared),
        "skill_of_quarters": _of_quarters(shown, reference),
        "experts": means,
    }


def _of_quarters(shown: FloatArray, reference: FloatArray) -> list[float | None]:
    """The skill of each quarter of the candles, in time order."""
    quarters = zip(np.array_split(shown, 4), np.array_split(reference, 4), strict=True)
    return [skill(loss, against).value for loss, against in quarters]


def _direction(scores: list[StoredScore], opened: NDArray[np.int64], closes: FloatArray) -> dict[str, Any]:
    """Without candles that closed flat. majority: of the direction that was more frequent, known in hindsight only."""
    hits = [score.direction_hit for score in scores if score.direction_hit is not None]
    accuracy = share(sum(hits), len(hits))
    rows = np.searchsorted(opened, [score.target_open_time_ms for score in scores if score.direction_hit is not None])
    rows = rows[(rows >= 2) & (rows < opened.size)]
    moves = np.sign(np.diff(np.log(closes))) if closes.size else np.empty(0)
    came, before = moves[rows - 1], moves[rows - 2]
    moved = before != 0.0
    return {
        "accuracy": accuracy.value,
        "ci95": _interval(accuracy),
        "n": accuracy.n,
        "reverse_last": share(int((came[moved] == -before[moved]).sum()), int(moved.sum())).value,
        "majority": share(int(max((came > 0.0).sum(), (came < 0.0).sum())), int(came.size)).value,
    }


def _coverage(scores: list[StoredScore]) -> dict[str, Any]:
    """Of the 90 % band of the close; worst and best over every 500 candles in a row, None where there are fewer."""
    inside = np.array([score.inside_90 for score in scores], dtype=np.bool_)
    windows = rolling_shares(inside, _COVERAGE_WINDOW)
    return {
        "nominal": _NOMINAL,
        "overall": share(int(inside.sum()), inside.size).value,
        "worst_500": float(windows.min()) if windows.size else None,
        "best_500": float(windows.max()) if windows.size else None,
    }


def _rate(made_at_ms: NDArray[np.int64]) -> float | None:
    """Candles a second from the first forecast to the last; None where they took no time."""
    took_s = float(made_at_ms[-1] - made_at_ms[0]) / 1000.0 if made_at_ms.size else 0.0
    return (made_at_ms.size - 1) / took_s if took_s > 0.0 else None


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if values.size else None


def _interval(estimate: Estimate) -> list[float] | None:
    return None if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]
