"""The computation of indicators: by TA-Lib, or by our own code for those it lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.indicators.columns import Columns
from core.indicators.spec import IndicatorSpec
from core.indicators.technical import TechnicalAnalysis
from core.indicators.vwap import VolumeWeightedPrice

FloatArray = NDArray[np.float64]


class Calculation(Protocol):
    """An indicator's computation for `IndicatorSeries`. It fills the series' table [row, candle], from the first candle
    to the newest."""

    @property
    def rows(self) -> int:
        """Rows of the table."""

    @property
    def outputs(self) -> int:
        """How many of the last rows are shown."""

    @property
    def first_defined(self) -> int:
        """The index of the first candle with values; NaN before it, and only there."""

    def resume(self, first: int) -> int:
        """The index from which to fill the table again after the candles from `first` on have changed."""

    def fill(self, candles: Columns, table: FloatArray, first: int) -> None:
        """Write the table's columns from `first` to the newest candle's, at least one; `first` is where the last call
        stopped, or the result of `resume`."""

    def preview(self, candles: CandleSeries, table: FloatArray, forming: Candle) -> tuple[float, ...]:
        """The outputs of a candle after all others, which are not stored. The table is filled up to there, and has a
        spare column."""


OUR_OWN: Mapping[str, Callable[[IndicatorSpec], Calculation]] = {"vwap": VolumeWeightedPrice}
"""The indicators without functions of TA-Lib, by kind."""


def calculation_for(spec: IndicatorSpec) -> Calculation:
    """The computation of an indicator."""
    return OUR_OWN.get(spec.kind, TechnicalAnalysis)(spec)
