"""Volume by price conserves the volume."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.indicators.volume_profile import volume_by_price

CANDLES = st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(0.0, 50.0), st.floats(0.0, 1e6)), min_size=1, max_size=30)


@given(CANDLES, st.integers(1, 40))
def test_the_profile_holds_the_whole_volume_once(candles: list[tuple[float, float, float]], bars: int) -> None:
    low, span, volume = (np.array(column) for column in zip(*candles, strict=True))
    high = low + span
    edges = np.linspace(low.min() - 1.0, high.max() + 1.0, bars + 1)
    found = volume_by_price(low, high, volume, edges)
    assert found.shape == (bars,) and (found >= -1e-6).all()
    assert found.sum() == pytest.approx(volume.sum(), rel=1e-9, abs=1e-6)


@given(CANDLES, st.floats(1.0, 150.0), st.floats(0.1, 50.0))
def test_a_bar_holds_the_overlapping_share_of_each_candle(
    candles: list[tuple[float, float, float]], bottom: float, height: float
) -> None:
    """Against a plain loop."""
    top = bottom + height
    wanted = 0.0
    for low, span, volume in candles:
        if low + span > low:
            wanted += volume * max(0.0, min(low + span, top) - max(low, bottom)) / ((low + span) - low)
        else:
            wanted += volume * (bottom < low <= top)
    low, span, volume = (np.array(column) for column in zip(*candles, strict=True))
    (found,) = volume_by_price(low, low + span, volume, np.array([bottom, top]))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-3)
