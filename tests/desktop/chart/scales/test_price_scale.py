from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.scales.price_scale import PriceRange, fitted, round_prices

prices = st.floats(1e-8, 1e9)


@given(prices, prices)
def test_what_is_fitted_is_in_view(one: float, other: float) -> None:
    low, high = sorted((one, other))
    shown = fitted(low, high)
    assert shown.low < shown.high
    assert shown.low <= low and high <= shown.high
    if high - low > high * 1e-9:
        assert shown.span <= (high - low) * 1.2


@given(prices, st.floats(1e-6, 1.0), st.integers(1, 30), st.integers(0, 10))
def test_round_prices_lie_in_the_range_and_are_not_too_many(low: float, share: float, most: int, decimals: int) -> None:
    shown = PriceRange(low, low * (1 + share))
    found = round_prices(shown, most, decimals)
    assert len(found) <= most + 1
    assert found == sorted(found)
    half_unit = 0.5 * 10.0**-decimals
    assert all(shown.low - half_unit <= price <= shown.high + half_unit for price in found)
    texts = [f"{price:.{decimals}f}" for price in found]
    assert len(set(texts)) == len(texts)


def test_steps_are_those_of_a_ruler() -> None:
    assert round_prices(PriceRange(19_642, 19_731), 5, 2) == [19_660.0, 19_680.0, 19_700.0, 19_720.0]
    # 0.25 of the smallest unit is no price: the step is 0.02, not 0.025 or 0.0125.
    assert round_prices(PriceRange(0.995, 1.045), 3, 2) == [1.0, 1.02, 1.04]
