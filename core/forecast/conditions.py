"""The market's regime at a forecast's origin."""

from __future__ import annotations

from core.domain.regimes import RegimeProbabilities
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.history import History
from core.forecast.regime import RegimeMixture


class ConditionsWatch:
    """Follows one history. Call `observe` after each appended candle."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._regime = RegimeMixture()

    @property
    def now(self) -> RegimeProbabilities:
        """As of the history's newest candle."""
        return self._regime.probabilities

    def observe(self) -> None:
        """Include the history's newest candle."""
        self._observe(len(self._history) - 1)

    def state(self) -> Arrays:
        """The complete state, to be restored with the history's."""
        return named({"regime": self._regime.state()})

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned, with the matching history. Empty, as in old checkpoints: rebuilt from
        the candles in the history."""
        self._regime = RegimeMixture()
        if state:
            self._regime.restore(part_of(state, "regime"))
            return
        for row in range(len(self._history)):
            self._observe(row)

    def _observe(self, row: int) -> None:
        log_close, log_range, segment = (self._history.column(name) for name in ("log_close", "log_range", "segment"))
        is_after_gap = row > 0 and bool(segment[row] != segment[row - 1])
        self._regime.observe(float(log_close[row]), float(log_range[row]), is_after_gap)
