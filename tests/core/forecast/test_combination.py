"""The combined forecast of the close, over the candles ahead."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.domain.quantities import LEVELS, MEDIAN, QUANTITIES, FloatArray, Quantity
from core.forecast.combination import Combination
from tests.core.forecast.alone import ALONE

HORIZONS = 8
MOVES = arrays(np.float64, HORIZONS, elements=st.floats(-2.0, 2.0, allow_subnormal=False))


def combined(medians: FloatArray) -> FloatArray:
    """What is made of one expert that forecasts these medians of the close, and bands around them: [H, Q, L]."""
    around = np.broadcast_to(np.linspace(-1.5, 1.5, len(LEVELS)), (1, HORIZONS, 1, QUANTITIES, len(LEVELS)))
    around = around.copy()
    around[0, :, 0, Quantity.CLOSE] += medians[:, None]
    return Combination(np.ones((1, QUANTITIES)), HORIZONS, 1).predict(ALONE, around)[0]


def moves(quantiles: FloatArray) -> FloatArray:
    """How far the median close lies from the origin's, at each candle ahead."""
    ahead: FloatArray = np.sqrt(np.arange(1.0, HORIZONS + 1.0))
    return quantiles[:, Quantity.CLOSE, MEDIAN] * ahead


@given(MOVES)
def test_a_move_is_not_forecast_to_be_undone_until_it_turns(medians: FloatArray) -> None:
    before = medians * np.sqrt(np.arange(1.0, HORIZONS + 1.0))
    after = moves(combined(medians))
    assert after[0] == medians[0]
    assert (np.sign(after) == np.sign(medians)).all(), "nothing is forecast to turn that was not"
    same_side = after[1:] * after[:-1] > 0.0
    assert (np.abs(after[1:]) >= np.abs(after[:-1]) * (1.0 - 1e-12))[same_side].all()
    for ahead in range(1, HORIZONS):  # as far as the farthest since the last turn
        side = np.sign(before[ahead])
        turned = next((back for back in range(ahead, -1, -1) if np.sign(before[back]) != side), -1)
        farthest = np.abs(before[turned + 1 : ahead + 1]).max(initial=0.0)
        np.testing.assert_allclose(after[ahead], side * farthest, rtol=1e-12)


@given(MOVES)
def test_the_band_moves_with_its_median_and_the_other_quantities_stay(medians: FloatArray) -> None:
    found = combined(medians)
    widths = found - found[..., MEDIAN, None]
    np.testing.assert_allclose(widths, np.broadcast_to(np.linspace(-1.5, 1.5, len(LEVELS)), found.shape), atol=1e-12)
    others = [quantity for quantity in Quantity if quantity is not Quantity.CLOSE]
    assert (found[:, others, MEDIAN] == 0.0).all()
