from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.drawings import FARTHEST_MS, Anchor, Drawing, DrawingKind, fibonacci_prices, text_of
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
