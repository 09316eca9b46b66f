"""The wait before the next attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Backoff:
    """Doubles with each attempt, up to a limit, with jitter, so that many clients do not return at once."""

    first_s: float = 0.5
    longest_s: float = 60.0
    random: Random = field(default_factory=Random)
    _attempts: int = 0

    def next_s(self, at_least_s: float = 0.0) -> float:
        """Seconds to wait now: half to all of the doubled time, and never less than `at_least_s`."""
        doubled_s = min(self.longest_s, self.first_s * 2.0 ** min(self._attempts, 32))
        self._attempts += 1
        return max(at_least_s, doubled_s * self.random.uniform(0.5, 1.0))

    def reset(self) -> None:
        self._attempts = 0
