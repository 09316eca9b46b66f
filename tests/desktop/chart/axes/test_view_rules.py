"""The rules of following and zooming, under any sequence of user and market actions."""

from __future__ import annotations

import math

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from desktop.chart.axes.visible_candles import TimeScale
from tests.desktop.chart.support import x_of

factors = st.floats(0.2, 5.0)
shares = st.floats(0.0, 1.0)
counts = st.integers(1, 40)


class ViewRules(RuleBasedStateMachine):
    """A scale as the chart uses it. `is_held`: a drag is in progress, so nothing may follow."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = TimeScale()
        self.is_held = False

    @initialize(width=st.floats(120, 3_000), count=st.integers(0, 3_000))
    def begin(self, width: float, count: int) -> None:
        self.scale.set_width(width)
        self.scale.set_count(count)
        self.scale.reset()

    @rule(added=counts)
    def append(self, added: int) -> None:
        """The view follows the newest candle if it is visible and not being dragged; otherwise nothing moves. Only the
        first three candles move the limit of the view, and the view with it."""
        scale = self.scale
        follows = scale.is_newest_in_view and not self.is_held
        was_empty = scale.count == 0
        places = [x_of(scale, index) for index in (scale.left, scale.right)]
        right, spacing, room = scale.right, scale.spacing, scale.right - scale.count
        scale.set_count(scale.count + added, may_follow=not self.is_held)
        assert scale.spacing == spacing
        if was_empty:
            assert scale.is_newest_in_view
        elif scale.count - added < 3 and self.is_at_a_limit():
            return
        elif follows:
            assert scale.right - scale.count == pytest.approx(room)
        else:
            assert scale.right == right
            assert [x_of(scale, index) for index in (scale.left, scale.right)] == pytest.approx(places)

    @precondition(lambda self: self.scale.count > 0)
    @rule(inserted=counts)
    def insert_before(self, inserted: int) -> None:
        """Older candles arrive late: each visible candle stays in place, dragged or not."""
        scale = self.scale
        newest_x, count = x_of(scale, scale.count - 1), scale.count
        scale.set_count(scale.count + inserted, inserted, may_follow=not self.is_held)
        is_same = x_of(scale, scale.count - 1) == pytest.approx(newest_x, abs=1e-6 * max(1.0, abs(newest_x)))
        assert is_same or (count < 3 and self.is_at_a_limit())

    @precondition(lambda self: self.scale.count > 0)
    @rule(factor=factors, share=shares)
    def zoom_at_cursor(self, factor: float, share: float) -> None:
        """The index under the cursor stays there, unless too few candles would be visible."""
        scale = self.scale
        x = share * scale.width
        index = scale.index_at(x)
        scale.zoom_at(factor, x)
        assert self.is_at_a_limit() or scale.index_at(x) == pytest.approx(index, abs=1e-6 * max(1.0, abs(index)))

    @rule(factor=factors)
    def zoom_by_key(self, factor: float) -> None:
        """The newest candle stays visible; the middle stays in place, or the margin at the right in the resting
        position."""
        scale = self.scale
        middle, right = scale.index_at(scale.width / 2), scale.right
        scale.zoom(factor)
        kept_middle = scale.index_at(scale.width / 2) == pytest.approx(middle, abs=1e-6 * max(1.0, abs(middle)))
        kept_room = scale.right == right or scale.right - (scale.count - 1) == pytest.approx(self.resting_room())
        assert kept_middle or kept_room or self.is_at_a_limit()

    @precondition(lambda self: self.scale.count > 0)
    @rule(by=st.floats(-500, 500))
    def drag(self, by: float) -> None:
        """The dragged candle follows the mouse as long as some candles stay visible."""
        scale = self.scale
        self.is_held = True
        before = scale.right
        scale.pan_to(before + by)
        assert self.is_at_a_limit() or scale.right == pytest.approx(before + by)

    @rule()
    def release(self) -> None:
        self.is_held = False

    @rule()
    def go_to_newest(self) -> None:
        spacing = self.scale.spacing
        self.scale.go_to_newest()
        assert self.scale.is_newest_in_view and self.scale.spacing == spacing

    @precondition(lambda self: self.scale.count > 0)
    @rule()
    def go_to_oldest(self) -> None:
        self.scale.go_to_oldest()
        assert self.scale.visible()[0] == 0

    @rule(width=st.floats(120, 3_000))
    def resize(self, width: float) -> None:
        """The right edge stays, or the margin in the resting position; the zoom always stays."""
        scale = self.scale
        right, spacing = scale.right, scale.spacing
        scale.set_width(width)
        assert scale.spacing == spacing
        at_rest = scale.right - (scale.count - 1) == pytest.approx(self.resting_room())
        assert scale.right == right or at_rest or self.is_at_a_limit()

    @rule(margin=st.floats(2, 40))
    def longer_forecast(self, margin: float) -> None:
        """The margin applies only in the resting position."""
        scale = self.scale
        right = scale.right
        scale.set_margin(margin)
        assert scale.right == right or scale.right - (scale.count - 1) == pytest.approx(self.resting_room())

    @invariant()
    def some_candles_are_in_view(self) -> None:
        scale = self.scale
        first, stop = scale.visible()
        assert stop - first >= min(3, scale.count, int(scale.width / scale.spacing))
        assert math.isfinite(scale.right) and scale.spacing > 0

    def is_at_a_limit(self) -> bool:
        """Whether the view is at the limit that keeps a few candles visible."""
        scale = self.scale
        page = scale.width / scale.spacing
        kept = max(1, min(3, scale.count, int(page)))
        return any(math.isclose(scale.right, edge) for edge in (kept - 1.0, scale.count - kept + page))

    def resting_room(self) -> float:
        page = self.scale.width / self.scale.spacing
        return min(self.scale.margin, 0.6 * page, page - max(1, min(3, self.scale.count, int(page))) + 1)


ViewRules.TestCase.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
test_the_rules_hold_over_any_sequence = ViewRules.TestCase
