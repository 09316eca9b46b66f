"""The forecast that was stored with a candle, read for the chart; or a sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from core.market.candle import Interval
from core.regimes import MarketConditions
from core.storage.errors import StorageError
from core.storage.records import StoredForecast
from core.training.drawn import drawn_from_rows
from desktop.chart.data.moment import Moment
from desktop.state import RunState
from desktop.translation import translate


class ForecastReader(Protocol):
    """What is read of a run's record. All methods raise StorageError."""

    def forecasts_of(self, origin_open_time_ms: int) -> Sequence[StoredForecast]:
        """All horizons of the forecast made at this candle."""
        ...

    def conditions_of(self, origin_open_time_ms: int) -> MarketConditions | None:
        """What the market was like then."""
        ...

    def latest_origin_ms(self) -> int | None:
        """The newest candle from which a forecast was made."""
        ...


class StoredForecasts:
    """Of the run that is watched; while no trainer stands, of the one that was trained last."""

    def __init__(self, state: RunState, open_reader: Callable[[str], ForecastReader]) -> None:
        self._state, self._open_reader = state, open_reader

    def moment(self, time_ms: int) -> Moment:
        """What the chart shows of the time when a candle had just closed. It asks SQLite: not for a paint."""
        run_id, interval_ms = self._state.run_id or self._state.last_run_id, self._state.interval_ms
        if run_id is None or interval_ms is None:
            return Moment(time_ms, note=translate("Chart", "No forecast is stored: nothing was trained on this market"))
        try:
            return self._read(self._open_reader(run_id), run_id, time_ms, Interval(interval_ms))
        except StorageError as error:
            return Moment(time_ms, note=translate("Chart", "The forecast could not be read: {0}").format(error))

    def _read(self, reader: ForecastReader, run_id: str, time_ms: int, interval: Interval) -> Moment:
        origin_ms = time_ms - interval.duration_ms
        rows = reader.forecasts_of(origin_ms)
        if rows:
            made = drawn_from_rows(rows, run_id, interval, reader.conditions_of(origin_ms))
            return Moment(time_ms, made)
        latest_ms = reader.latest_origin_ms()
        if latest_ms is not None and latest_ms < origin_ms:
            return Moment(time_ms, note=translate("Chart", "Training has not come to this candle: no forecast yet"))
        return Moment(time_ms, note=translate("Chart", "No forecast was stored with this candle"))
