from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.drawings import (
    FARTHEST_MS,
    Anchor,
    Drawing,
    DrawingKind,
    fibonacci_prices,
    position_anchors,
    reshaped_channel,
    reshaped_position,
    reward_to_risk,
    text_of,
)
from core.domain.plain_text import LONGEST_LABEL

HERE, THERE = Anchor(60_000, 1.5), Anchor(120_000, 2.5)
LINE = Drawing(DrawingKind.TREND_LINE, (HERE, THERE))


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -1.0, 0.0, 1e19])
def test_an_anchor_needs_a_valid_price(price: float) -> None:
    with pytest.raises(ValueError, match="price"):
        Anchor(0, price)


@pytest.mark.parametrize("time_ms", [FARTHEST_MS + 1, -FARTHEST_MS - 1])
def test_an_anchor_needs_a_valid_time(time_ms: int) -> None:
    with pytest.raises(ValueError, match="time"):
        Anchor(time_ms, 1.0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"anchors": (HERE,)}, "2 anchors"),
        ({"kind": DrawingKind.HORIZONTAL}, "1 anchors"),
        ({"text": "words"}, "cannot say"),
        ({"colour": "red; background: url(x)"}, "#rrggbb"),
        ({"width_px": 0}, "width"),
        ({"width_px": 5}, "width"),
    ],
)
def test_an_invalid_drawing_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(LINE, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " padded ", "two\nlines", "x" * (LONGEST_LABEL + 1), "\u202eturned"])
def test_a_text_is_one_line_of_plain_text(text: str) -> None:
    with pytest.raises(ValueError, match="cannot say"):
        Drawing(DrawingKind.TEXT, (HERE,), text=text)


@given(st.text(st.characters(), max_size=400))
def test_any_input_becomes_a_valid_text_or_none(typed: str) -> None:
    said = text_of(typed)
    assert len(said) <= LONGEST_LABEL and "\n" not in said
    assert text_of(said) == said, "once made plain it stays as it is"
    if said:
        assert Drawing(DrawingKind.TEXT, (HERE,), text=said).text == said


def test_fibonacci_levels_run_from_the_second_anchor_to_the_first() -> None:
    prices = fibonacci_prices(Drawing(DrawingKind.FIBONACCI, (Anchor(0, 100.0), Anchor(60_000, 200.0))))
    assert prices == pytest.approx((200.0, 176.4, 161.8, 150.0, 138.2, 121.4, 100.0))


@pytest.mark.parametrize(
    ("kind", "price", "target", "stop"),
    [
        (DrawingKind.LONG_POSITION, 110.0, 110.0, 95.0),
        (DrawingKind.LONG_POSITION, 95.0, 110.0, 95.0),
        (DrawingKind.SHORT_POSITION, 90.0, 90.0, 105.0),
        (DrawingKind.SHORT_POSITION, 105.0, 90.0, 105.0),
    ],
)
def test_a_position_begins_with_its_target_or_its_stop(
    kind: DrawingKind, price: float, target: float, stop: float
) -> None:
    anchors = position_anchors(kind, Anchor(0, 100.0), Anchor(60_000, price))
    assert anchors == (Anchor(0, 100.0), Anchor(60_000, target), Anchor(60_000, stop))
    assert reward_to_risk(Drawing(kind, anchors)) == 2.0


@given(
    st.sampled_from([DrawingKind.LONG_POSITION, DrawingKind.SHORT_POSITION]),
    st.lists(st.tuples(st.integers(0, 2), st.floats(1.0, 1_000.0)), max_size=6),
)
def test_no_level_of_a_position_crosses_another(kind: DrawingKind, moves: list[tuple[int, float]]) -> None:
    position = Drawing(kind, position_anchors(kind, Anchor(0, 100.0), Anchor(60_000, 110.0)))
    for step, (handle, price) in enumerate(moves):
        position = reshaped_position(position, handle, Anchor(step, price))
        entry, target, stop = position.anchors
        low, high = (stop, target) if kind is DrawingKind.LONG_POSITION else (target, stop)
        assert low.price <= entry.price <= high.price and target.time_ms == stop.time_ms


def test_a_position_without_a_stop_has_no_ratio() -> None:
    level = Anchor(60_000, 100.0)
    assert reward_to_risk(Drawing(DrawingKind.LONG_POSITION, (Anchor(0, 100.0), level, level))) is None


@pytest.mark.parametrize("handle", [0, 1])
def test_a_channel_keeps_its_width_while_an_end_is_moved(handle: int) -> None:
    channel = Drawing(DrawingKind.CHANNEL, (Anchor(0, 100.0), Anchor(100, 200.0), Anchor(50, 120.0)))
    start, end, beyond = reshaped_channel(channel, handle, replace(channel.anchors[handle], price=160.0)).anchors
    assert (start.price + end.price) / 2 - beyond.price == pytest.approx(30.0)
