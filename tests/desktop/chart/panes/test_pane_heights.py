"""Shares of the plot's height, under any dragging."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.panes.frame import PaneHeights

NAMES = ("rsi", "macd", "errors")
drags = st.lists(st.tuples(st.sampled_from(NAMES), st.floats(-1.0, 1.0)), max_size=20)


@given(drags)
def test_no_drag_squeezes_the_prices_or_a_pane_away(moves: list[tuple[str, float]]) -> None:
    heights = PaneHeights()
    for name, change in moves:
        heights.drag(NAMES, name, change)
        shares = heights.shares(NAMES)
        assert sum(shares.values()) <= 0.55 + 1e-9
        assert all(share >= 0.06 - 1e-9 for share in shares.values())


def test_an_edge_that_is_dragged_takes_from_the_pane_above() -> None:
    heights = PaneHeights()
    before = heights.shares(NAMES)
    heights.drag(NAMES, "macd", 0.05)
    after = heights.shares(NAMES)
    assert after["macd"] == pytest.approx(before["macd"] + 0.05)
    assert after["rsi"] == pytest.approx(before["rsi"] - 0.05)
    assert after["errors"] == before["errors"]


def test_a_pane_that_went_and_came_back_has_its_height() -> None:
    heights = PaneHeights()
    heights.drag(("rsi",), "rsi", 0.1)
    wanted = heights.shares(("rsi",))["rsi"]
    assert heights.shares(()) == {}
    assert heights.shares(("rsi",))["rsi"] == wanted
    stored = PaneHeights()
    stored.chosen = heights.chosen
    assert stored.shares(("rsi",))["rsi"] == wanted
    heights.reset("rsi")
    assert heights.shares(("rsi",))["rsi"] < wanted


@pytest.mark.parametrize(("count", "in_all"), [(4, 0.55), (6, 0.55), (7, 0.63), (8, 0.7), (16, 0.7)])
def test_many_panes_are_pressed_together_and_take_more_of_the_prices_before_they_cannot_be_read(
    count: int, in_all: float
) -> None:
    names = tuple(f"pane {number}" for number in range(count))
    assert sum(PaneHeights().shares(names).values()) == pytest.approx(in_all)
