"""Stored candles of a market, all or those after a time, read beside the window: it shows the newest at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QThread, Signal, Slot

from core.domain.candle import Candle, Market
from core.domain.candle_series import CandleSeries
from core.storage.candles import CHUNK_ROWS, CandleStore, StoredColumns
from core.storage.database import open_database
from core.storage.errors import CorruptDatabaseError, StorageError
from core.storage.holes import HoleStore
from desktop.ui.translation import translate

SHOWN_AT_FIRST = 1_000
"""Stored candles that are on the chart at once; where there are more, all of them follow."""
_ENDS_WITHIN_MS = 10_000
_log = logging.getLogger("ghostcandle")


class CandleLoader(QThread):
    """Reads one market once, on a separate connection. `start` begins; it ends by itself.

    after_ms: only candles that opened after it; None: all, and the holes of the exchange.

    Signals, queued to the window's thread, one of them unless it was cancelled:
        loaded: its number, a whole CandleSeries with its pyramid, which belongs to the receiver from then on, and what
            the exchange is known not to have, shape (n, 2).
        failed: its number and a sentence.
    """

    loaded = Signal(int, object, object)
    failed = Signal(int, str)

    def __init__(
        self, number: int, database: Path, market: Market, after_ms: int | None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("CandleLoader")
        self._number = number
        self._database = database
        self._market, self._after_ms = market, after_ms
        self._cancelled = threading.Event()
        self._holes: NDArray[np.int64] = np.empty((0, 2), np.int64)

    def cancel(self) -> None:
        """End after the chunk that is being read, and say nothing. Callable from any thread."""
        self._cancelled.set()

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            series = self._read()
            holes = self._holes
        except CorruptDatabaseError as error:
            words = translate("Window", "{0} Restart Ghostcandle: it checks the database and sets a damaged one aside.")
            self._fail(words.format(error))
        except StorageError as error:
            self._fail(str(error))
        except Exception as error:
            _log.exception("The stored candles could not be read.")
            words = translate("Window", "They could not be read ({0}: {1}). See the log for details.")
            self._fail(words.format(type(error).__name__, error))
        else:
            if series is not None and not self._cancelled.is_set():
                self.loaded.emit(self._number, series, holes)

    def _fail(self, sentence: str) -> None:
        if not self._cancelled.is_set():
            self.failed.emit(self._number, sentence)

    def _read(self) -> CandleSeries | None:
        """The series that was asked for, or None where it was cancelled on the way."""
        parts: list[StoredColumns] = []
        with closing(open_database(self._database, readonly=True)) as db:
            for part in self._chunks(CandleStore(db)):
                if self._cancelled.is_set():
                    return None
                parts.append(part)
            if self._after_ms is None:
                self._holes = HoleStore(db).of_exchange_from(self._market, 0)
        return self._joined(parts[::-1] if self._after_ms is None else parts)

    def _chunks(self, store: CandleStore) -> Iterator[StoredColumns]:
        """All candles from the newest chunk back; those after a time from the oldest on."""
        if self._after_ms is None:
            return store.column_chunks(self._market)
        return store.ascending_chunks(self._market, self._after_ms + 1, chunk=CHUNK_ROWS)

    def _joined(self, parts: Sequence[StoredColumns]) -> CandleSeries:
        if not parts:
            return CandleSeries(self._market.interval)
        times = np.concatenate([part.open_time_ms for part in parts])
        values = np.concatenate([part.values for part in parts], axis=1)
        series = CandleSeries.from_columns(self._market.interval, times, values)
        series.build_pyramid()
        return series


class HistoryLoading(QObject):
    """One market's history at a time. Lives in the window's thread.

    What is stored while the loader reads may be in what it read or not: the window passes it to `add` as well, and it
    is added once more at the end, which changes nothing where it was read.
    """

    loaded = Signal(object, object)
    """CandleSeries: all that is stored of the market that `start` was last called with. And what its exchange is known
    not to have, shape (n, 2)."""
    later_loaded = Signal(object)
    """CandleSeries: what is stored of it after the time that `start_after` was last called with."""
    failed = Signal(str)
    """A sentence: why there is no more than what the window has."""

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self._number = 0
        self.is_loading = self._is_whole = False
        """Whether one of the signals is still to come."""
        self._stored_meanwhile: list[Candle] = []
        self._loaders: list[CandleLoader] = []

    def start(self, market: Market) -> None:
        """Begin to read a market; a read in progress is dropped."""
        self._start(market, None)

    def start_after(self, market: Market, after_ms: int) -> None:
        """Begin to read what opened after that; a read in progress is dropped."""
        self._start(market, after_ms)

    def _start(self, market: Market, after_ms: int | None) -> None:
        self.cancel()
        self.is_loading, self._is_whole = True, after_ms is None
        loader = CandleLoader(self._number, self._database, market, after_ms, self)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_failed)
        loader.finished.connect(self._on_finished)
        self._loaders.append(loader)
        loader.start()

    def add(self, candles: Sequence[Candle]) -> None:
        """These were stored just now."""
        if self.is_loading:
            self._stored_meanwhile.extend(candles)

    def cancel(self) -> None:
        """Drop the read in progress; it emits no more signals. Does not wait."""
        self._number += 1  # what is queued already carries the former number
        self.is_loading = False
        self._stored_meanwhile = []
        for loader in self._loaders:
            loader.cancel()

    def wait(self) -> bool:
        """Wait until no thread reads any more: after `cancel`, a few milliseconds. False where one takes too long."""
        return all([loader.wait(_ENDS_WITHIN_MS) for loader in self._loaders])

    @Slot(int, object, object)
    def _on_loaded(self, number: int, series: CandleSeries, holes: NDArray[np.int64]) -> None:
        if number != self._number:
            return
        series.extend(self._stored_meanwhile)
        self.is_loading, self._stored_meanwhile = False, []
        if self._is_whole:
            self.loaded.emit(series, holes)
        else:
            self.later_loaded.emit(series)

    @Slot(int, str)
    def _on_failed(self, number: int, sentence: str) -> None:
        if number != self._number:
            return
        self.is_loading, self._stored_meanwhile = False, []
        self.failed.emit(sentence)

    @Slot()
    def _on_finished(self) -> None:
        for loader in [each for each in self._loaders if each.isFinished()]:
            self._loaders.remove(loader)
            loader.deleteLater()
