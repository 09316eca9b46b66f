from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.axes.visible_candles import TimeScale
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
