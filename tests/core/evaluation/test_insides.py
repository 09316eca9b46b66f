"""How many of a run's candles had an inside, and what it was worth."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.clock import SystemClock
from core.evaluation.insides import RunningInsides, inside_data
from core.forecast.inside_worth import InsideWorth
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.core.training.online.test_insides import known
from tests.support.candles import MARKET

CANDLES = known(rigs.CANDLES[:60])


def run_over(root: Path, count: int, *, reads_inside: bool) -> None:
    """Store all candles, and let a run learn from the first."""
    spec = replace(rigs.spec(root), reads_inside=reads_inside)
    with closing(open_database(DataFolder(root).database)) as db:
        CandleStore(db).save(MARKET, CANDLES)
    session = TrainingService(spec, SystemClock())
    rigs.feed(session, CANDLES[session.status().candles : count])
    session.close()


@pytest.fixture
def insides(tmp_path: Path) -> RunningInsides:
    run_over(tmp_path, 40, reads_inside=True)
    return opened(tmp_path)


def opened(root: Path) -> RunningInsides:
    db = open_database(DataFolder(root).database, readonly=True)
    run = RunStore(db).list()[0]
    return RunningInsides(db, run, RecordReader(db, run.run_id))


def data(root: Path) -> dict[str, Any] | None:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        run = RunStore(db).list()[0]
        return inside_data(db, run, RecordReader(db, run.run_id))


def read(insides: RunningInsides) -> None:
    for _ in insides.read_more():
        pass


def test_the_candles_of_the_run_are_counted_and_its_losses_compared(insides: RunningInsides) -> None:
    assert insides.find() is None
    read(insides)
    found, worth = insides.find(), InsideWorth(MARKET.interval)
    losses = np.array([row for each in CANDLES[:40] if (row := worth.add(each)) is not None])
    assert found is not None
    assert (found.candles, found.known) == (40, sum(each.inside is not None for each in CANDLES[:40]))
    assert found.worth.n == len(losses) == 39
    np.testing.assert_allclose(insides._losses, losses, rtol=1e-6)  # stored ones are rounded


def test_it_continues_with_new_candles(insides: RunningInsides, tmp_path: Path) -> None:
    read(insides)
    run_over(tmp_path, 50, reads_inside=True)
    read(insides)
    at_once = opened(tmp_path)
    read(at_once)
    assert insides.find() == at_once.find() is not None
    assert insides._count == 50


def test_nothing_is_said_of_a_run_that_reads_no_insides(tmp_path: Path) -> None:
    run_over(tmp_path, 30, reads_inside=False)
    plain = opened(tmp_path)
    read(plain)
    assert plain.find() is None and not plain._losses
    assert data(tmp_path) is None


def test_the_data_of_a_run_are_those_of_its_window(insides: RunningInsides, tmp_path: Path) -> None:
    read(insides)
    found, shown = data(tmp_path), insides.find()
    assert found is not None and shown is not None
    assert (found["candles"], found["known"]) == (shown.candles, shown.known)
    assert found["worth"]["value"] == shown.worth.value and found["worth"]["n"] == shown.worth.n
