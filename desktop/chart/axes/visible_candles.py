"""Which candles are visible: scrolling, zooming, and following new ones. x is the candle's index, so the axis has no
gaps; pixels are logical."""

from __future__ import annotations

import math

DEFAULT_SPACING = 10.0
_WIDEST_SPACING = 160.0
_NARROWEST_SPACING = 1.0
_ALWAYS_VISIBLE = 3
"""Candles that stay visible however far the user pans."""
_PAST_SHARE = 0.2
"""Least share of the view that shows candles before the newest."""


class TimeScale:
    """Maps indices to x and back. `right` is the (fractional) index at the right edge, `spacing` the pixels from one
    candle to the next; candle i covers i - 0.5 .. i + 0.5. All attributes are read only; methods change them.

    Because `right` is an index, appended candles move nothing by themselves: only `set_count` does, and only if the
    newest candle was visible.
    """

    def __init__(self, margin: float = 10.0) -> None:
        self.margin = margin
        """Margin in candles between the newest closed candle and the right edge after a reset."""
        self.count = 0
        """Number of closed candles; their indices are 0 .. count - 1."""
        self.width, self.spacing, self.right = 1.0, DEFAULT_SPACING, margin
        self._is_resting = True

    @property
    def left(self) -> float:
        """The index at the left edge."""
        return self.right - self._page

    @property
    def is_reset(self) -> bool:
        """Whether zoom and place are as after a reset."""
        return self._is_resting and self.spacing == DEFAULT_SPACING

    @property
    def is_newest_in_view(self) -> bool:
        """Whether the newest closed candle's centre is visible. True if there is none."""
        return self.count == 0 or self.left <= self.count - 1 <= self.right

    def index_at(self, x: float) -> float:
        """The index at x; rounded, it is the candle there."""
        return self.right - (self.width - x) / self.spacing

    def visible(self) -> tuple[int, int]:
        """First visible closed candle and one past the last, including partly visible ones."""
        first = max(0, math.floor(self.left - 0.5) + 1)
        stop = min(self.count, math.ceil(self.right + 0.5))
        return (first, stop) if first < stop else (0, 0)

    def set_width(self, width: float) -> None:
        """Resize: the right edge keeps its index, or its resting place."""
        self.width = max(1.0, width)
        self._settle()

    def set_margin(self, margin: float) -> None:
        """Set the margin at the right. The view moves only if it is at its resting place."""
        self.margin = margin
        self._settle()

    def set_count(self, count: int, inserted_before: int = 0, *, may_follow: bool = True) -> None:
        """Set the number of closed candles, `inserted_before` of the new ones before the visible ones.

        The view follows the newest candle if that was visible and `may_follow` (no drag in progress); otherwise the
        same candles stay in place.
        """
        follows = may_follow and (self._is_resting or self.is_newest_in_view)
        was_empty = self.count == 0
        added = count - self.count
        self.count = count
        self._is_resting = (was_empty and count > 0) or (self._is_resting and follows)
        self.right += added if follows else inserted_before
        self._settle()

    def show_end(self, count: int, margin: float) -> None:
        """Set the number of candles closed at the selected past moment. The view does not move if the newest of them,
        its margin and some candles before it are visible; otherwise it scrolls there."""
        self.count, self.margin = count, margin
        first, last = self.left + _PAST_SHARE * self._page, self.right - margin
        self._is_resting = not first <= count - 1 <= last
        self._settle()

    def reset(self) -> None:
        """Restore the default zoom, with the newest candle and its margin at the right."""
        self.spacing = DEFAULT_SPACING
        self.go_to_newest()

    def go_to_newest(self) -> None:
        """Scroll to the newest candle and its margin at the right, at the same zoom."""
        self._is_resting = True
        self._settle()

    def go_to_oldest(self) -> None:
        """Scroll to the oldest candle at the left edge, at the same zoom."""
        self.pan_to(self._page - 1.0)

    def center(self, index: float) -> None:
        self.pan_to(index + self._page / 2)

    def pan_to(self, right: float) -> None:
        """Scroll this index to the right edge, keeping a few candles visible."""
        self._is_resting = False
        self.right = right
        self._settle()

    def zoom_at(self, factor: float, x: float) -> None:
        """Zoom in (factor > 1) or out, keeping the index at x in place."""
        index = self.index_at(x)
        self.spacing = self._spacing_times(factor)
        self.pan_to(index + (self.width - x) / self.spacing)

    def zoom(self, factor: float) -> None:
        """Zoom in or out about the middle; at the resting place, keep the margin at the right."""
        if self._is_resting:
            self.spacing = self._spacing_times(factor)
            self._settle()
        else:
            self.zoom_at(factor, self.width / 2)

    def _spacing_times(self, factor: float) -> float:
        narrowest = min(_NARROWEST_SPACING, self.width / (self.count + 2 * self.margin + 1))
        return min(max(self.spacing * factor, narrowest), _WIDEST_SPACING)

    def _settle(self) -> None:
        if self._is_resting:  # when zoomed in far, the margin must not fill the view
            self.right = self.count - 1 + min(self.margin, 0.6 * self._page, self._page - self._kept + 1)
        else:  # with no closed candle, keep the forming one at index 0
            self.right = min(max(self.right, self._kept - 1.0), self.count - self._kept + self._page)

    @property
    def _page(self) -> float:
        """Number of candles that fit the view."""
        return self.width / self.spacing

    @property
    def _kept(self) -> int:
        """Number of candles that must stay visible."""
        return max(1, min(_ALWAYS_VISIBLE, self.count, int(self._page)))
