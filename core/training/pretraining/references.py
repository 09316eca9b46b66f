"""The references of a whole history at once: what `ReferenceForecast` said when each candle was the newest; and what
`BaselineExperts` gave the model to correct then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.forecast.baselines import (
    FEWEST_OUTCOMES,
    REFERENCE_WINDOW,
    normalised_outcomes,
    outcome_quantiles,
    without_hole,
)
from core.forecast.history import History
from core.forecast.quantities import LEVELS, QUANTITIES, FloatArray, Quantity


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


def range_anchors_over_time(history: History, references: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the model is given of the range at each candle: [candle, H, L]; row t uses targets up to t.

    It is what `BaselineExperts.anchors` gives a session; all else the model corrects is the reference. The baselines
    must have observed the history's candles.
    """
    anchors = references[:, :, Quantity.RANGE].copy()
    count = len(history)
    for horizon in range(1, history.horizons + 1):
        outcomes = normalised_outcomes(history, horizon, 0, count - horizon)[:, Quantity.RANGE]
        known = np.flatnonzero(without_hole(history, horizon, 0, count - horizon))
        if known.size < FEWEST_OUTCOMES:
            continue
        quantiles = _rolling((outcomes - history.expected_range[: outcomes.size, horizon - 1])[known])
        rows = np.arange(known[FEWEST_OUTCOMES - 1] + horizon, count)
        newest = np.searchsorted(known + horizon, rows, side="right") - 1
        anchors[rows, horizon - 1] = history.expected_range[rows, horizon - 1, None] + quantiles[newest]
    return anchors


def _rolling(outcomes: FloatArray) -> FloatArray:
    """Quantiles of the newest outcomes up to each: [origin, Q] to [origin, Q, L], [origin] to [origin, L]."""
    window = pd.DataFrame(outcomes).rolling(REFERENCE_WINDOW, min_periods=1)
    quantiles = np.stack([window.quantile(level).to_numpy() for level in LEVELS], axis=-1)
    return quantiles.reshape(*outcomes.shape, len(LEVELS))
