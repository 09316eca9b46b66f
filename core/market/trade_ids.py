"""Detects duplicate and lost trades by their ids, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

_RECENT = 50_000
_LARGEST_GAP = 10_000
"""A larger jump is a broken message, unless a second one confirms it."""
_GIVEN_UP_AFTER_MS = 2_000
_MOST_GAPS = 1_000


@dataclass(frozen=True, slots=True)
class LostTrades:
    """`count` missing trades, between trades of these two times."""

    first_id: int
    count: int
    after_ms: int
    before_ms: int


class RecentIds:
    """Remembers arbitrary ids, the last 50,000 of them. Losses cannot be detected."""

    def __init__(self) -> None:
        self._known: OrderedDict[int | str, None] = OrderedDict()

    def take(self, trade_id: int | str | None, time_ms: int) -> bool | None:
        """True: new. False: a duplicate. None: implausible."""
        if trade_id is None:
            return True
        if trade_id in self._known:
            return False
        self._known[trade_id] = None
        if len(self._known) > _RECENT:
            self._known.popitem(last=False)
        return True

    def is_torn(self, from_ms: int, until_ms: int) -> bool:
        """Whether a trade within this time is still missing."""
        return False

    def take_losses(self) -> list[LostTrades]:
        """The trades declared lost since the last call."""
        return []


@dataclass(slots=True)
class _Gap:
    """Skipped ids, between trades of these times."""

    missing: set[int]
    after_ms: int
    before_ms: int


class ConsecutiveIds:
    """Ids that increase by one, stored as the next expected id and the gaps before it."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._newest_ms = 0
        self._suspect: int | None = None
        self._gaps: list[_Gap] = []
        self._losses: list[LostTrades] = []

    def take(self, trade_id: int | str | None, time_ms: int) -> bool | None:
        if not isinstance(trade_id, int):
            return None
        expected = trade_id if self._next is None else self._next
        if trade_id < expected:
            return self._fill(trade_id)
        if trade_id - expected > _LARGEST_GAP:
            return self._check_jump(trade_id, time_ms)
        if trade_id > expected:
            self._gaps.append(_Gap(set(range(expected, trade_id)), self._newest_ms, time_ms))
        self._advance(trade_id, time_ms)
        return True

    def is_torn(self, from_ms: int, until_ms: int) -> bool:
        return any(gap.after_ms < until_ms and gap.before_ms >= from_ms for gap in self._gaps)

    def take_losses(self) -> list[LostTrades]:
        losses, self._losses = self._losses, []
        return losses

    def _advance(self, trade_id: int, time_ms: int) -> None:
        self._next, self._suspect = trade_id + 1, None
        self._newest_ms = max(self._newest_ms, time_ms)
        if self._gaps:
            self._give_up()

    def _fill(self, trade_id: int) -> bool:
        """Whether the id was missing."""
        for gap in self._gaps:
            if trade_id in gap.missing:
                gap.missing.remove(trade_id)
                self._gaps = [each for each in self._gaps if each.missing]
                return True
        return False

    def _check_jump(self, trade_id: int, time_ms: int) -> bool | None:
        if self._suspect is None or not 0 < trade_id - self._suspect <= _LARGEST_GAP:
            self._suspect = trade_id
            return None
        assert self._next is not None, "the first id is never checked"
        self._losses.append(LostTrades(self._next, trade_id - self._next, self._newest_ms, time_ms))
        self._advance(trade_id, time_ms)
        return True

    def _give_up(self) -> None:
        old = [gap for gap in self._gaps if self._newest_ms - gap.before_ms >= _GIVEN_UP_AFTER_MS]
        old += [gap for gap in self._gaps[:-_MOST_GAPS] if gap not in old]
        for gap in old:
            self._losses.append(LostTrades(min(gap.missing), len(gap.missing), gap.after_ms, gap.before_ms))
            self._gaps.remove(gap)
