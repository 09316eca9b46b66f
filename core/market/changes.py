"""What changed in a series of candles since somebody last looked."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_NOTED = 64


@dataclass(frozen=True, slots=True)
class Change:
    """The candles before index `first`, and the last `unchanged_at_end` ones, are as they were.

    Where candles were inserted, those at the end have moved to higher indices.
    """

    first: int
    unchanged_at_end: int


class ChangeLog:
    """Counts versions, and knows what changed since any of them, in little memory. Where it has forgotten, its answer
    covers more than what changed, never less."""

    def __init__(self) -> None:
        self._version = 0
        self._first = _Lowest()
        self._unchanged_at_end = _Lowest()

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._version

    def appended(self) -> None:
        """A candle, or several at once, came after the newest."""
        self._version += 1
        self._unchanged_at_end.note(self._version, 0)

    def edited(self, first: int, unchanged_at_end: int) -> None:
        """A candle was replaced or inserted at index `first`; so many candles come after it."""
        self._version += 1
        self._first.note(self._version, first)
        self._unchanged_at_end.note(self._version, unchanged_at_end)

    def since(self, version: int, count: int) -> Change:
        """What changed after `version`, when there were `count` candles. Nothing: `first` is `count`."""
        return Change(min(self._first.since(version, count), count), self._unchanged_at_end.since(version, 0))


class _Lowest:
    """The lowest of the numbers that were noted after some version."""

    def __init__(self) -> None:
        self._noted: list[tuple[int, int]] = []  # (version, number), both ascending: no other can be the lowest

    def note(self, version: int, number: int) -> None:
        while self._noted and self._noted[-1][1] >= number:
            self._noted.pop()
        self._noted.append((version, number))
        if len(self._noted) > _MOST_NOTED:
            self._noted[:2] = [(self._noted[1][0], self._noted[0][1])]

    def since(self, version: int, otherwise: int) -> int:
        return next((number for noted_at, number in self._noted if noted_at > version), otherwise)
