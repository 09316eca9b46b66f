"""Several runs judged as one: how good the forecasts of a whole universe of markets are. No torch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from core.domain.quantities import FloatArray, Quantity
from core.evaluation.details import verdicts, with_interval
from core.evaluation.judged_scores import JUDGED_QUANTITIES, JudgedScores, judged, judged_from
from core.evaluation.summary import summarise
from core.forecast.experts import EXPERTS, FORECASTS, LOSS_ROWS, MODEL, REFERENCE
from core.forecast.score import NOMINAL_COVERAGE, gain, mean, skill
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore

_SHOWN = -1
"""The column of the combination, after those of `ExpertList.loss_rows`."""


@dataclass(frozen=True, slots=True)
class _Pool:
    """One series of losses of all markets, in time order."""

    losses: FloatArray
    """[times, loss rows and the combination]: at each target the mean over the markets, each in units of its mean
    reference loss, so that a restless market counts no more than a calm one."""
    n: int
    """Scores of all markets."""


def summarise_together(db: Database, runs: Mapping[str, Run], horizons: int) -> dict[str, Any]:
    """Plain data, fit for JSON: the summary of each market's run under its name, and "pooled", with the steps of their
    model. runs: those of one model. Raises StorageError."""
    found = {name: summarise(db, run) for name, run in runs.items()}
    head_id = next(iter(runs.values())).head_id
    heads = [of for of in found.values() if of["run_id"] == head_id]  # none if its market has left the model
    head = dict(heads[0] if heads else summarise(db, RunStore(db).get(head_id)))
    digests = "".join(each["forecasts_sha256"] for each in found.values())
    pooled = {
        **evaluate_pooled(db, list(runs.values()), horizons),
        "candles": sum(each["candles"] for each in found.values()),
        "scored": sum(each["scored"] for each in found.values()),
        **{name: head[name] for name in ("steps", "loss", "seed", "device", "checkpoints")},
        "forecasts_sha256": hashlib.sha256(digests.encode()).hexdigest(),
    }
    for each in found.values():  # the steps of the model are recorded with one of the markets
        del each["steps"], each["loss"]
    return {**found, "pooled": pooled}


def evaluate_pooled(db: Database, runs: Sequence[Run], horizons: int) -> dict[str, Any]:
    """Plain data, fit for JSON: the scores of all runs together, after each one's warm-up. Raises StorageError.

    Markets move together, so the scores of one target are averaged first and the intervals are those of the averages.
    Those under "anytime" count all of the runs' own forecasts whose detail is stored, and are valid at every moment
    until older detail is deleted.
    """
    readers = [RecordReader(db, run.run_id) for run in runs]
    since_ms = [judged_from(reader.origins()[0]) for reader in readers]

    def scores(horizon: int) -> list[JudgedScores]:
        parts = zip(readers, runs, since_ms, strict=True)
        return [judged(reader, run, horizon, from_ms) for reader, run, from_ms in parts]

    first = scores(1)
    further = {str(horizon): _of_horizon(scores(horizon), horizon) for horizon in range(2, horizons + 1)}
    by_horizon = {"1": _of_horizon(first, 1), **further}
    return {
        "markets": len(runs),
        "judged": sum(len(those.scores) for those in first),
        "without_detail": sum(those.without_detail for those in first),
        "pinball": by_horizon["1"],
        "horizons": by_horizon,
        "coverage": _coverage(first),
        "anytime": _anytime([judged(reader, run, 1, 0) for reader, run in zip(readers, runs, strict=True)]),
    }


def _anytime(markets: Sequence[JudgedScores]) -> dict[str, Any]:
    """As in `evaluate_run`; n: targets."""
    pools = {name: _pool([each for each in markets if each.scores], of) for name, of in JUDGED_QUANTITIES.items()}
    found: dict[str, Any] = {"n": max(len(pool.losses) for pool in pools.values())}
    is_whole = not any(each.without_detail for each in markets)
    for name, pool in pools.items():
        shown, without, reference = pool.losses[:, _SHOWN], pool.losses[:, 0], pool.losses[:, 1 + REFERENCE]
        found |= verdicts(name, shown, without, reference, is_whole=is_whole)
    return found


def _of_horizon(markets: Sequence[JudgedScores], horizon: int) -> dict[str, Any]:
    scored = [each for each in markets if each.scores]
    return {name: _pinball(_pool(scored, of), of, horizon) for name, of in JUDGED_QUANTITIES.items()}


def _pool(markets: Sequence[JudgedScores], quantity: Quantity) -> _Pool:
    series = [_in_units(market, quantity) for market in markets]
    if not series:
        return _Pool(np.empty((0, len(LOSS_ROWS) + 1)), 0)
    times = np.concatenate([market.target_open_time_ms for market in markets])
    _, place, count = np.unique(times, return_inverse=True, return_counts=True)
    sums = np.zeros((count.size, series[0].shape[1]))
    np.add.at(sums, place, np.concatenate(series))
    return _Pool(sums / count[:, None], times.size)


def _in_units(market: JudgedScores, quantity: Quantity) -> FloatArray:
    losses = np.column_stack([market.losses[:, :, quantity], market.shown(quantity)])
    scale = float(market.losses_of(REFERENCE, quantity).mean())
    return losses / scale if scale > 0.0 else losses


def _pinball(pool: _Pool, quantity: Quantity, horizon: int) -> dict[str, Any]:
    """As in `evaluate_run`; losses in units of the reference's. All None without judged scores."""
    shown, without = pool.losses[:, _SHOWN], pool.losses[:, 0]
    reference, best = pool.losses[:, 1 + REFERENCE], _best_baseline(pool, quantity)
    overall, model_gain = skill(shown, reference, horizon), gain(shown, without, reference, horizon)
    against_best = skill(shown, pool.losses[:, 1 + best], horizon)
    return {
        "n": pool.n,
        "best_baseline_name": EXPERTS[best] if pool.n else None,
        **with_interval("skill", overall),
        **with_interval("skill_vs_best", against_best),
        "skill_without_model": skill(without, reference).value,
        **with_interval("model_gain", model_gain),
    }


def _best_baseline(pool: _Pool, quantity: Quantity) -> int:
    """The expert, other than the model, with the lowest pooled loss; known in hindsight only."""
    able = [expert for expert in range(len(EXPERTS)) if FORECASTS[expert, quantity] and expert != MODEL]
    return min(able, key=lambda expert: float(pool.losses[:, 1 + expert].sum()))


def _coverage(markets: Sequence[JudgedScores]) -> dict[str, Any]:
    """Of the 90 % band of the close, one candle ahead: the mean over the targets of the share of markets inside."""
    inside = [np.array([score.inside_90 for score in market.scores], dtype=np.float64) for market in markets]
    times = [market.target_open_time_ms for market in markets]
    _, place, count = np.unique(np.concatenate(times), return_inverse=True, return_counts=True)
    shares = np.bincount(place, weights=np.concatenate(inside), minlength=count.size) / np.maximum(count, 1)
    return {"nominal": NOMINAL_COVERAGE, **with_interval("overall", mean(shares))}
