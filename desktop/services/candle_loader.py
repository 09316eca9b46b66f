"""Stored candles of a market, all or those after a time, read beside the window: it shows the newest at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal, Slot

from core.domain.candle import Candle, Market
from core.domain.candle_series import CandleSeries
from core.storage.candles import CHUNK_ROWS, CandleStore, StoredColumns
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.holes import HoleStore
from desktop.ui.translation import translate

SHOWN_AT_FIRST = 1_000
"""Stored candles that are on the chart at once; if there are more, all follow."""
_ENDS_WITHIN_S = 10.0
_log = logging.getLogger("ghostcandle")

_Found = tuple[CandleSeries, NDArray[np.int64] | None]
"""The series with its pyramid, which the receiver then owns, and its exchange's holes, if all was read."""


class HistoryLoading(QObject):
    """Reads one market's history at a time, on another thread and connection. Lives in the window's thread.

    Candles stored during a read may or may not be part of its result. The window therefore also passes them to `add`,
    and they are added to the result at the end, which does no harm if they are there already.
    """

    loaded = Signal(object, object)
    """CandleSeries: all stored candles of the market of the last `start`; and the ranges that its exchange is known to
    lack, shape (n, 2)."""
    later_loaded = Signal(object)
    """CandleSeries: its stored candles after the time of the last `start`."""
    failed = Signal(str)
    """A sentence: why no more candles could be read."""

    _read = Signal(object, object)
    """From the thread: its cancel event, and its result or an error message."""

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self.is_loading = False
        """Whether a result is still to come."""
        self._cancelled = threading.Event()
        """Set to cancel the newest read."""
        self._stored_meanwhile: list[Candle] = []
        self._threads: list[threading.Thread] = []
        self._read.connect(self._on_read)

    def start(self, market: Market, after_ms: int | None = None) -> None:
        """Begin to read the candles that opened after that time, or all; a read in progress is dropped."""
        self.cancel()
        self.is_loading, self._cancelled = True, threading.Event()
        reading = (market, after_ms, self._cancelled)
        thread = threading.Thread(target=self._run, args=reading, name="CandleLoader", daemon=True)
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        thread.start()

    def add(self, candles: Sequence[Candle]) -> None:
        """Add candles that were stored just now."""
        if self.is_loading:
            self._stored_meanwhile.extend(candles)

    def cancel(self) -> None:
        """Drop the read in progress: it ends after the current chunk, without a signal. Does not wait."""
        self._cancelled.set()
        self.is_loading = False
        self._stored_meanwhile = []

    def wait(self) -> bool:
        """Wait until no thread reads any more: after `cancel`, a few milliseconds. False if one takes too long."""
        for thread in self._threads:
            thread.join(_ENDS_WITHIN_S)
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self, market: Market, after_ms: int | None, cancelled: threading.Event) -> None:
        """The thread's whole life. Nobody would see an exception, so none leaves this method."""
        found: _Found | str | None
        try:
            found = _stored(self._database, market, after_ms, cancelled)
        except StorageError as error:
            found = str(error)
        except Exception as error:
            _log.exception("The stored candles could not be read.")
            words = translate("Window", "They could not be read ({0}: {1}). See the log for details.")
            found = words.format(type(error).__name__, error)
        if not cancelled.is_set():
            self._read.emit(cancelled, found)

    @Slot(object, object)
    def _on_read(self, cancelled: threading.Event, found: _Found | str) -> None:
        if cancelled.is_set():  # since it was put into the queue
            return
        stored_meanwhile, self._stored_meanwhile, self.is_loading = self._stored_meanwhile, [], False
        if isinstance(found, str):
            self.failed.emit(found)
            return
        series, holes = found
        series.extend(stored_meanwhile)
        if holes is None:
            self.later_loaded.emit(series)
        else:
            self.loaded.emit(series, holes)


def _stored(database: Path, market: Market, after_ms: int | None, cancelled: threading.Event) -> _Found | None:
    """None if it was cancelled. Raises StorageError."""
    parts: list[StoredColumns] = []
    with closing(open_database(database, readonly=True)) as db:
        store = CandleStore(db)
        if after_ms is None:
            chunks = store.column_chunks(market)  # from the newest back
        else:
            chunks = store.ascending_chunks(market, after_ms + 1, chunk=CHUNK_ROWS)
        for part in chunks:
            if cancelled.is_set():
                return None
            parts.append(part)
        if after_ms is not None:
            return _joined(market, parts), None
        holes = HoleStore(db).of_exchange_from(market, 0)
    return _joined(market, parts[::-1]), holes


def _joined(market: Market, parts: Sequence[StoredColumns]) -> CandleSeries:
    if not parts:
        return CandleSeries(market.interval)
    times = np.concatenate([part.open_time_ms for part in parts])
    values = np.concatenate([part.values for part in parts], axis=1)
    series = CandleSeries.from_columns(market.interval, times, values)
    series.build_pyramid()
    return series
