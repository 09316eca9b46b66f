"""The columns of all steps are those of the record, however they are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sqlite_utils import Database

from core.domain.events import StepDone
from core.storage import step_columns
from core.storage.record_tables import STEPS
from core.storage.step_columns import StepColumnReader, StepColumns
from tests.core.storage.samples import open_record, step


def read(reader: StepColumnReader) -> StepColumns:
    while reader.read_more():
        pass
    return reader.columns()


def numbers(columns: StepColumns) -> list[int]:
    return columns.column("step").astype(int).tolist()


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_columns, "PIECE", 4)


def test_all_steps_are_read_in_pieces_and_later_ones_are_added(db: Database, other: Database) -> None:
    record = open_record(db)
    steps = [step(number, number, record.reader.run_id) for number in range(1, 12)]
    steps[6] = replace(steps[6], loss=None, gradient_norm=None, skipped_because="Not finite.")
    with record.write():
        for each in steps[:9]:
            record.add_step(each)
    reader = StepColumnReader(other, record.reader.run_id)
    first = read(reader)
    with record.write():
        for each in steps[9:]:
            record.add_step(each)
    both = read(reader)
    assert numbers(first) == list(range(1, 10)) and numbers(both) == list(range(1, 12)), "the first ones stay"
    for name in ("loss", "prequential_loss", "learning_rate", "clip_norm", "at_ms", "candle_open_time_ms"):
        wanted = [getattr(each, name) for each in steps]
        np.testing.assert_array_equal(both.column(name), np.array(wanted, dtype=np.float64))
    assert np.flatnonzero(both.column("skipped")).tolist() == [6] and both.why_skipped(7) == "Not finite."
    assert np.isnan(both.column("norm_after")).all(), "a detail"


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_steps_that_the_model_went_back_behind_are_left_out(
    db: Database, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(step_columns, "PIECE", piece)
    record, taken = open_record(db), (1, 2, 3, 4, 2, 3, 5, 3, 4)
    written: list[StepDone] = [step(number, origin, record.reader.run_id) for origin, number in enumerate(taken)]
    with record.write():
        for each in written:
            record.add_step(each)
    columns = read(StepColumnReader(db, record.reader.run_id))
    assert numbers(columns) == [1, 2, 3, 4]
    assert columns.column("at_ms").tolist() == [written[place].at_ms for place in (0, 4, 7, 8)]


def test_a_damaged_row_is_left_out(db: Database) -> None:
    record = open_record(db)
    with record.write():
        for number in range(1, 7):
            record.add_step(step(number, number, record.reader.run_id))
    db.conn.execute(f"UPDATE {STEPS.name} SET loss = 1e9 WHERE step = 3")
    db.conn.commit()
    assert numbers(read(StepColumnReader(db, record.reader.run_id))) == [1, 2, 4, 5, 6]


def test_a_run_without_steps_has_none(db: Database) -> None:
    assert len(read(StepColumnReader(db, open_record(db).reader.run_id))) == 0
