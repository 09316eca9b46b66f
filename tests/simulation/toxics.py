"""The faults of the simulated hours, their times and durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

KINDS = (
    "latency",
    "stall",
    "stalled trades",
    "stalled candles",
    "drop",
    "duplicate",
    "reorder",
    "corrupt",
    "disconnect",
    "no closing",
    "late trades",
    "slow requests",
    "deaf requests",
    "status",
    "older copy",
    "corrupt list",
    "outage",
    "sleep",
    "clock set",
    "shutdown",
    "busy",
)
_STATUSES = (429, 418, 403, 500, 502, 503)
_LONGEST_SLEEP_MS = 2_400_000
_LONGEST_BUSY_S = 25.0
_DURATIONS_MS = (2_000, 20_000, 90_000, 300_000)
_LONG_MS = 1_800_000
"""Only where hours are simulated."""
LIES = frozenset({"corrupt", "corrupt list", "older copy"})
"""The data may be wrong in an undetectable way. Over hours they are short: a lie in both
comparisons of a candle is believed, and after a long break the second follows the first at once."""
_HOUR_MS = 3_600_000
_MOMENTS = frozenset({"disconnect", "sleep", "clock set", "shutdown", "busy"})
"""They happen once; the others last."""


@dataclass(frozen=True, slots=True)
class Toxic:
    """Between two moments of true time. `strength` lies between 0 and 1; its meaning depends on the kind."""

    kind: str
    from_ms: int
    until_ms: int
    strength: float
    status: int = 0

    @property
    def asleep_ms(self) -> int:
        """How long the computer sleeps by it."""
        return round(self.strength**2 * _LONGEST_SLEEP_MS) if self.kind == "sleep" else 0

    @property
    def busy_s(self) -> float:
        """How long the computer has no time for the feed: its loop wakes up so late, and then all comes at once."""
        return self.strength**2 * _LONGEST_BUSY_S if self.kind == "busy" else 0.0

    @property
    def is_moment(self) -> bool:
        return self.kind in _MOMENTS


class Toxics:
    """A schedule. `at` returns the faults at a moment."""

    def __init__(self, toxics: Sequence[Toxic]) -> None:
        self.all = sorted(toxics, key=lambda toxic: toxic.from_ms)
        self.moments = [toxic for toxic in self.all if toxic.is_moment]
        self._lasting = [toxic for toxic in self.all if not toxic.is_moment]
        self._looked_ms = -1
        self._active: dict[str, Toxic] = {}

    @property
    def asleep_ms(self) -> int:
        """In all."""
        return sum(toxic.asleep_ms for toxic in self.all)

    def at(self, now_ms: int) -> dict[str, Toxic]:
        """Those that are active, by kind."""
        if now_ms != self._looked_ms:
            self._looked_ms = now_ms
            self._active = {each.kind: each for each in self._lasting if each.from_ms <= now_ms < each.until_ms}
        return self._active


def random_toxics(random: Random, from_ms: int, until_ms: int) -> Toxics:
    """A few to many, between two moments: up to two dozen an hour."""
    hours = -(-(until_ms - from_ms) // _HOUR_MS)
    count = random.randrange(3, 24 * hours)
    return Toxics([_made(random, from_ms, until_ms, is_long=hours > 1) for _ in range(count)])


def _made(random: Random, from_ms: int, until_ms: int, *, is_long: bool) -> Toxic:
    kind, begin = random.choice(KINDS), random.randrange(from_ms, until_ms)
    end = min(until_ms, begin + random.choice(_durations_ms(kind, is_long=is_long)))
    return Toxic(kind, begin, end, random.random(), random.choice(_STATUSES))


def _durations_ms(kind: str, *, is_long: bool) -> Sequence[int]:
    if not is_long:
        return _DURATIONS_MS
    return _DURATIONS_MS[:2] if kind in LIES else (*_DURATIONS_MS, _LONG_MS)
