"""Which candles are in view. x is the candle's index, so there are no holes in it; pixels are logical."""

from __future__ import annotations

import math

DEFAULT_SPACING = 10.0
_WIDEST_SPACING = 160.0
_NARROWEST_SPACING = 1.0
_ALWAYS_VISIBLE = 3
"""That many candles stay in view however far one pans."""
_PAST_SHARE = 0.2
"""Of the view, at least, shows candles before the newest."""


class TimeScale:
    """Maps indices to x and back. `right` is the index (a real number) at the right edge, `spacing` the pixels
    from one candle to the next; candle i covers i - 0.5 .. i + 0.5. All are to be read; methods change them.

    Because `right` is an index, candles that are appended move nothing by themselves: only `set_count` does,
    and only when the newest candle was in view.
    """

    def __init__(self, margin: float = 10.0) -> None:
        self.margin = margin
        """Candles of room between the newest closed candle and the right edge, after a reset."""
        self.count = 0
        """Closed candles; their indices are 0 .. count - 1."""
        self.width, self.spacing, self.right = 1.0, DEFAULT_SPACING, margin
        self._is_resting = True

    @property
    def left(self) -> float:
        """The index at the left edge."""
        return self.right - self._page

    @property
    def is_newest_in_view(self) -> bool:
        """Whether the newest closed candle's centre lies in view. True while there is none."""
        return self.count == 0 or self.left <= self.count - 1 <= self.right

    def x_at(self, index: float) -> float:
        """The x of a candle's centre."""
        return self.width - (self.right - index) * self.spacing

    def index_at(self, x: float) -> float:
        """The index under x; its nearest whole number is the candle there."""
        return self.right - (self.width - x) / self.spacing

    def visible(self) -> tuple[int, int]:
        """First and one past the last closed candle of which some part is in view."""
        first = max(0, math.floor(self.left - 0.5) + 1)
        stop = min(self.count, math.ceil(self.right + 0.5))
        return (first, stop) if first < stop else (0, 0)

    def set_width(self, width: float) -> None:
        """Another width: the right edge stays where it is, or at its resting place."""
        self.width = max(1.0, width)
        self._settle()

    def set_margin(self, margin: float) -> None:
        """Another room to the right. The view moves only if it is at its resting place."""
        self.margin = margin
        self._settle()

    def set_count(self, count: int, inserted_before: int = 0, *, may_follow: bool = True) -> None:
        """There are `count` closed candles now, `inserted_before` of the new ones before what is in view.

        The view follows the newest candle when that was in view and `may_follow` (no drag goes on); else the same
        candles stay where they are.
        """
        follows = may_follow and (self._is_resting or self.is_newest_in_view)
        was_empty = self.count == 0
        added = count - self.count
        self.count = count
        self._is_resting = (was_empty and count > 0) or (self._is_resting and follows)
        self.right += added if follows else inserted_before
        self._settle()

    def show_end(self, count: int, margin: float) -> None:
        """There are `count` closed candles at the moment that is shown now: the view stands still while the newest of
        them and its margin lie in it, with some candles before them; else it goes there."""
        self.count, self.margin = count, margin
        first, last = self.left + _PAST_SHARE * self._page, self.right - margin
        self._is_resting = not first <= count - 1 <= last
        self._settle()

    def reset(self) -> None:
        """The default zoom, with the newest candle and its margin at the right."""
        self.spacing = DEFAULT_SPACING
        self.go_to_newest()

    def go_to_newest(self) -> None:
        """Keep the zoom; put the newest candle and its margin at the right."""
        self._is_resting = True
        self._settle()

    def go_to_oldest(self) -> None:
        """Keep the zoom; put the oldest candle at the left edge."""
        self.pan_to(self._page - 1.0)

    def center(self, index: float) -> None:
        """Keep the zoom; put this index in the middle."""
        self.pan_to(index + self._page / 2)

    def pan_to(self, right: float) -> None:
        """Put this index at the right edge, as far as a few candles stay in view."""
        self._is_resting = False
        self.right = right
        self._settle()

    def zoom_at(self, factor: float, x: float) -> None:
        """Spread (factor > 1) or press together, keeping the index under x in its place."""
        index = self.index_at(x)
        self.spacing = self._spacing_times(factor)
        self.pan_to(index + (self.width - x) / self.spacing)

    def zoom(self, factor: float) -> None:
        """Spread or press together about the middle; at the resting place, with the room to the right kept."""
        if self._is_resting:
            self.spacing = self._spacing_times(factor)
            self._settle()
        else:
            self.zoom_at(factor, self.width / 2)

    def _spacing_times(self, factor: float) -> float:
        narrowest = min(_NARROWEST_SPACING, self.width / (self.count + 2 * self.margin + 1))
        return min(max(self.spacing * factor, narrowest), _WIDEST_SPACING)

    def _settle(self) -> None:
        if self._is_resting:  # a wide zoom must not fill the view with margin alone
            self.right = self.count - 1 + min(self.margin, 0.6 * self._page, self._page - self._kept + 1)
        else:  # with none closed the one that forms, at index 0, is kept
            self.right = min(max(self.right, self._kept - 1.0), self.count - self._kept + self._page)

    @property
    def _page(self) -> float:
        """Candles that fit into the view."""
        return self.width / self.spacing

    @property
    def _kept(self) -> int:
        """Candles that stay in view."""
        return max(1, min(_ALWAYS_VISIBLE, self.count, int(self._page)))
