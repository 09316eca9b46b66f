"""One market's past, out of those of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle, Interval
from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays
from core.forecast.outcomes import targets_of
from core.forecast.panel import FEATURES, Panel


class History:
    """A view of one market of a panel; rows are its newest candles, in order."""

    def __init__(self, panel: Panel, market: int) -> None:
        self.panel, self.market = panel, market
        self.interval, self.horizons = panel.interval, panel.horizons

    @classmethod
    def alone(cls, interval: Interval, capacity: int, horizons: int) -> History:
        """Of a market that is learned alone; at least `capacity` rows are kept."""
        return cls(Panel(interval, 1, capacity, horizons), 0)

    def __len__(self) -> int:
        return int(self.panel.size[self.market])

    @property
    def last_open_time_ms(self) -> int | None:
        size = self.panel.size[self.market]
        return int(self.panel.time[self.market, size - 1]) if size else None

    @property
    def open_time_ms(self) -> NDArray[np.int64]:
        return self.panel.time[self.market, : len(self)]

    @property
    def features(self) -> NDArray[np.float32]:
        """[candle, feature], each within +-6, known at the candle's close; without those of other markets."""
        return self.panel.features(self._places(rows := np.arange(len(self))), rows)[:, :FEATURES]

    def column(self, name: str) -> FloatArray:
        """One derived column, [candle]."""
        return self.panel.column(name)[self.market, : len(self)]

    def append(self, candle: Candle) -> None:
        """Add the next closed candle. Raises ValueError for one that is not later than the last."""
        self.panel.append(np.array([self.market]), [candle])

    def anchors(self, origins: NDArray[np.int64]) -> FloatArray:
        """As `Panel.anchors`: [origin, H, Q, L]."""
        return self.panel.anchors(self._places(origins), origins)

    def units(self, origins: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of each origin row, [origin, horizon, quantity]; see `quantities.units`."""
        return self.panel.units(self._places(origins), origins)

    def windows(self, origins: NDArray[np.int64], context: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """As `Panel.windows`: [origin, context, feature] and [origin, context]."""
        return self.panel.windows(self._places(origins), origins, context)

    def targets(self, origins: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """As `outcomes.targets_of`."""
        return targets_of(self.panel, self._places(origins), origins)

    def state(self) -> Arrays:
        """The complete state as arrays, for a checkpoint."""
        return self.panel.state(self.market)

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned. Raises ValueError if it does not fit this history."""
        self.panel.restore(state, self.market)

    def _places(self, origins: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.full(origins.shape, self.market, dtype=np.int64)
