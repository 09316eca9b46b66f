"""How many of a run's candles had an inside, and what it was worth. No torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.candle import Candle
from core.domain.quantities import FloatArray
from core.evaluation.findings import InsideAccuracy, estimate_data
from core.forecast.confidence import gain_sequence
from core.forecast.inside_worth import InsideWorth
from core.storage.candles import CandleStore
from core.storage.record_reader import RecordReader
from core.storage.runs import Run
from core.training.hosting.stored_insides import reads_inside

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_CANDLES = 10_000
"""The newest ones of a run: they take about ten seconds."""
_AT_ONCE = 500


def inside_data(db: Database, run: Run, reader: RecordReader) -> dict[str, Any] | None:
    """Of a run that has ended, as plain data; None of one that has read no inside. Raises StorageError."""
    insides = RunningInsides(db, run, reader)
    for _ in insides.read_more():
        pass
    found = insides.find()
    if found is None:
        return None
    return {"candles": found.candles, "known": found.known, "worth": estimate_data(found.worth)}


class RunningInsides:
    """Of a run in progress, over the candles that it has forecast from. Used from one thread only; all methods raise
    StorageError."""

    def __init__(self, db: Database, run: Run, reader: RecordReader, most: int = MOST_CANDLES) -> None:
        self._candles, self._market, self._reader, self._most = CandleStore(db), run.market, reader, most
        self._reads_inside = reads_inside(db, run)
        self._worth = InsideWorth(run.market.interval)
        self._losses: list[FloatArray] = []
        self._count = self._known = 0
        self._read_until_ms: int | None = None
        self._has_read_all = False

    def read_more(self) -> Iterator[None]:
        """Take the candles since the last call; one an iteration, in about a millisecond."""
        until_ms = self._reader.latest_origin_ms()
        if not self._reads_inside or until_ms is None or not self._candles.has_insides(self._market):
            return
        if self._read_until_ms is None:
            self._read_until_ms = self._before_first()
        while candles := self._next(self._read_until_ms, until_ms):
            for candle in candles:
                self._add(candle)
                yield
        self._has_read_all = True

    def find(self) -> InsideAccuracy | None:
        """None until all was read once, and of a run that has read no inside."""
        if not self._has_read_all or not self._known:
            return None
        with_inside, without, reference = np.array(self._losses).reshape(-1, 3).T
        return InsideAccuracy(self._count, self._known, gain_sequence(with_inside, without, reference))

    def _next(self, after_ms: int, until_ms: int) -> list[Candle]:
        candles = self._candles.load(self._market, after_ms=after_ms, limit=_AT_ONCE)
        return [candle for candle in candles if candle.open_time_ms <= until_ms]

    def _add(self, candle: Candle) -> None:
        self._read_until_ms = candle.open_time_ms
        self._count += 1
        self._known += candle.inside is not None
        losses = self._worth.add(candle)
        if losses is not None:
            self._losses.append(losses)

    def _before_first(self) -> int:
        """A time before the first of the newest candles that the run has forecast from."""
        first_ms = self._reader.nth_origin(0)
        assert first_ms is not None, "there are forecasts"
        newest_ms = self._reader.before_newest(self._most)
        return max(first_ms - 1, newest_ms)
