"""Price labels on the axis that would overlap: each is readable, and they are in price order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor

from desktop.chart.labels.axis_labels import avoid_overlaps, clear_of_crosshair, leaving_room
from desktop.chart.painting.text import Box

HEIGHT = 14
PRICES = st.integers(-80, 880).map(lambda quarters: quarters / 4)
"""Higher rows have higher prices: row 0 is at 200, and the axis ends at row 199, slightly below 1."""
AXIS = 200
STEPS = st.one_of(st.integers(-80, 80), st.integers(-800, 800)).map(lambda quarters: quarters / 4)
"""Distance from the last price, mostly where the labels meet."""


@dataclass(frozen=True)
class Axis:
    last: Box
    tags: tuple[Box, ...]
    crosshair: Box | None


def box(price: float, height: int = HEIGHT) -> Box:
    """As `price_label_rect` places it: its first line is level with the price, and it stays on the axis."""
    top = min(max(round(AXIS - price) - HEIGHT // 2, 0), AXIS - height)
    return Box(QRect(0, top, 80, height), (), QColor(), price=price)


def laid_out(last: float, last_height: int, prices: list[float], crosshair: float | None = None) -> Axis:
    tags, last_price = [box(price) for price in prices], box(last, last_height)
    last_price = leaving_room(last_price, tags, AXIS)
    label = None if crosshair is None else box(crosshair)
    avoid_overlaps(tags, AXIS, (last_price,) if label is None else (last_price, label))
    return Axis(last_price, tuple(tags), label)


@given(
    last=PRICES,
    last_height=st.sampled_from([HEIGHT, 2 * HEIGHT]),
    steps=st.lists(STEPS, max_size=(AXIS - 2 * HEIGHT) // HEIGHT),
)
def test_none_is_above_one_of_a_higher_price(last: float, last_height: int, steps: list[float]) -> None:
    axis = laid_out(last, last_height, [last + step for step in steps])
    ordered = sorted((*axis.tags, axis.last), key=lambda each: each.rect.top())
    for above, below in pairwise(ordered):
        assert above.price is not None and below.price is not None and above.price >= below.price
        assert above.rect.bottom() < below.rect.top()
    assert all(each.rect.top() >= 0 and each.rect.bottom() < AXIS for each in ordered)


@given(last=PRICES, steps=st.lists(STEPS, max_size=5), crosshair=PRICES)
def test_beside_the_crosshair_too_the_last_price_parts_the_others(
    last: float, steps: list[float], crosshair: float
) -> None:
    """The crosshair may leave no room on one side; the last price's side is kept if it has any."""
    axis = laid_out(last, 2 * HEIGHT, [last + step for step in steps], crosshair)
    assert axis.crosshair is not None
    assert not any(one.rect.intersects(other.rect) for one, other in combinations(axis.tags, 2))
    assert not any(tag.rect.intersects(each.rect) for tag in axis.tags for each in (axis.last, axis.crosshair))
    highest_first = sorted(axis.tags, key=lambda each: -(each.price or 0.0))
    assert [each.rect.top() for each in highest_first] == sorted(each.rect.top() for each in axis.tags)
    higher = [tag for tag in axis.tags if tag.price is not None and tag.price > last]
    cross = axis.crosshair.rect
    if axis.last.rect.top() - cross.height() >= (len(higher) + 1) * HEIGHT:
        assert all(tag.rect.bottom() < axis.last.rect.top() for tag in higher)


def test_a_price_just_below_the_last_one_is_below_it_however_far_that_is() -> None:
    """Above would be nearer: the last price's label is two lines high."""
    axis = laid_out(100.0, 2 * HEIGHT, [99.0, 101.0])
    lower, higher = axis.tags
    assert lower.rect.top() == axis.last.rect.bottom() + 1
    assert higher.rect.bottom() + 1 == axis.last.rect.top()


def test_the_last_price_leaves_the_end_of_the_axis_to_prices_beyond_it() -> None:
    axis = laid_out(199.0, 2 * HEIGHT, [199.5, 220.0, 30.0])
    assert axis.last.rect.top() == 2 * HEIGHT
    assert [tag.rect.top() for tag in axis.tags[:2]] == [HEIGHT, 0]
    low = laid_out(1.0, 2 * HEIGHT, [0.5])
    assert low.last.rect.bottom() + 1 == low.tags[0].rect.top() == AXIS - HEIGHT


def test_the_last_price_stays_where_there_is_room_or_none_at_all() -> None:
    assert laid_out(100.0, 2 * HEIGHT, [101.0, 99.0]).last == box(100.0, 2 * HEIGHT)
    crowd = [float(price) for price in range(60, 120)]
    assert laid_out(100.0, 2 * HEIGHT, crowd).last == box(100.0, 2 * HEIGHT)


@given(last=PRICES, height=st.sampled_from([HEIGHT, 2 * HEIGHT]), crosshair=PRICES)
def test_the_crosshair_hides_the_last_price_nowhere(last: float, height: int, crosshair: float) -> None:
    label, own = box(crosshair), box(last, height)
    found = clear_of_crosshair(own, label, AXIS)
    assert not found.rect.intersects(label.rect) and 0 <= found.rect.top() <= AXIS - height
    if not own.rect.intersects(label.rect):
        assert found is own
    elif height <= label.rect.top() and label.rect.bottom() + 1 + height <= AXIS:  # room on both sides
        assert (found.rect.top() < label.rect.top()) is (last > crosshair), "the higher price is above"


def test_the_last_price_stays_where_the_crosshair_leaves_it_no_room() -> None:
    last = box(100.0, 2 * HEIGHT)
    assert clear_of_crosshair(last, box(100.0), HEIGHT) is last
