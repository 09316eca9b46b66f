"""Details of `evaluate` in addition to its summary: every expert, horizon and regime, coverage over time; and, for its
report, the series behind them. No torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.evaluation.assess import directions, extremes, shares_below
from core.evaluation.findings import TouchAccuracy
from core.evaluation.insides import inside_data
from core.evaluation.judged_scores import (
    ALSO_DRAWN,
    JUDGED_QUANTITIES,
    JudgedScores,
    Origins,
    QuantityLosses,
    judged,
    judged_from_nth,
    read_columns,
)
from core.evaluation.next_regime import next_regime
from core.evaluation.paper import TRADE_COST, PaperScore, paper_score_of
from core.evaluation.stored_evidence import StoredEvidence, anytime
from core.evaluation.touches import assess_touches, read_touches
from core.evaluation.watched import watched
from core.forecast.experts import EXPERTS, MODEL, REFERENCE
from core.forecast.score import NOMINAL_COVERAGE, diebold_mariano, gain, share_of, skill
from core.storage.record_reader import RecordReader
from core.storage.rows import REGIME_COLUMNS
from core.storage.runs import Run, challenger_figures
from core.training.online.score_ledger import skill_of_both
from core.training.online.touched import MULTIPLES, joined

_BASIS_POINT = 1e-4
_DRIFT_COLUMNS = ("candle_open_time_ms", "step", "candles", "loss_before", "loss_after", "what_was_done")
UNKNOWN = "unknown"
"""The group of scores whose forecast was made before regimes were stored."""


def evaluate_run(db: Database, run: Run, horizons: int, trade_cost: float = TRADE_COST) -> dict[str, Any]:
    """Plain data, fit for JSON: the scores of the run's own forecasts after the warm-up. Raises StorageError.

    trade_cost: of the paper score, as a share of a trade's value.
    """
    reader = RecordReader(db, run.run_id)
    opened, closes, made_at_ms = reader.origins()
    from_ms, left_out = judged_from_nth(reader.nth_origin)
    touches = joined(list(read_touches(db, run, from_ms)))
    columns = read_columns(reader, run, range(1, horizons + 1))
    by_horizon = {horizon: judged(those, from_ms) for horizon, those in columns.items()}
    first, close = by_horizon[1], by_horizon[1].of(Quantity.CLOSE)
    after_gap = judged(columns[1], from_ms, after_gap=True)  # in no other figure
    evidence = StoredEvidence(reader, run).read()
    work: dict[str, Any] = {}
    if run.challengers:
        of = challenger_figures(db, run.head_id)
        work = {
            "challenger_ms": {name: figures.cost_ms for name, figures in of.items()},
            "challenger_answered": {name: figures.answered for name, figures in of.items()},
        }
    took_s = float(made_at_ms[-1] - made_at_ms[0]) / 1000.0 if made_at_ms.size else 0.0
    return {
        "interval": str(run.market.interval),
        "judged": len(first),
        "left_out": left_out,
        "without_detail": first.without_detail,
        "pinball": _pinball(first, 1),
        "horizons": {str(horizon): _pinball(those, horizon) for horizon, those in by_horizon.items()},
        "regimes": by_regime(first),
        "next_regime": next_regime(reader, run.market.interval.duration_ms, first["target_open_time_ms"]),
        "inside": inside_data(db, run, reader),
        "after_gap": _of_group(after_gap, len(first) + len(after_gap)),
        "online": _online(first, run),
        "anytime": anytime(evidence.own),
        "watched": watched(columns, Origins(opened, closes), evidence),
        "drifts": [{name: getattr(drift, name) for name in _DRIFT_COLUMNS} for drift in reader.drifts()],
        "direction": _direction(first, Origins(opened, closes)),
        "coverage": _coverage(first["inside_90"]),
        "diebold_mariano_p": diebold_mariano(close.shown, close.reference),
        "touched": {
            "multiples": MULTIPLES.tolist(),
            "within": {str(within): _touched(assess_touches(of, within)) for within, of in touches.items()},
        },
        "paper": _paper(paper_score_of(reader, run, from_ms, trade_cost)),
        "candles_per_s": (made_at_ms.size - 1) / took_s if took_s > 0.0 else None,
        **work,
    }


def with_interval(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: estimate.value, f"{name}_ci95": estimate.ci95}


def _pinball(those: JudgedScores, horizon: int) -> dict[str, Any]:
    online = zip(*those.model_and_reference_model(), strict=True)
    found = {}
    for (name, quantity), (model, frozen) in zip(JUDGED_QUANTITIES.items(), online, strict=True):
        gained = skill(model, frozen, horizon)  # n: candles that both forecast
        found[name] = {
            **_pinball_of(those.of(quantity), horizon),
            **with_interval("online_gain", gained),
            "online_gain_n": gained.n,
        }
    also = {name: _pinball_of(those.of(quantity).where_shown(), horizon) for name, quantity in ALSO_DRAWN.items()}
    return found | also


def _online(first: JudgedScores, run: Run) -> dict[str, Any]:
    """The model's gain over the reference model, of close and range in equal parts, one candle ahead."""
    model, frozen = first.model_and_reference_model()
    both = skill_of_both([*model], [*frozen])
    twin_age = json.loads(run.settings_json).get("online", {}).get("twin_age", 0)
    return {"gain": both.value, "ci95": both.ci95, "n": both.n, "twin_age": twin_age}


def _pinball_of(of: QuantityLosses, horizon: int) -> dict[str, Any]:
    """Mean losses and their comparison; all None without judged scores."""
    means, best = of.means, of.best_baseline
    in_quarters = zip(np.array_split(of.shown, 4), np.array_split(of.reference, 4), strict=True)  # in time order
    quarters = [skill(loss, against, horizon) for loss, against in in_quarters]
    return {
        "n": len(of),
        "combination": _mean(of.shown),
        "model": means.get(EXPERTS[MODEL]),
        "reference": means.get(EXPERTS[REFERENCE]),
        "best_baseline": None if best is None else means[EXPERTS[best]],
        **compared(of, horizon),
        "skill_of_quarters": [quarter.value for quarter in quarters],
        "skill_of_quarters_ci95": [quarter.ci95 for quarter in quarters],
        "n_of_quarters": [quarter.n for quarter in quarters],
        "experts": means,
        **(_challengers(of, horizon) if of.experts.challengers else {}),
    }


def compared(of: QuantityLosses, horizon: int) -> dict[str, Any]:
    """The combination against the reference, the best baseline and itself without the model."""
    best = of.best_baseline
    against_best = skill(of.shown, of.of(REFERENCE if best is None else best), horizon)
    return {
        "best_baseline_name": None if best is None else EXPERTS[best],
        **with_interval("skill", skill(of.shown, of.reference, horizon)),
        **with_interval("skill_vs_best", against_best),
        "skill_without_model": skill(of.without_model, of.reference).value,
        **with_interval("model_gain", gain(of.shown, of.without_model, of.reference, horizon)),
    }


def _challengers(of: QuantityLosses, horizon: int) -> dict[str, Any]:
    """Gains of all challengers together and of each alone: against the reference, and against the model."""
    added = gain(of.shown, of.without_challengers, of.reference, horizon)
    alone = {
        name: {
            "loss": _mean(own := of.of(place)),
            **with_interval("skill", skill(own, of.reference, horizon)),
            **with_interval("skill_vs_model", skill(own, of.of(MODEL), horizon)),
        }
        for place, name in of.experts.placed_challengers
    }
    return with_interval("challengers_gain", added) | {"challengers": alone}


def _direction(those: JudgedScores, origins: Origins) -> dict[str, Any]:
    """Direction hits, without candles that closed flat. majority: the more frequent direction, known in hindsight
    only."""
    accuracy, reverse_last, majority = (share_of(each, 1) for each in directions(those, origins, 1))
    return {
        "accuracy": accuracy.value,
        "ci95": accuracy.ci95,
        "n": accuracy.n,
        "reverse_last": reverse_last.value,
        "reverse_last_n": reverse_last.n,
        "majority": majority.value,
        "majority_n": majority.n,
    }


def _coverage(inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Coverage of the close's 90 % band; worst and best over every 500 consecutive candles, None if there are fewer."""
    worst, best = extremes(inside)
    return {
        "nominal": NOMINAL_COVERAGE,
        **with_interval("overall", share_of(inside, 1)),
        "worst_500": worst,
        "best_500": best,
    }


def _touched(found: TouchAccuracy) -> dict[str, Any]:
    return {
        "n": found.n,
        "brier": found.brier,
        "brownian": found.brownian,
        "climatology": found.climatology,
        **with_interval("skill", found.skill),
        **with_interval("skill_vs_climatology", found.skill_vs_climatology),
        "reliability": [
            {"cases": tenth.cases, "chance": tenth.chance, **with_interval("observed", tenth.observed)}
            for tenth in found.reliability
        ],
    }


def _paper(score: PaperScore) -> dict[str, Any]:
    """Costs and returns in basis points."""
    return {
        "n": score.n,
        **with_interval("break_even_bp", _estimate_in_bp(score.break_even)),
        "cost_bp": score.cost / _BASIS_POINT,
        **with_interval("net_bp", _estimate_in_bp(score.net)),
        "net_total_bp": _in_bp(score.net_total),
        "drawdown_bp": _in_bp(score.drawdown),
        "trades_per_candle": score.turnover,
        "time_in_market": score.time_in_market,
    }


def _estimate_in_bp(of: Estimate) -> Estimate:
    return Estimate(_in_bp(of.value), _in_bp(of.low), _in_bp(of.high), of.n)


def _in_bp(value: float | None) -> float | None:
    return None if value is None else value / _BASIS_POINT


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if values.size else None


def by_regime(those: JudgedScores) -> dict[str, dict[str, Any]]:
    """One candle ahead, of each regime, even without scores; then of an unknown regime, if there are any. Each score
    counts for the likeliest regime at its origin."""
    regimes = those["regime"]
    groups = {name: those.where(regimes == place) for place, name in enumerate(REGIME_COLUMNS)}
    if bool((regimes < 0).any()):
        groups[UNKNOWN] = those.where(regimes < 0)
    return {name: _of_group(group, len(those)) for name, group in groups.items()}


def _of_group(those: JudgedScores, total: int) -> dict[str, Any]:
    """Results of these scores, out of `total`.

    The bootstrap takes blocks of consecutive scores of the group, even if others lay between them.
    """
    close, spread, hits = those.of(Quantity.CLOSE), those.of(Quantity.RANGE), those["direction_hit"]
    direction = share_of(hits[hits >= 0] == 1, 1)
    return {
        "n": len(those),
        "share": len(those) / total if total else 0.0,
        "close": with_interval("skill", skill(close.shown, close.reference)),
        "range": with_interval("skill", skill(spread.shown, spread.reference)),
        **with_interval("coverage_90", share_of(those["inside_90"], 1)),
        **with_interval("direction", direction),
        "direction_n": direction.n,
    }


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The judged forecasts of a run, one candle ahead, in time order: n of them.

    target_open_time_ms, inside_90: [n]. losses: by "close" and "range".
    """

    target_open_time_ms: NDArray[np.int64]
    inside_90: NDArray[np.bool_]
    losses: dict[str, QuantityLosses]
    reliability: dict[int, tuple[Estimate, ...]]
    """For the nearest and the farthest horizon: the share of closes at or below each quantile shown for them, by
    level."""


def timeline_of(db: Database, run: Run, horizons: int) -> Timeline:
    """The scores that `evaluate_run` judges. Raises StorageError."""
    reader = RecordReader(db, run.run_id)
    origins, (from_ms, _) = Origins(*reader.origins()[:2]), judged_from_nth(reader.nth_origin)
    columns = read_columns(reader, run, sorted({1, horizons}))
    by_horizon = {horizon: judged(those, from_ms) for horizon, those in columns.items()}
    first = by_horizon[1]
    return Timeline(
        target_open_time_ms=first["target_open_time_ms"],
        inside_90=first["inside_90"],
        losses={name: first.of(quantity) for name, quantity in JUDGED_QUANTITIES.items()},
        reliability={horizon: shares_below(those, origins, horizon) for horizon, those in by_horizon.items()},
    )
