"""The blocks behind verdicts: stored once, the same after a restart, and rejected when damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import ForecastMode
from core.forecast.sample_sizes import BLOCK
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.online.score_ledger import ScoreLedger, load_scores
from tests.core.training.conftest import SessionAfter

FOREVER_MS = 2**62


@pytest.fixture
def reader(tmp_path: Path, session_after: SessionAfter) -> Iterator[RecordReader]:
    """Of a run of two full blocks and a few candles, cut off."""
    session_after(tmp_path, 2 * BLOCK + 6).close()
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        yield RecordReader(db, RunStore(db).list()[0].run_id)


def ledger_of(reader: RecordReader) -> ScoreLedger:
    ledger = ScoreLedger(ForecastMode.REPLAY)
    load_scores(ledger, reader, ForecastMode.REPLAY, FOREVER_MS)
    return ledger


def test_each_full_block_is_stored_with_the_sums_of_its_scores(reader: RecordReader) -> None:
    own = [block for block in reader.evidence(FOREVER_MS) if block.kind == "own"]
    scores = [score for score in reader.scores() if not score.after_gap]
    assert [block.number for block in own] == list(range(len(scores) // BLOCK)) and own
    for block in own:
        part = scores[block.number * BLOCK : (block.number + 1) * BLOCK]
        assert block.last_target_ms == part[-1].target_open_time_ms
        assert block.sums[0, 0] == pytest.approx(sum(score.loss for score in part))
        assert block.sums[2, 1] == pytest.approx(sum(score.range_reference_loss for score in part))


def test_blocks_give_the_same_verdict_as_all_scores(reader: RecordReader) -> None:
    found, whole = ledger_of(reader).evidence, ScoreLedger(ForecastMode.REPLAY).evidence
    whole.extend(reader.scores(), ForecastMode.REPLAY, FOREVER_MS)
    for one, other in ((found.skills(), whole.skills()), (found.model_gains(), whole.model_gains())):
        assert [each.n for each in one] == [each.n for each in other]
        assert [each.value for each in one] == pytest.approx([each.value for each in other])


def test_a_damaged_block_and_its_successors_are_ignored(reader: RecordReader) -> None:
    whole = reader.evidence(FOREVER_MS)
    sums = bytearray(np.ascontiguousarray(whole[0].sums).tobytes())
    sums[6] ^= 1
    with reader._db.conn:
        reader._db.conn.execute(
            "UPDATE evidence SET sums = ? WHERE kind = ? AND block = 0", (bytes(sums), whole[0].kind)
        )
    assert all(block.kind != whole[0].kind for block in reader.evidence(FOREVER_MS))


def test_a_record_of_an_older_version_without_blocks_gives_the_same_verdicts(reader: RecordReader) -> None:
    before = ledger_of(reader).evidence.skills()
    with reader._db.conn:
        reader._db.conn.execute("DELETE FROM evidence")
    after = ledger_of(reader).evidence.skills()
    assert [each.value for each in after] == pytest.approx([each.value for each in before])
    assert after[0].n == before[0].n
