"""A model that has learned several markets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import ManualClock
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support.candles import MINUTE, START_MS
from tests.support.plain_loop import learn_together

SETTINGS = replace(rigs.SMALL, online=replace(rigs.SMALL.online, twin_age=20))


def market(name: str) -> Market:
    return Market(FILE_VENUE, name, MINUTE)


@contextmanager
def learned(root: Path, candles: dict[str, Sequence[Candle]]) -> Iterator[dict[str, RecordReader]]:
    """By the name of each market."""
    folder = DataFolder(root)
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        for name, those in candles.items():
            CandleStore(db).save(market(name), list(those))
        first, *others = map(market, candles)
        spec = SessionSpec(root, first, SETTINGS, others=tuple(others))
        runs = learn_together(spec, db, ManualClock(START_MS))
        yield {name: RecordReader(db, run.run_id) for name, run in zip(candles, runs, strict=True)}
