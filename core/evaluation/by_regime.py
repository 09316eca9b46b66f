"""Scores parted by the market's regime where each forecast was made: for `evaluate`, its report and the panels.

No torch. What a regime was is known before the forecast's target opens, so nothing is chosen in hindsight.
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
"""The name of the group of scores whose forecast was made before regimes were kept."""


@dataclass(frozen=True, slots=True)
class RegimeScores:
    """How the forecasts made in one regime came out. name: of `Regime`, or `UNKNOWN`. share: of all scores."""

    name: str
    n: int
    share: float
    skill_close: Estimate
    skill_range: Estimate
    coverage_90: Estimate
    direction: Estimate


def by_regime(scores: Sequence[StoredScore]) -> tuple[RegimeScores, ...]:
    """One row a regime, also where it has no score; then one of the scores whose regime is not known, if there are any.

    scores: of one horizon, in time order, those that count. Each counts for the likeliest regime at its origin.
    """
    groups: dict[str, list[StoredScore]] = {regime.value: [] for regime in Regime}
    for score in scores:
        name = UNKNOWN if score.regime is None else score.regime.likeliest.value
        groups.setdefault(name, []).append(score)
    return tuple(of_group(name, group, len(scores)) for name, group in groups.items())


def of_group(name: str, scores: Sequence[StoredScore], total: int) -> RegimeScores:
    """How these came out, of `total` scores.

    The bootstrap takes blocks of scores that follow each other in the group, though others lay between them.
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
