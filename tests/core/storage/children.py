"""Child processes of the tests. Each reports its progress to the parent through a pipe."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from core.domain.diagnosis import GradientStatistics, LayerStatistics
from core.forecast.experts import Quantiles
from core.storage import record_thinning
from core.storage.candles import CandleStore, StoredColumns
from core.storage.checksums import SealedTable
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import own
from core.storage.record_writer import TrainingRecord
from tests.core.storage.samples import HORIZONS, MARKET, MINUTE_MS, candle, forecast, score, step


def write_until_killed(path: Path, run_id: str, fence: int, pipe: Connection) -> None:
    """One transaction for each candle; its number is sent once it is committed."""
    with open_database(path) as db:
        record = TrainingRecord(db, run_id, fence)
        origin = 0
        while True:
            with record.write():
                record.add_scores([score(origin - 1)] if origin else [])
                record.add_step(step(origin))
                record.add_forecast(forecast(origin))
            pipe.send(origin)
            origin += 1


def stop_inside_a_transaction(path: Path, run_id: str, fence: int, pipe: Connection) -> None:
    """Write so much that pages reach the disk before the commit, then wait in the middle of it."""
    with open_database(path) as db:
        db.execute("PRAGMA cache_size = 10")
        record = TrainingRecord(db, run_id, fence)
        with record.write():
            for origin in range(200):
                record.add_forecast(forecast(origin))
            pipe.send("inside")
            pipe.recv()


def be_killed_while_saving_columns(path: Path, rows: int, pipe: Connection) -> None:
    """Save many candles in one transaction, and wait to be killed when some of them are written."""

    def wait_for_the_kill(done: int) -> None:
        pipe.send(done)
        pipe.recv()

    times = np.arange(rows, dtype=np.int64) * 60_000
    with open_database(path) as db:
        db.execute("PRAGMA cache_size = 10")  # so that pages reach the disk before the commit
        columns = StoredColumns(times, np.ones((5, rows)))
        CandleStore(db).save_columns(MARKET, columns, replaces=False, on_progress=wait_for_the_kill)


def open_and_save(path: Path, number: int, pipe: Connection) -> None:
    """Open the file at the same moment as others do, and save one candle."""
    pipe.send("ready")
    pipe.recv()
    with open_database(path) as db:
        pipe.send(CandleStore(db).save(MARKET, [candle(number)]))


def count_when_asked(path: Path, pipe: Connection) -> None:
    """Each time that something comes through the pipe: open the file, count its candles, close it again."""
    while pipe.recv():
        with open_database(path) as db:
            pipe.send(CandleStore(db).count(MARKET))


def fill_the_disk(path: Path, limit_bytes: int, pipe: Connection) -> None:
    """Save candles until the system lets no file grow beyond the limit; send how many are in, and the sentence."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    saved = 0
    with open_database(path) as db:
        store = CandleStore(db)
        try:
            while True:
                saved += store.save(MARKET, [candle(number) for number in range(saved, saved + 100)])
        except StorageError as error:
            pipe.send((saved, str(error)))


def own_with_a_child(root: Path, pipe: Connection) -> None:
    """Own the folder, then spawn a process that outlives this one; send its id."""
    ownership = own(DataFolder(root), "window")
    child = multiprocessing.get_context("spawn").Process(target=wait_for_the_end, args=(pipe,))
    child.start()
    pipe.send(child.pid)
    child.join()
    ownership.close()


def wait_for_the_end(pipe: Connection) -> None:
    """Report that this process runs, then run until it is killed."""
    pipe.send("running")
    while True:
        time.sleep(60)


STATISTICS = GradientStatistics((LayerStatistics(1.0, 0.5, None, 2.0, 0.25, 0.125),), 1.0, 2.0, 0.5, (0.5, None), 1.0)


def write_detailed(record: TrainingRecord, origins: Iterable[int], quantities: int = 5) -> None:
    """The full record of candles: forecasts, the scores of earlier forecasts, steps."""
    empty = Quantiles(np.zeros((HORIZONS, quantities, 7)), np.zeros((3, HORIZONS, quantities, 7)))
    known = set((record.reader.origins()[0] // MINUTE_MS).tolist())
    with record.write():
        for origin in origins:
            made = forecast(origin)
            record.add_forecast(made if quantities == 5 else replace(made, quantiles=empty))
            ahead = [horizon for horizon in range(1, HORIZONS + 1) if origin - horizon in known]
            known.add(origin)
            scores = [replace(score(origin - horizon, horizon), expert_losses=bytes(264)) for horizon in ahead]
            record.add_scores(scores)
            record.add_step(replace(step(origin), gradients=STATISTICS))


def be_killed_while_thinning(path: Path, run_id: str, fence: int, pieces: int, pipe: Connection) -> None:
    """Thin, and wait to be killed inside the transaction of that piece."""
    with open_database(path) as db:
        db.execute("PRAGMA cache_size = 10")
        record = TrainingRecord(db, run_id, fence)
        thinner = record_thinning.Thinner(db, record, record_thinning.ThinningRules(1, 100))
        for _ in range(pieces - 1):
            assert thinner.piece()
        remove, begun = thinner._remove, 0

        def wait_for_the_kill(table: SealedTable, rows: list[tuple[object, ...]]) -> None:
            nonlocal begun
            remove(table, rows)
            begun += 1
            if begun == 2:
                pipe.send(pieces)
                pipe.recv()

        thinner._remove = wait_for_the_kill  # type: ignore[method-assign]
        thinner.piece()
