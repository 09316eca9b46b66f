"""What each expert lost and hit, in blocks: the sums of what is stored, also after a restart and of older records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import ForecastMode
from core.domain.quantities import Quantity
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, pack_losses, unpack_losses
from core.forecast.sample_sizes import BLOCK
from core.forecast.score import close_hits
from core.storage.database import open_database
from core.storage.evidence_blocks import COMBINATION, ExpertSums, read_expert_sums
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.training.online.evidence import ExpertEvidence
from tests.core.training import rigs

TAKEN, STOPPED = 121, 75


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 121 candles, continued in the middle of its second block."""
    folder = tmp_path_factory.mktemp("run")
    for count in (STOPPED, TAKEN):
        session = rigs.service(folder)
        rigs.feed(session, rigs.after(session, count))
        session.close()
    return folder


@contextmanager
def reading(root: Path) -> Iterator[RecordReader]:
    with closing(open_database(DataFolder(root).database)) as db:
        yield RecordReader(db, rigs.newest_run(db))


def sums_of(reader: RecordReader, after_ms: int = -1) -> Mapping[str, ExpertSums]:
    return read_expert_sums(reader._db, reader.run_id, after_ms)


def test_blocks_hold_the_sums_of_what_is_stored(root: Path) -> None:
    with reading(root) as reader:
        found = sums_of(reader)
        scores = [score for score in reader.scores() if not score.after_gap][: TAKEN // BLOCK * BLOCK]
        newest = sums_of(reader, scores[BLOCK - 1].target_open_time_ms)
    assert set(found) == {COMBINATION, *EXPERTS}
    ends = [score.target_open_time_ms for score in scores[BLOCK - 1 :: BLOCK]]
    assert all(each.last_target_ms.tolist() == ends for each in found.values())
    assert all(each.last_target_ms.tolist() == ends[1:] for each in newest.values())
    losses = np.array([unpack_losses(score.expert_losses) for score in scores]).reshape(-1, BLOCK, 1 + len(EXPERTS), 6)
    for expert, name in enumerate(EXPERTS):
        wanted = losses[:, :, 1 + expert][..., [Quantity.CLOSE, Quantity.RANGE]].sum(axis=1)
        np.testing.assert_allclose(found[name].sums[:, 0], wanted)
    shown = np.array([(score.loss, score.range_loss, score.inside_90, 1.0) for score in scores])
    np.testing.assert_allclose(found[COMBINATION].sums[:, :2].reshape(-1, 4), shown.reshape(-1, BLOCK, 4).sum(axis=1))


def test_hits_are_those_of_the_stored_forecasts(root: Path) -> None:
    """Of model and reference, whose quantiles are stored. The other experts' are not, so a checkpoint has what they hit
    of the candles between the last block and a restart."""
    with reading(root) as reader:
        found = sums_of(reader)
        scores = [score for score in reader.scores() if not score.after_gap][: TAKEN // BLOCK * BLOCK]
        experts = {each.origin_open_time_ms: each.quantiles.experts for each in reader.forecasts_after(None)}
        made = [experts[score.origin_open_time_ms] for score in scores]
    closes = {candle.open_time_ms: candle.close for candle in rigs.CANDLES}
    actual = [np.log(closes[score.target_open_time_ms] / closes[score.origin_open_time_ms]) for score in scores]
    for place, expert in enumerate((MODEL, REFERENCE)):
        hits = [close_hits(of[place, 0, Quantity.CLOSE], float(close)) for of, close in zip(made, actual, strict=True)]
        wanted = np.reshape(hits, (-1, BLOCK, 2, 2)).sum(axis=1)
        np.testing.assert_allclose(found[EXPERTS[expert]].sums[:, 1:], wanted)
        assert found[EXPERTS[expert]].sums[:, 1, 1].tolist() == [BLOCK, BLOCK]
    assert found[EXPERTS[REFERENCE]].sums[0, 2, 1] == 0, "no change has no direction"
    assert found[COMBINATION].sums[:, 1, 1].tolist() == [BLOCK, BLOCK]


def test_a_record_of_an_older_version_gets_its_blocks_from_the_losses_that_are_left(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    with reading(copy) as reader:
        before = sums_of(reader)
        first = reader.scores()[10].target_open_time_ms
        with reader._db.conn as connection:
            connection.execute("DELETE FROM evidence WHERE kind NOT IN ('own', 'online')")
            connection.execute(
                "DELETE FROM score_details WHERE id IN (SELECT id FROM scores WHERE target_open_time_ms < ?)", (first,)
            )
    session = rigs.service(copy)
    rigs.feed(session, rigs.after(session))
    session.close()
    with reading(copy) as reader:
        after, left = sums_of(reader), [each for each in reader.scores() if each.expert_losses]
    assert [len(each.last_target_ms) for each in after.values()] == [2] * len(before)
    assert (
        left[0].target_open_time_ms == first and after["HAR"].last_target_ms[0] == left[BLOCK - 1].target_open_time_ms
    )
    assert after["HAR"].sums[0, 1, 1] == 0, "the band of an old forecast is not known"
    assert after[COMBINATION].sums[0, 1, 1] == BLOCK, "that of the combination is"


def taken(n: int) -> tuple[ExpertEvidence, list[StoredScore]]:
    losses = np.random.default_rng(0).gamma(2.0, 1.0, (n, 1 + len(EXPERTS), len(Quantity)))
    scores = [
        replace(rigs.SCORE, target_open_time_ms=place, expert_losses=pack_losses(each))
        for place, each in enumerate(losses)
    ]
    evidence = ExpertEvidence()
    for score in scores:
        evidence.add(score, None)
    return evidence, scores


def test_a_corrected_candle_is_left_out_until_its_block_is_full() -> None:
    evidence, scores = taken(BLOCK - 1)
    evidence.remove(7)
    evidence.add(replace(scores[-1], target_open_time_ms=BLOCK), None)
    assert evidence.pop_new() == []
    evidence.add(replace(scores[-1], target_open_time_ms=BLOCK + 1), None)
    full = {block.kind: block for block in evidence.pop_new()}
    evidence.remove(8)
    assert full[COMBINATION].sums[1, 1] == BLOCK and full[COMBINATION].last_target_ms == BLOCK + 1
    kept = [np.asarray(unpack_losses(score.expert_losses)) for score in scores if score.target_open_time_ms != 7]
    wanted = sum(each[1, Quantity.CLOSE] for each in [*kept, kept[-1], kept[-1]])
    assert full["expert model"].sums[0, 0] == pytest.approx(wanted)


def test_repeated_candles_and_those_without_losses_change_nothing() -> None:
    evidence, scores = taken(BLOCK - 1)
    evidence.add(scores[-1], None)
    evidence.add(replace(rigs.SCORE, target_open_time_ms=BLOCK, mode=ForecastMode.LIVE), None)
    assert evidence.pop_new() == []


def test_a_checkpoint_has_the_hits_of_a_full_block_until_it_is_stored() -> None:
    """It is stored with the next candle."""
    evidence, scores = taken(BLOCK + 3)
    assert evidence.open_hits()["target_open_time_ms"].tolist() == [score.target_open_time_ms for score in scores]
    assert len(evidence.pop_new()) > 1
    assert evidence.open_hits()["target_open_time_ms"].size == 3
