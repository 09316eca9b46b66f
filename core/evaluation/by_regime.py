"""Scores by the market's regime at each forecast: for `evaluate`, its report and the panels.

No torch. The regime is known before the forecast's target opens, so nothing is chosen in hindsight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.events import Estimate
from core.domain.regimes import Regime
from core.forecast.score import share, skill
from core.storage.records import StoredScore

UNKNOWN = "unknown"
"""The group of scores whose forecast was made before regimes were stored."""


@dataclass(frozen=True, slots=True)
class RegimeScores:
    """Results of the forecasts made in one regime. name: of `Regime`, or `UNKNOWN`. share: of all scores."""

    name: str
    n: int
    share: float
    skill_close: Estimate
    skill_range: Estimate
    coverage_90: Estimate
    direction: Estimate


def by_regime(scores: Sequence[StoredScore]) -> tuple[RegimeScores, ...]:
    """One row per regime, even without scores; then one for scores of unknown regime, if there are any.

    scores: those that count, of one horizon, in time order. Each counts for the likeliest regime at its origin.
    """
    groups: dict[str, list[StoredScore]] = {regime.value: [] for regime in Regime}
    for score in scores:
        name = UNKNOWN if score.regime is None else score.regime.likeliest.value
        groups.setdefault(name, []).append(score)
    return tuple(of_group(name, group, len(scores)) for name, group in groups.items())


def of_group(name: str, scores: Sequence[StoredScore], total: int) -> RegimeScores:
    """Results of these scores, out of `total`.

    The bootstrap takes blocks of consecutive scores of the group, even if others lay between them.
    """
    losses = ("loss", "reference_loss", "range_loss", "range_reference_loss")
    close, close_reference, spread, spread_reference = (
        np.array([getattr(score, loss) for score in scores], dtype=np.float64) for loss in losses
    )
    hits = [score.direction_hit for score in scores if score.direction_hit is not None]
    n = len(scores)
    return RegimeScores(
        name=name,
        n=n,
        share=n / total if total else 0.0,
        skill_close=skill(close, close_reference),
        skill_range=skill(spread, spread_reference),
        coverage_90=share(sum(score.inside_90 for score in scores), n),
        direction=share(sum(hits), len(hits)),
    )
