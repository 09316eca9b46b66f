import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.axes.price_scale import ManualRange, PriceRange, ScaleKind, fitted, percent_decimals, round_prices

prices = st.floats(1e-8, 1e9)


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


def test_steps_are_round() -> None:
    assert round_prices(PriceRange(19_642, 19_731), 5, 2) == [19_660.0, 19_680.0, 19_700.0, 19_720.0]
    # A quarter of the smallest unit is not a price: the step is 0.02, not 0.025 or 0.0125.
    assert round_prices(PriceRange(0.995, 1.045), 3, 2) == [1.0, 1.02, 1.04]


@given(prices, st.floats(1.0001, 1e4), st.sampled_from(list(ScaleKind)), prices)
def test_a_value_and_its_share_are_each_others_inverse(low: float, ratio: float, kind: ScaleKind, value: float) -> None:
    shown = PriceRange(low, low * ratio, kind, base=low)
    assert shown.share(shown.low) == pytest.approx(0.0, abs=1e-9)
    assert shown.share(shown.high) == pytest.approx(1.0)
    inside = low + (ratio - 1.0) * low * (value % 1.0)
    assert shown.value_at(shown.share(inside)) == pytest.approx(inside, rel=1e-9)
    assert shown.shares(np.array([inside]))[0] == pytest.approx(shown.share(inside), abs=1e-12)


@given(prices, st.floats(1.001, 1e3))
def test_a_logarithmic_scale_gives_equal_room_to_equal_ratios(low: float, ratio: float) -> None:
    shown = PriceRange(low, low * ratio**3, ScaleKind.LOG)
    assert shown.share(low * ratio) == pytest.approx(1 / 3)
    assert shown.share(low * ratio**2) == pytest.approx(2 / 3)


@given(prices, prices, st.sampled_from(list(ScaleKind)))
def test_fitted_prices_are_in_view(one: float, other: float, kind: ScaleKind) -> None:
    low, high = sorted((one, other))
    shown = fitted(low, high, kind, base=low)
    assert shown.low <= low and high <= shown.high and shown.low < shown.high
    assert kind is ScaleKind.LOG or high - low <= high * 1e-9 or shown.span <= (high - low) * 1.2
    assert shown.kind is not ScaleKind.LOG or shown.low > 0


def test_nothing_at_or_below_zero_gets_a_logarithm() -> None:
    assert fitted(-1.0, 5.0, ScaleKind.LOG).kind is ScaleKind.LINEAR
    assert fitted(0.0, 5.0, ScaleKind.LOG).kind is ScaleKind.LINEAR


def test_wide_logarithmic_ranges_are_marked_by_powers() -> None:
    shown = PriceRange(1.0, 10_000.0, ScaleKind.LOG)
    assert round_prices(shown, 5, 2) == [1.0, 10.0, 100.0, 1_000.0, 10_000.0]
    assert round_prices(shown, 13, 2)[:4] == [1.0, 2.0, 5.0, 10.0]
    assert len(round_prices(shown, 2, 2)) <= 2


@given(prices, st.floats(1e-4, 3.0), st.integers(1, 20))
def test_percent_marks_are_round_percentages(low: float, share: float, most: int) -> None:
    shown = PriceRange(low, low * (1 + share), ScaleKind.PERCENT, base=low * (1 + share / 3))
    found = round_prices(shown, most, 2)
    decimals = percent_decimals(shown)
    assert len(found) <= most + 1
    for price in found:
        percent = shown.percent(price)
        assert percent == pytest.approx(round(percent, decimals), abs=1e-6)


@given(prices, st.floats(1.01, 50.0), st.sampled_from(list(ScaleKind)), st.floats(0.1, 10.0))
def test_a_stretched_manual_range_keeps_its_middle(low: float, ratio: float, kind: ScaleKind, factor: float) -> None:
    held, grabbed = ManualRange(), PriceRange(low, low * ratio, kind)
    held.stretch(grabbed, factor)
    assert held.range is not None
    assert held.range.low < held.range.high
    if kind is ScaleKind.LOG or factor <= 1.0:
        assert grabbed.share(held.range.value_at(0.5)) == pytest.approx(0.5, abs=1e-6)


def test_a_moved_manual_range_keeps_its_span() -> None:
    held, grabbed = ManualRange(), PriceRange(100.0, 200.0)
    held.shift(grabbed, 0.25)
    assert held.range == PriceRange(75.0, 175.0)
    held.release()
    assert held.range is None


@given(
    prices,
    st.floats(1.01, 50.0),
    st.sampled_from(list(ScaleKind)),
    st.lists(st.tuples(st.booleans(), st.floats(-5.0, 5.0)), max_size=20),
)
def test_a_manual_range_stays_near_the_former_view(
    low: float, ratio: float, kind: ScaleKind, moves: list[tuple[bool, float]]
) -> None:
    held, origin = ManualRange(), PriceRange(low, low * ratio, kind)
    shown = origin
    for is_stretch, by in moves:
        if is_stretch:
            held.stretch(shown, 10.0**by)
        else:
            held.shift(shown, by)
        assert held.range is not None
        shown = held.range
        assert 0.0 <= shown.low < shown.high
        farthest = 1_000 * (origin.high if kind is ScaleKind.LOG else origin.span) + origin.high
        assert shown.high <= farthest * 1.001
        assert kind is not ScaleKind.LOG or shown.low >= origin.low / 1_001


def test_a_range_never_collapses() -> None:
    held, shown = ManualRange(), PriceRange(1.0, 1.000001)
    for _ in range(10):
        held.stretch(shown, 0.05)
        assert held.range is not None
        shown = held.range
    assert shown.span > 1e-9
