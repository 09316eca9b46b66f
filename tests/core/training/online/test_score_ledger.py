from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.events import ForecastGroup, ForecastMode
from core.forecast.confidence import skill_sequence
from core.forecast.experts import Quantiles
from core.forecast.sample_sizes import BLOCK
from core.storage.database import open_database
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.training.online.accuracy_summary import SCORE_WINDOW
from core.training.online.score_ledger import ScoreLedger, load_scores
from tests.core.storage.samples import forecast, open_record
from tests.core.training import rigs
from tests.support.scores import as_stored


def scores(n: int, factor: float = 1.0, seed: int = 0, mode: ForecastMode = ForecastMode.LIVE) -> list[StoredScore]:
    references = np.random.default_rng(seed).gamma(4.0, 0.25, n)
    return [
        dataclasses.replace(rigs.SCORE, target_open_time_ms=index, mode=mode, loss=factor * value, reference_loss=value)
        for index, value in enumerate(references)
    ]


def test_seven_hits_are_too_few_for_an_accuracy() -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(scores(7))
    summary = ledger.own_summary(7, 7, None)
    assert summary.direction.value is None and not summary.has_proven_edge
    assert "Too early" in summary.verdict


@pytest.mark.parametrize(("n", "factor", "proven"), [(1000, 0.9, True), (1000, 1.0, False), (700, 0.9, False)])
def test_an_edge_needs_its_whole_interval_above_zero_and_enough_candles(n: int, factor: float, proven: bool) -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(scores(n, factor))
    assert ledger.own_summary(n, n, None).has_proven_edge is proven


def test_a_market_without_movement_is_nothing_to_forecast() -> None:
    still = [dataclasses.replace(each, loss=1e-6, reference_loss=1e-17) for each in scores(1_000)]
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(still)
    found = ledger.own_summary(1_000, 1_000, None)
    assert found.skill_close.value is None and found.verdict.startswith("Nothing to forecast")


def test_the_headline_uses_the_always_valid_interval() -> None:
    ledger, taken = ScoreLedger(ForecastMode.LIVE), scores(1_130)
    losses = np.random.default_rng(5).gamma(4.0, 0.24, len(taken))
    taken = [dataclasses.replace(score, loss=float(loss)) for score, loss in zip(taken, losses, strict=True)]
    ledger.extend(taken)
    found = ledger.own_summary(len(taken), len(taken), None).skill_close
    wanted = skill_sequence(losses, np.array([score.reference_loss for score in taken]))
    assert found.low is not None and found.n == wanted.n
    assert (found.value, found.low, found.high) == pytest.approx((wanted.value, wanted.low, wanted.high))


@pytest.mark.parametrize("seed", range(10))
def test_a_checkpoint_has_the_gain_of_the_run_of_the_same_moment(seed: int) -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    for score in scores(830, 0.97, seed):
        ledger.add(score)
        if score.target_open_time_ms % 17 == 0:
            gains = ledger.own_summary(0, 0, None).model_gain
            assert gains is not None and ledger.checkpoint_scores().gain == gains[0]
    assert ledger.checkpoint_scores().gain.n == 800


def test_forecasts_that_were_not_live_are_scored_separately() -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(scores(100, 0.5, mode=ForecastMode.CATCH_UP))
    ledger.extend(scores(50, 1.5))
    own, apart = ledger.own_summary(150, 50, None), ledger.other_summary(150, 50)
    assert own.skill_close.value == pytest.approx(-0.5) and own.skill_close.n == 50
    assert apart is not None and apart.skill_close.value == pytest.approx(0.5)


def test_caught_up_scores_are_not_mixed_with_those_of_candles_seen_before() -> None:
    ledger = ScoreLedger(ForecastMode.LIVE)
    ledger.extend(scores(300, 0.1, mode=ForecastMode.SEEN))
    for mode, count in ((ForecastMode.CATCH_UP, 40), (ForecastMode.RECOVERY, 20)):
        ledger.extend(scores(count, 0.5, mode=mode))
    apart = ledger.other_summary(60, 0)
    assert apart is not None and apart.group is ForecastGroup.CAUGHT_UP
    assert apart.skill_close.n == 60 and apart.skill_close.value == pytest.approx(0.5)


@settings(max_examples=40)
@given(
    n=st.sampled_from([90, 349, 350, 401, 1049, 1100, 1237]),
    seed=st.integers(0, 99),
    changed=st.lists(st.tuples(st.integers(0, 1400), st.sampled_from([0.5, 1.5])), max_size=60),
)
def test_a_replaced_score_gives_the_same_result_as_the_final_scores(
    n: int, seed: int, changed: list[tuple[int, float]]
) -> None:
    """Windows and checkpoint scores are those of a ledger that was given the newest versions at once; full blocks of
    evidence stay as they came."""
    first = scores(n, 0.97, seed)
    final = list(first)
    ledger, oracle, as_it_came = (ScoreLedger(ForecastMode.LIVE) for _ in range(3))
    ledger.extend(first)
    for index, factor in changed:
        if index >= n:
            continue
        final[index] = dataclasses.replace(final[index], loss=final[index].loss * factor, overlap=factor, version=2)
        ledger.replace(final[index])
    oracle.extend(final, first_loss=lambda score: first[score.target_open_time_ms].loss)
    as_it_came.extend([*first[: n // BLOCK * BLOCK], *final[n // BLOCK * BLOCK :]])
    found, expected = ledger.own_summary(n, n, None), oracle.own_summary(n, n, None)
    assert found.candle_accuracy == expected.candle_accuracy
    assert found.skill_close == as_it_came.own_summary(n, n, None).skill_close
    assert ledger.checkpoint_scores() == oracle.checkpoint_scores()
    assert ledger.usual_loss == oracle.usual_loss == np.median([score.loss for score in first[-200:]])


@dataclasses.dataclass(frozen=True)
class Recorded:
    """A record of scores as they came first, the n-th of target n, and of what corrected some of them."""

    database: Path
    run_id: str
    first: list[StoredScore]
    corrected: list[StoredScore]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    modes = [*[ForecastMode.LIVE] * 3, ForecastMode.CATCH_UP]
    first = [
        dataclasses.replace(
            as_stored(each),
            origin_open_time_ms=each.target_open_time_ms,
            mode=modes[place // 40 % 4],
            after_gap=place % 97 == 0,
            twin_loss=0.5,
            range_twin_loss=0.5,
        )
        for place, each in enumerate(scores(6_000, 0.97))
    ]
    corrected = [dataclasses.replace(first[place], loss=2.0, version=2) for place in (5, 1_390, 4_690)]
    database = tmp_path_factory.mktemp("recorded") / "db.sqlite3"
    with closing(open_database(database)) as db:
        record = open_record(db)
        blank = dataclasses.replace(forecast(0), quantiles=Quantiles(np.zeros((1, 1, 1)), np.zeros((1, 1, 1, 1))))
        with record.write():
            for each in first:
                record.add_forecast(dataclasses.replace(blank, origin_open_time_ms=each.origin_open_time_ms))
            record.add_scores([*first, *corrected])
        return Recorded(database, record.reader.run_id, first, corrected)


@pytest.mark.parametrize("until", [1_400, 4_700, 10_000])
def test_a_ledger_rebuilt_from_the_record_equals_the_original(recorded: Recorded, until: int) -> None:
    """It reads a part of them: modes in turn, gaps, corrections, and more than any window holds."""
    given_ = recorded.first
    with closing(open_database(recorded.database, readonly=True)) as db:
        reader = RecordReader(db, recorded.run_id)
        found = ScoreLedger(ForecastMode.LIVE)
        read = reader.newest_scores(until, SCORE_WINDOW)
        load_scores(found, reader, ForecastMode.LIVE, until, lambda each: given_[each.target_open_time_ms].loss)
    newest = {each.target_open_time_ms: each for each in [*given_, *recorded.corrected]}
    whole = ScoreLedger(ForecastMode.LIVE)
    for target in sorted(newest):
        if target <= until:
            whole.add(newest[target], given_[target].loss)
    assert found.own_summary(1, 1, None) == whole.own_summary(1, 1, None)
    assert found.other_summary(1, 1) == whole.other_summary(1, 1)
    assert found.checkpoint_scores() == whole.checkpoint_scores() and found.usual_loss == whole.usual_loss
    assert found.evidence.online_gain(1, 0) == whole.evidence.online_gain(1, 0)
    assert len(read) <= min(until + 1, 6_000)
