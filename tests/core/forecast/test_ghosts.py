from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.domain.quantities import LEVELS, MEDIAN, QUANTITIES, Quantity, within_bounds
from core.forecast.ghosts import ghost_columns, ghosts, overlap
from tests.support.candles import MINUTE, START_MS

NATURAL = arrays(np.float64, (3, QUANTITIES, len(LEVELS)), elements=st.floats(-0.5, 0.5))


@settings(max_examples=100)
@given(raw=NATURAL, price=st.sampled_from([1e-8, 1.0, 1e9]))
def test_every_ghost_is_a_valid_candle(raw: np.ndarray, price: float) -> None:
    natural = within_bounds(np.sort(raw, axis=-1))
    natural[:, Quantity.RANGE] -= 5.0
    made = ghosts(natural, price, START_MS, MINUTE)
    opening = price
    for horizon, ghost in enumerate(made, start=1):
        assert ghost.open_time_ms == START_MS + horizon * 60_000
        assert ghost.open == opening
        assert ghost.high >= max(ghost.open, ghost.close) >= min(ghost.open, ghost.close) >= ghost.low > 0.0
        assert ghost.volume >= 0.0
        assert list(ghost.close_quantiles) == sorted(ghost.close_quantiles)
        assert ghost.close == pytest.approx(ghost.close_quantiles[MEDIAN])
        opening = ghost.close


def test_a_market_without_volume_gets_ghosts_of_zero_volume() -> None:
    natural = np.zeros((1, QUANTITIES, len(LEVELS)))
    natural[:, Quantity.VOLUME] = np.log(1e-13)
    assert ghosts(natural, 1.0, START_MS, MINUTE)[0].volume == 0.0


@pytest.mark.parametrize(
    ("upper", "lower", "above"),
    [(0.0, 0.0, 0.5), (0.0, 0.1, 0.45), (0.2, 0.0, 0.6), (0.4, 0.4, 0.5), (3.0, 1.0, 0.75), (0.0, 2.0, 0.0)],
)
def test_a_zero_median_wick_does_not_make_the_range_one_sided(upper: float, lower: float, above: float) -> None:
    """Wicks in shares of the range. Only where a wick alone is as long as all of it there is none on the other side."""
    natural = np.zeros((1, QUANTITIES, len(LEVELS)))
    natural[:, Quantity.RANGE] = np.log(0.01)
    natural[:, Quantity.UPPER_WICK], natural[:, Quantity.LOWER_WICK] = 0.01 * upper, 0.01 * lower
    (ghost,) = ghosts(natural, 100.0, START_MS, MINUTE)
    assert np.log(ghost.high / 100.0) == pytest.approx(0.01 * above)
    assert np.log(100.0 / ghost.low) == pytest.approx(0.01 * (1.0 - above))


@pytest.mark.parametrize(
    ("ghost", "real", "expected"),
    [
        ((1.0, 2.0), (1.0, 2.0), 1.0),
        ((1.0, 2.0), (3.0, 4.0), 0.0),
        ((1.0, 3.0), (2.0, 4.0), 1 / 3),
        ((1, 1), (1, 1), 1),
    ],
)
def test_overlap(ghost: tuple[float, float], real: tuple[float, float], expected: float) -> None:
    assert overlap(*np.array([*ghost, *real], dtype=np.float64)[:, None]) == pytest.approx(expected)


@settings(max_examples=100)
@given(raw=arrays(np.float64, (4, 3, QUANTITIES, len(LEVELS)), elements=st.floats(-0.5, 0.5)))
def test_columns_equal_the_ghosts_of_each_origin(raw: np.ndarray) -> None:
    natural = within_bounds(np.sort(raw, axis=-1))
    natural[:, :, Quantity.RANGE] -= 5.0
    closes = np.array([1e-8, 1.0, 19_700.25, 1e9])
    made = [ghosts(each, float(close), START_MS, MINUTE) for each, close in zip(natural, closes, strict=True)]
    for horizon in range(3):
        before = natural[:, horizon - 1, Quantity.CLOSE, MEDIAN] if horizon else np.zeros(len(closes))
        columns = ghost_columns(natural[:, horizon], before, closes)
        for origin, ahead in enumerate(made):
            for name in ("open", "high", "low", "close"):
                assert getattr(columns, name)[origin] == pytest.approx(getattr(ahead[horizon], name), rel=1e-12)
            np.testing.assert_allclose(columns.close_quantiles[origin], ahead[horizon].close_quantiles, rtol=1e-12)
