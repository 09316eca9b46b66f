"""What keeps an indicator's values up to date: TA-Lib, and our own arithmetic where it has not got the indicator."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.indicators.columns import Columns
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from core.indicators.technical import TechnicalAnalysis
from core.indicators.vwap import VolumeWeightedPrice

FloatArray = NDArray[np.float64]


class Calculation(Protocol):
    """What `IndicatorSeries` asks of an indicator. It fills a table of rows [row, candle] that the series keeps, from
    the first candle to the newest."""

    @property
    def rows(self) -> int:
        """Rows of the table."""

    @property
    def outputs(self) -> int:
        """How many of them, the last ones, are shown."""

    @property
    def first_defined(self) -> int:
        """The index of the first candle with values; NaN before it, and nowhere after it."""

    def resume(self, first: int) -> int:
        """Candles from this index on are others than they were: from which one on to fill the table again."""

    def fill(self, candles: Columns, table: FloatArray, first: int) -> None:
        """Write the table's columns from `first` to the newest candle's, at least one; `first` is where the last call
        stopped, or what `resume` said."""

    def preview(self, candles: CandleSeries, table: FloatArray, forming: Candle) -> tuple[float, ...]:
        """The outputs of a candle after all others, of which nothing is kept; the table is filled up to there, and has
        a column to spare."""


def calculation_for(spec: IndicatorSpec) -> Calculation:
    """The arithmetic of what is asked for."""
    return TechnicalAnalysis(spec) if INDICATORS[spec.kind].calls else VolumeWeightedPrice(spec)
