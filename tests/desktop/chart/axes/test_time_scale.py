import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.axes.time_scale import TimeScale
from tests.desktop.chart.support import x_of

counts = st.integers(3, 5_000)
widths = st.floats(200, 4_000)


@st.composite
def scales(draw: st.DrawFn) -> TimeScale:
    """A scale after some use."""
    scale = TimeScale(draw(st.floats(2, 20)))
    scale.set_width(draw(widths))
    scale.set_count(draw(counts))
    for _ in range(draw(st.integers(0, 4))):
        scale.zoom_at(draw(st.floats(0.3, 3.0)), draw(st.floats(0, scale.width)))
        scale.pan_to(draw(st.floats(-100, 6_000)))
    return scale


@given(scales())
def test_the_visible_slice_is_what_a_brute_force_finds(scale: TimeScale) -> None:
    inside = [index for index in range(scale.count) if index + 0.5 > scale.left and index - 0.5 < scale.right]
    first, stop = scale.visible()
    assert list(range(first, stop)) == inside


@given(scales())
def test_some_candles_always_stay_in_view(scale: TimeScale) -> None:
    first, stop = scale.visible()
    has_room_for = int(scale.width / scale.spacing)
    assert stop - first >= min(3, scale.count, has_room_for)


@given(scales(), st.floats(0.5, 2.0), st.floats(0.0, 1.0))
def test_zooming_keeps_the_index_under_the_cursor(scale: TimeScale, factor: float, share: float) -> None:
    x = share * scale.width
    index, before = scale.index_at(x), scale.right
    scale.zoom_at(factor, x)
    page = scale.width / scale.spacing
    kept = min(3, scale.count, int(page))
    rightmost = scale.count - kept + page
    is_held_back = math.isclose(scale.right, rightmost) or math.isclose(scale.right, kept - 1.0)
    assert is_held_back or scale.index_at(x) == pytest.approx(index, abs=1e-6 * max(1, abs(before)))


@given(scales(), st.integers(1, 50))
def test_new_candles_are_followed_only_when_the_newest_was_in_view(scale: TimeScale, added: int) -> None:
    was_in_view, right, spacing = scale.is_newest_in_view, scale.right, scale.spacing
    scale.set_count(scale.count + added)
    assert scale.spacing == spacing
    assert scale.right == pytest.approx(right + added if was_in_view else right)


@given(scales(), st.integers(1, 50))
def test_nothing_moves_while_the_plot_is_held(scale: TimeScale, added: int) -> None:
    scale.pan_to(scale.right)
    right = scale.right
    scale.set_count(scale.count + added, may_follow=False)
    assert scale.right == right


@given(scales(), st.integers(1, 50))
def test_candles_inserted_before_the_view_leave_the_same_candles_in_it(scale: TimeScale, inserted: int) -> None:
    scale.pan_to(scale.right)
    newest_x, oldest_right = x_of(scale, scale.count - 1), scale.right
    scale.set_count(scale.count + inserted, inserted)
    assert x_of(scale, scale.count - 1) == pytest.approx(newest_x, abs=1e-6)
    assert scale.right == pytest.approx(oldest_right + inserted)


@given(widths, widths, counts)
def test_a_resting_view_stays_resting_at_any_width(first: float, second: float, count: int) -> None:
    scale = TimeScale(margin=10)
    scale.set_count(count)
    scale.set_width(first)
    scale.set_width(second)
    room = scale.right - (scale.count - 1)
    assert room == pytest.approx(min(10, 0.6 * second / scale.spacing))
    assert scale.is_newest_in_view


@given(st.integers(1, 4), widths, st.floats(-1_000, 1_000))
def test_a_handful_of_candles_cannot_be_lost(count: int, width: float, right: float) -> None:
    scale = TimeScale()
    scale.set_width(width)
    scale.set_count(count)
    scale.pan_to(right)
    first, stop = scale.visible()
    assert stop - first >= min(3, count)


def test_room_for_a_longer_forecast_is_made_only_at_rest() -> None:
    scale = TimeScale(margin=10)
    scale.set_width(800)
    scale.set_count(500)
    scale.set_margin(14)
    assert scale.right == 499 + 14
    scale.pan_to(300)
    scale.set_margin(20)
    assert scale.right == 300


def test_grabbing_a_narrow_resting_view_does_not_move_it() -> None:
    scale = TimeScale(margin=10)
    scale.set_width(640)
    scale.set_count(500)
    scale.zoom(16.0)
    right = scale.right
    scale.pan_to(right)
    assert scale.right == right


@given(widths, st.floats(-1_000, 1_000))
def test_a_single_forming_candle_stays_in_view_and_in_place(width: float, right: float) -> None:
    scale = TimeScale()
    scale.set_width(width)
    scale.pan_to(right)
    assert 0 <= x_of(scale, 0) <= width
    put = scale.right
    scale.set_count(0)
    assert scale.right == put
    scale.set_count(1)
    assert scale.is_newest_in_view
