"""The blocks behind verdicts: stored once, the same after a restart, and rejected when damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import Estimate, ForecastMode
from core.forecast.sample_sizes import BLOCK, FEWEST_FOR_A_PROOF
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.online.evidence import LossSums, SkillEvidence, pooled
from core.training.online.score_ledger import ScoreLedger, load_scores
from tests.core.training.conftest import SessionAfter
from tests.support.candles import MINUTE

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


def losses(count: int, seed: int, unit: float = 1.0, edge: float = 0.1) -> LossSums:
    """Of a run of this many full blocks, whose forecasts lose less than the reference's by `edge`."""
    reference = unit * np.random.default_rng(seed).gamma(50.0, 1.0, (count, 2))
    without = reference * np.random.default_rng(seed + 1).normal(1.0, 0.02, reference.shape)
    ends_ms = MINUTE.duration_ms * (BLOCK * np.arange(1, count + 1) - 1)
    blocks = np.stack([(1.0 - edge) * without, without, reference], axis=1)
    return LossSums(count * BLOCK, ends_ms, blocks, np.zeros((3, 2)))


def test_what_is_proven_is_proven_from_some_candle_on() -> None:
    found = losses(40, seed=1)
    assert found.proven_after(against=2, quantity=0) == FEWEST_FOR_A_PROOF
    assert losses(40, seed=1, edge=-0.1).proven_after(against=2, quantity=0) is None


def test_markets_that_move_together_prove_no_more_than_one() -> None:
    one = losses(40, seed=1)
    three = pooled([(MINUTE.duration_ms, one)] * 3)
    assert three.n == 3 * one.n
    for alone, together in zip(one.gains(against=1), three.gains(against=1), strict=True):
        assert (together.value, together.low) == pytest.approx((alone.value, alone.low))


def test_a_restless_market_counts_as_much_as_a_calm_one_and_a_still_one_not_at_all() -> None:
    markets = [losses(40, seed=1, edge=0.1), losses(40, seed=3, unit=100.0, edge=0.3)]
    values = [of.gains(against=2)[1].value or 0.0 for of in markets]
    both = pooled([(MINUTE.duration_ms, of) for of in markets]).gains(against=2)[1]
    assert both.value == pytest.approx(sum(values) / 2.0, rel=0.02) and both.low is not None
    still = losses(40, seed=5, unit=0.0)
    assert all(each.value is None for each in still.gains(against=2))
    moving = pooled([(MINUTE.duration_ms, of) for of in (markets[0], still)]).gains(against=2)[1]
    assert moving.value == pytest.approx(values[0])


def test_a_market_that_began_later_adds_its_blocks_where_they_belong() -> None:
    whole, late = losses(40, seed=1), losses(20, seed=3)
    late = replace(late, ends_ms=late.ends_ms + 20 * BLOCK * MINUTE.duration_ms)
    both = pooled([(MINUTE.duration_ms, whole), (MINUTE.duration_ms, late)])
    assert len(both.blocks) == 40 and both.n == 60 * BLOCK
    np.testing.assert_allclose(both.blocks[:20] / both.blocks[0, 2], whole.blocks[:20] / whole.blocks[0, 2])


@pytest.mark.parametrize("seed", range(10))
def test_figure_and_verdict_change_together_and_only_when_a_block_is_full(seed: int) -> None:
    """Regression: the value moved with each candle and could leave its interval, so that a proof came and went."""
    generator, evidence = np.random.default_rng(seed), SkillEvidence("own")
    seen: list[Estimate] = []
    for target in range(1_240):
        reference = generator.gamma(1.0, 1.0, 2)
        edge = 0.05 + 0.2 * generator.normal(size=2)
        evidence.add(target, np.array([(1.0 - edge) * reference, reference, reference]))
        seen.append(evidence.gains(against=2)[1])
    bounded = seen[FEWEST_FOR_A_PROOF - 1 :]
    assert all(each.low is not None and each.low < (each.value or 0.0) for each in bounded)
    changes = [place for place in range(1, len(bounded)) if bounded[place] != bounded[place - 1]]
    assert changes == list(range(BLOCK, len(bounded), BLOCK)), "with each full block, and never in between"
    assert all(each.n == FEWEST_FOR_A_PROOF + place // BLOCK * BLOCK for place, each in enumerate(bounded))
    before = seen[: FEWEST_FOR_A_PROOF - 1]
    assert all(each.low is None and each.n == place for place, each in enumerate(before, 1)), "no verdict yet"


def test_markets_as_one_change_with_full_blocks_alone() -> None:
    whole = losses(40, seed=1)
    late = replace(whole, n=whole.n + 7, rest=whole.blocks[0] * 30.0, n_rest=7)
    both, later = (pooled([(MINUTE.duration_ms, whole), (MINUTE.duration_ms, of)]) for of in (whole, late))
    assert later.gains(against=2) == both.gains(against=2)
