"""The steps of whole runs come from the record, on another thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from sqlite_utils import Database

from core.domain.candle import Interval, Market
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from desktop.services.step_watch import StepWatch
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import STEPS_KEPT
from tests.core.storage.samples import create_run, open_record, step
from tests.desktop import scenario

OTHER = Market("binance", "ETH/USDT", Interval.parse("1m"))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    folder = DataFolder(tmp_path)
    folder.ensure()
    with open_database(folder.database) as db:
        yield db


@pytest.fixture
def curves(state: RunState) -> RunCurves:
    return RunCurves(state, state)


@pytest.fixture
def watch(db: Database, tmp_path: Path, state: RunState, curves: RunCurves) -> Iterator[StepWatch]:
    watch = StepWatch(state, curves, DataFolder(tmp_path).database)
    curves.changed.connect(lambda: watch.want(curves.request))
    yield watch
    watch.close()


def write_steps(record: TrainingRecord, numbers: range) -> None:
    with record.write():
        for number in numbers:
            record.add_step(step(number, number, record.reader.run_id))


def test_the_whole_run_is_shown_once_it_is_read_and_a_second_one_over_it(
    qtbot: QtBot, state: RunState, db: Database, curves: RunCurves, watch: StepWatch
) -> None:
    own, other = open_record(db, create_run(db)), open_record(db, create_run(db, OTHER, "second"))
    create_run(db, OTHER, "no step yet")
    write_steps(own, range(1, STEPS_KEPT + 51))
    write_steps(other, range(1, 21))
    scenario.watch(state, own.reader.run_id)
    state.add_steps(own.reader.steps(STEPS_KEPT))
    watch.want(curves.request)
    qtbot.waitUntil(lambda: len(curves.found.runs) == 2)
    assert len(curves.shown) == STEPS_KEPT and not curves.is_reading
    curves.choose_span(is_whole=True)
    assert curves.is_reading and len(curves.shown) == STEPS_KEPT, "the newest ones meanwhile"
    qtbot.waitUntil(lambda: len(curves.shown) == STEPS_KEPT + 50)
    curves.choose_other(other.reader.run_id)
    qtbot.waitUntil(lambda: curves.laid_over is not None)
    assert curves.laid_over is not None and len(curves.laid_over) == 20
    assert curves.extent == (1.0, STEPS_KEPT + 50) and not curves.is_reading


def test_steps_that_follow_are_read_too(
    qtbot: QtBot, state: RunState, db: Database, curves: RunCurves, watch: StepWatch
) -> None:
    own = open_record(db, create_run(db))
    write_steps(own, range(1, 6))
    scenario.watch(state, own.reader.run_id)
    curves.choose_span(is_whole=True)
    qtbot.waitUntil(lambda: len(curves.shown) == 5)
    write_steps(own, range(6, 9))
    state.record_changed.emit()  # a candle was scored
    watch._pause.stop()
    watch.want(curves.request)
    qtbot.waitUntil(lambda: len(curves.shown) == 8)


def test_why_the_record_cannot_be_read_is_kept(
    qtbot: QtBot, state: RunState, curves: RunCurves, tmp_path: Path
) -> None:
    watch = StepWatch(state, curves, tmp_path / "none.sqlite3")
    with qtbot.waitSignal(curves.changed, timeout=10_000):
        watch.want(curves.request)
    assert curves.trouble
    watch.close()
