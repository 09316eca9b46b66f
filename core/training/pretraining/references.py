"""The references of a whole history at once: what `ReferenceForecast` said when each candle was the newest; and what
`BaselineExperts` gave the model to correct then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.forecast.baseline_experts import HAR_QUANTITIES, har_expectations
from core.forecast.baselines import (
    FEWEST_OUTCOMES,
    REFERENCE_WINDOW,
    normalised_outcomes,
    outcome_quantiles,
    without_hole,
)
from core.forecast.history import History
from core.forecast.quantities import LEVELS, QUANTITIES, FloatArray


def references_over_time(
    history: History, on_horizon_done: Callable[[int], None] = lambda horizon: None
) -> NDArray[np.float32]:
    """Normalised quantiles [candle, H, Q, L]; row t uses targets up to t and nothing later. Rows follow the history's.

    on_horizon_done: told after each horizon, for this takes a while. Twelve times faster than asking candle by candle.
    """
    count = len(history)
    references = np.empty((count, history.horizons, QUANTITIES, len(LEVELS)), dtype=np.float32)
    for horizon in range(1, history.horizons + 1):
        outcomes = normalised_outcomes(history, horizon, 0, count - horizon)
        is_whole = without_hole(history, horizon, 0, count - horizon)
        few = min(count, horizon + int(np.searchsorted(np.cumsum(is_whole), FEWEST_OUTCOMES)))
        for row in range(few):
            known = slice(0, max(0, row + 1 - horizon))
            references[row, horizon - 1] = outcome_quantiles(outcomes[known][is_whole[known]])
        outcomes[~is_whole] = np.nan  # which the rolling quantiles leave out
        references[few:, horizon - 1] = _rolling(outcomes)[few - horizon :]
        on_horizon_done(horizon)
    return references


def anchors_over_time(history: History, references: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the model is given to correct at each candle, as `BaselineExperts.anchors` gives it: [candle, H, Q, L].

    Row t uses targets up to t. The baselines must have observed the history's candles.
    """
    anchors, count = references.copy(), len(history)
    centre, spread = har_expectations(history.expected)
    for horizon in range(1, history.horizons + 1):
        known = np.flatnonzero(without_hole(history, horizon, 0, count - horizon))
        if known.size < FEWEST_OUTCOMES:
            continue
        now_centre, now_spread = centre[:, horizon - 1], spread[:, horizon - 1]
        outcomes = normalised_outcomes(history, horizon, 0, count - horizon)[:, HAR_QUANTITIES]
        errors = _rolling(((outcomes - now_centre[: len(outcomes)]) / now_spread[: len(outcomes)])[known])
        rows = np.arange(known[FEWEST_OUTCOMES - 1] + horizon, count)
        newest = np.searchsorted(known + horizon, rows, side="right") - 1
        said = now_centre[rows, :, None] + now_spread[rows, :, None] * errors[newest]
        anchors[rows[:, None], horizon - 1, HAR_QUANTITIES] = said
    return anchors


def _rolling(outcomes: FloatArray) -> FloatArray:
    """Quantiles of the newest outcomes up to each: [origin, Q, L]."""
    window = pd.DataFrame(outcomes).rolling(REFERENCE_WINDOW, min_periods=1)
    return np.stack([window.quantile(level).to_numpy() for level in LEVELS], axis=-1)
