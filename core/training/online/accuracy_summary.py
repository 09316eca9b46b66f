"""A run's accuracy: its figures over the newest scores, whether an edge is proven, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain.events import AccuracySummary, Estimate, ForecastGroup, ForecastMode
from core.domain.quantities import FloatArray
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF, FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import mean, newest_coverage, share
from core.storage.records import StoredScore

SCORE_WINDOW = 1000
"""Newest scores of each kind, as many as a ledger has and reads."""

GROUPS = {
    ForecastMode.LIVE: ForecastGroup.LIVE,
    ForecastMode.REPLAY: ForecastGroup.REPLAYED,
    ForecastMode.SIMULATED: ForecastGroup.SIMULATED,
    ForecastMode.CATCH_UP: ForecastGroup.CAUGHT_UP,
    ForecastMode.RECOVERY: ForecastGroup.CAUGHT_UP,
    ForecastMode.SEEN: ForecastGroup.SEEN,
}


def columns(scores: Sequence[StoredScore], *names: str) -> list[FloatArray]:
    return [np.array([getattr(score, name) for score in scores], dtype=np.float64) for name in names]


def accuracy_summary(
    scores: Sequence[StoredScore],
    group: ForecastGroup,
    scored: int,
    live_scored: int,
    model_weight: float | None,
    skills: tuple[Estimate, Estimate],
    gains: tuple[Estimate, Estimate, Estimate] | None,
) -> AccuracySummary:
    n = len(scores)
    directions = [score.direction_hit for score in scores if score.direction_hit is not None]
    overlaps, reference_overlaps = columns(scores, "overlap", "reference_overlap")
    accuracy = mean(overlaps)
    close, spread = skills
    return AccuracySummary(
        group=group,
        window=SCORE_WINDOW,
        scored=scored,
        live_scored=live_scored,
        direction=share(sum(directions), len(directions)),
        candle_accuracy=accuracy,
        reference_candle_accuracy=None if accuracy.value is None else float(reference_overlaps.mean()),
        coverage_50=share(sum(score.inside_50 for score in scores), n),
        coverage_90=share(sum(score.inside_90 for score in scores), n),
        skill_close=close,
        skill_range=spread,
        model_weight=model_weight,
        has_proven_edge=gains is not None and close.low is not None and close.low > 0.0,
        verdict=_verdict(close),
        model_gain=gains,
        newest_coverage_90=newest_coverage([score.inside_90 for score in scores]),
    )


def _verdict(close: Estimate) -> str:
    n = close.n
    if close.value is None and n >= FEWEST_FOR_AN_ESTIMATE:
        return f"Nothing to forecast: the close hardly ever moved, on {n:,} candles."
    if close.value is None:
        return f"Too early to tell: {n:,} scored candles."
    if close.low is None or close.high is None:
        return f"No proven edge yet: {n:,} of the {FEWEST_FOR_A_PROOF} scored candles that a proof needs."
    if close.low > 0.0:
        return f"Better than “no change”: the interval of the close skill lies above zero, on {n:,} candles."
    if close.high < 0.0:
        return f"Worse than “no change”: the interval of the close skill lies below zero, on {n:,} candles."
    return f"No proven edge: the interval of the close skill includes zero, on {n:,} candles."
