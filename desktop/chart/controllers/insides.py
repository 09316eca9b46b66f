"""The inside of the candle under the mouse: what is stored of it."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, QTimer, Slot

from core.domain.candle import Candle, Market
from core.market.inside import finer_market
from core.storage.errors import StorageError
from desktop.chart.data.insides import KnownInside
from desktop.chart.widget import ChartWidget
from desktop.state.database import WindowDatabase

_log = logging.getLogger("ghostcandle")


class ChartInsides(QObject):
    """Reads the inside that the chart asks for, a few rows by their key, between frames."""

    def __init__(self, chart: ChartWidget, database: WindowDatabase, parent: QObject) -> None:
        super().__init__(parent)
        self._chart, self._database, self._insides = chart, database, chart.model.insides
        self._market: Market | None = None
        self._finer: Market | None = None
        self._has_looked = False
        """For a finer market: a database that cannot be read must not keep the chart from its market."""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_timeout)
        self._insides.on_wanted = self._timer.start

    def show_market(self, market: Market) -> None:
        self._market, self._finer, self._has_looked = market, None, False
        self._insides.begin(self._read, market.interval)

    def stop(self) -> None:
        """Read no more."""
        self._insides.begin(None, None)
        self._timer.stop()

    @Slot()
    def _on_timeout(self) -> None:
        try:
            has_read = self._insides.load_next()
        except StorageError as error:
            _log.warning("The insides of candles could not be read: %s", error)
            self._insides.begin(None, None)
            return
        if has_read:
            self._chart.overlay_changed()

    def _read(self, time_ms: int) -> KnownInside | None:
        assert self._market is not None, "show a market first"
        found = self._database.candles.load(self._market, after_ms=time_ms - 1, limit=1)
        inside = found[0].inside if found and found[0].open_time_ms == time_ms else None
        if inside is None:
            return None
        if not self._has_looked:
            self._finer = finer_market(self._database.candles.markets(), self._market)
            self._has_looked = True
        if self._finer is None:
            return KnownInside(inside)
        return KnownInside(inside, self._parts(self._finer, time_ms), self._finer.interval)

    def _parts(self, finer: Market, time_ms: int) -> tuple[Candle, ...]:
        """The finer candles within the candle that opened then."""
        assert self._market is not None, "show a market first"
        stop_ms = self._market.interval.close_time_ms(time_ms)
        most = self._market.interval.duration_ms // finer.interval.duration_ms
        found = self._database.candles.load(finer, after_ms=time_ms - 1, limit=most)
        return tuple(each for each in found if each.open_time_ms < stop_ms)
