"""Several runs judged as one: how good the forecasts of a whole universe of markets are. No torch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from core.domain.quantities import Quantity
from core.evaluation.details import compared, with_interval
from core.evaluation.judged_scores import (
    JUDGED_QUANTITIES,
    JudgedScores,
    QuantityLosses,
    ScoreColumns,
    judged,
    judged_from_nth,
    read_columns,
)
from core.evaluation.stored_evidence import StoredEvidence, anytime
from core.evaluation.summary import summarise
from core.forecast.experts import LOSS_ROWS
from core.forecast.score import LEAST_LOSS, NOMINAL_COVERAGE, mean
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore
from core.training.online.evidence import LossSums, pooled


def summarise_together(db: Database, runs: Mapping[str, Run], horizons: int) -> dict[str, Any]:
    """Plain data, fit for JSON: the summary of each market's run under its name, and "pooled", with the steps of their
    model. runs: all of one model. Raises StorageError."""
    found = {name: summarise(db, run) for name, run in runs.items()}
    head_id = next(iter(runs.values())).head_id
    heads = [of for of in found.values() if of["run_id"] == head_id]  # none if its market has left the model
    head = dict(heads[0] if heads else summarise(db, RunStore(db).get(head_id)))
    digests = "".join(each["forecasts_sha256"] for each in found.values())
    of_all = {
        **evaluate_pooled(db, list(runs.values()), horizons),
        "candles": sum(each["candles"] for each in found.values()),
        "scored": sum(each["scored"] for each in found.values()),
        **{name: head[name] for name in ("steps", "loss", "seed", "device", "checkpoints")},
        "forecasts_sha256": hashlib.sha256(digests.encode()).hexdigest(),
    }
    for each in found.values():  # the steps of the model are recorded with one of the markets
        del each["steps"], each["loss"]
    return {**found, "pooled": of_all}


def evaluate_pooled(db: Database, runs: Sequence[Run], horizons: int) -> dict[str, Any]:
    """Plain data, fit for JSON: the scores of all runs together, after each one's warm-up. Raises StorageError.

    Markets move together, so the scores of one target are averaged first and the intervals are of the averages.
    The figures under "anytime" are over all of the runs' own forecasts, and valid at every moment.
    """
    readers = [RecordReader(db, run.run_id) for run in runs]
    since_ms = [judged_from_nth(reader.nth_origin)[0] for reader in readers]

    def columns_at(horizon: int) -> list[ScoreColumns]:
        """The columns of one horizon at a time: all horizons of all markets may exceed memory."""
        return [read_columns(reader, run, [horizon])[horizon] for reader, run in zip(readers, runs, strict=True)]

    def scores(columns: Sequence[ScoreColumns]) -> list[JudgedScores]:
        return [judged(each, from_ms) for each, from_ms in zip(columns, since_ms, strict=True)]

    first = scores(columns_at(1))
    further = {str(horizon): _of_horizon(scores(columns_at(horizon)), horizon) for horizon in range(2, horizons + 1)}
    by_horizon = {"1": _of_horizon(first, 1), **further}
    return {
        "markets": len(runs),
        "judged": sum(map(len, first)),
        "without_detail": sum(those.without_detail for those in first),
        "pinball": by_horizon["1"],
        "horizons": by_horizon,
        "coverage": _coverage(first),
        "anytime": anytime(pooled_losses(readers, runs)),
    }


def pooled_losses(readers: Sequence[RecordReader], runs: Sequence[Run]) -> LossSums:
    """The losses of all of the runs' own forecasts as one. Raises StorageError."""
    pairs = zip(readers, runs, strict=True)
    return pooled([(run.market.interval.duration_ms, StoredEvidence(reader, run).read().own) for reader, run in pairs])


def _of_horizon(markets: Sequence[JudgedScores], horizon: int) -> dict[str, Any]:
    """The losses under "pinball", as in `evaluate_run`, in units of the reference's."""
    n = sum(map(len, markets))
    pools = {name: _pool(markets, quantity) for name, quantity in JUDGED_QUANTITIES.items()}
    return {name: {"n": n, **compared(pool, horizon)} for name, pool in pools.items()}


def _pool(markets: Sequence[JudgedScores], quantity: Quantity) -> QuantityLosses:
    """Means over all markets at each target, each market in units of its mean reference loss, so that a restless market
    counts no more than a calm one."""
    series = []
    for market in markets:
        if len(market):
            of = market.of(quantity)
            losses, scale = np.column_stack([of.by_row, of.shown]), float(of.reference.mean())
            series.append(losses / scale if scale > LEAST_LOSS else np.zeros_like(losses))
    if not series:
        return QuantityLosses(np.empty(0), np.empty((0, len(LOSS_ROWS))), quantity)
    times = np.concatenate([market["target_open_time_ms"] for market in markets])
    _, place, count = np.unique(times, return_inverse=True, return_counts=True)
    sums = np.zeros((count.size, series[0].shape[1]))
    np.add.at(sums, place, np.concatenate(series))
    means = sums / count[:, None]
    return QuantityLosses(means[:, -1], means[:, :-1], quantity)


def _coverage(markets: Sequence[JudgedScores]) -> dict[str, Any]:
    """Coverage of the close's 90 % band, one candle ahead: the mean over the targets of the share of markets inside."""
    inside, times = (
        np.concatenate([market[name] for market in markets]) for name in ("inside_90", "target_open_time_ms")
    )
    _, place, count = np.unique(times, return_inverse=True, return_counts=True)
    shares = np.bincount(place, weights=inside, minlength=count.size) / np.maximum(count, 1)
    return {"nominal": NOMINAL_COVERAGE, **with_interval("overall", mean(shares))}
