"""What a run's accuracy can hold, for the panels' tests."""

from __future__ import annotations

from core.domain.regimes import Regime
from core.evaluation.assess import assess, skill_at
from core.evaluation.findings import AFTER_GAP, OVERALL, Request, RunAccuracy
from core.evaluation.touches import assess_touches
from tests.core.evaluation.rigs import every, filled, origins, scored, touches


def found(n: int, horizons: int = 2) -> RunAccuracy:
    """Of `n` candles up to so many candles ahead, for the second of these."""
    those = every(filled(scored(n)))
    return RunAccuracy(
        run_id="made up",
        left_out=0,
        most=n,
        is_whole=True,
        groups=(OVERALL, *map(str, Regime), AFTER_GAP),
        horizons=tuple(skill_at(those, horizon) for horizon in range(1, horizons + 1)),
        chosen=assess(those, origins(n), Request(2)),
        touched=assess_touches(touches(n), 3),
    )
