"""Evaluations of checkpoints, as stored and shown with them."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from core.checkpoints.row import Evaluation, evaluation_of
from core.domain.checkpoint_info import CheckpointInfo
from core.storage.browsing import BrowsedRows, add_evaluation
from core.storage.database import open_database, select
from core.storage.errors import StorageError
from tests.core.storage.samples import checkpoint, open_record
from tests.core.storage.summaries import summary


def saved(root: Path) -> CheckpointInfo:
    """A checkpoint in the table of the database there."""
    with open_database(root / "ghostcandle.sqlite3") as db:
        record = open_record(db)
        info = checkpoint(record.reader.run_id, 1)
        with record.write():
            record.add_checkpoint(info)
    return info


def test_the_newest_is_shown_with_its_checkpoint_and_all_are_kept(tmp_path: Path) -> None:
    info = saved(tmp_path)
    first = evaluation_of(summary(info.checkpoint_id), 1_000, "reports/a.html")
    second = dataclasses.replace(first, at_ms=2_000, file="other.csv", close_skill=None)
    with open_database(tmp_path / "ghostcandle.sqlite3") as db:
        rows = BrowsedRows(db)
        assert [kept.evaluation for kept in rows.of([info.checkpoint_id])] == [None]
        add_evaluation(db, first)
        add_evaluation(db, second)
        pages = (rows.page(None, 100), rows.newer(0), rows.of([info.checkpoint_id]))
        for page in pages:
            found = [kept for kept in page if kept.info.checkpoint_id == info.checkpoint_id]
            assert [kept.evaluation for kept in found] == [second]
            assert len({kept.sequence for kept in page}) == len(page), "two evaluations make no second row"
    with open_database(tmp_path / "ghostcandle.sqlite3", readonly=True) as other:
        rows = select(other, "SELECT checkpoint_id, at_ms FROM evaluations ORDER BY id")
        assert rows == [(info.checkpoint_id, 1_000), (info.checkpoint_id, 2_000)]


def test_an_evaluation_of_an_unknown_checkpoint_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with open_database(tmp_path / "ghostcandle.sqlite3") as db, pytest.raises(StorageError):
        add_evaluation(db, evaluation_of(summary("unknown"), 1, ""))


def test_non_finite_results_are_unknown() -> None:
    found = evaluation_of(summary("a", math.nan), 1, "")
    assert isinstance(found, Evaluation) and found.close_skill is None and found.direction is None
    assert evaluation_of(summary("a", None), 1, "").close_low is None
    with pytest.raises(KeyError):
        evaluation_of({"error": "no"}, 1, "")
