"""What chances learn from touches: from forecasts that have closed, once each, and used by later forecasts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.candle import Candle, Market
from core.domain.events import ForecastMode
from core.forecast.chance import LearnedChances, nothing_learned
from core.forecast.chance_correction import NO_CORRECTION
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.evidence_blocks import EvidenceBlock, newest_block, touch_kind
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from core.training.commands import SetPaused
from core.training.online.learned_chances import ChanceLearner, LearnedChancesReader, batch_number
from core.training.online.touched import cases_of, joined
from tests.core.training import rigs
from tests.support.candles import MARKET, random_walk
from tests.support.synthetic_run import SyntheticRun

HORIZONS = 3
CANDLES = random_walk(420, seed=8)


def begins(market: Market) -> list[int]:
    """The first candle of each batch but the first."""
    numbers = [batch_number(market, candle.open_time_ms) for candle in CANDLES]
    return [place for place in range(1, len(CANDLES)) if numbers[place] != numbers[place - 1]]


BEGINS = begins(MARKET)


class Trainer:
    """Learns as a session does: with each candle, after its forecast was stored."""

    def __init__(self, root: Path, candles: Sequence[Candle] = CANDLES) -> None:
        self.run = SyntheticRun(root, HORIZONS)
        self.run.write(candles)
        self.db = open_database(DataFolder(root).database)
        CandleStore(self.db).save(MARKET, candles)
        self.candles = candles
        self.restart()

    def restart(self) -> None:
        fence = RunStore(self.db).acquire_fence(self.run.run_id)
        self._record = TrainingRecord(self.db, self.run.run_id, fence)
        self._learner = ChanceLearner(self.db, self._record.reader, MARKET, HORIZONS)

    def learn(self, first: int, stop: int) -> list[EvidenceBlock]:
        found = []
        for candle in self.candles[first:stop]:
            blocks = self._learner.learn(candle.open_time_ms)
            with self._record.write() as record:
                record.add_evidence(blocks)
            found += blocks
        return found

    def known(self, place: int, horizons: int = HORIZONS) -> LearnedChances:
        origin_ms = self.candles[place].open_time_ms
        return LearnedChancesReader().read(self.db, self.run.run_id, MARKET, horizons, origin_ms)

    def close(self) -> None:
        self.db.close()
        self.run.close()


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Trainer]:
    trainer = Trainer(tmp_path)
    yield trainer
    trainer.close()


def numbers(blocks: Sequence[EvidenceBlock]) -> list[tuple[str, int, int, list[float]]]:
    return [(each.kind, each.number, each.last_target_ms, each.sums.ravel().tolist()) for each in blocks]


def test_each_batch_that_has_paths_is_learned_at_its_end(trainer: Trainer) -> None:
    found = trainer.learn(0, len(CANDLES))
    times = [each.last_target_ms for each in found if each.kind == touch_kind(1)]
    with_paths = [place for place in BEGINS if place > 170 + HORIZONS]
    assert times == [CANDLES[place].open_time_ms for place in with_paths]
    assert {each.kind for each in found} == {touch_kind(1), touch_kind(3)}, "8 candles were not forecast"


def test_it_is_the_regression_of_the_outcomes_that_closed(trainer: Trainer) -> None:
    """Batch by batch: of each forecast once, at the first batch that begins when its candles have closed."""
    found = [each for each in trainer.learn(0, len(CANDLES)) if each.kind == touch_kind(3)]
    reader, store = RecordReader(trainer.db, trainer.run.run_id), CandleStore(trainer.db)
    learned = LearnedChancesReader().up_to(trainer.db, trainer.run.run_id, MARKET, HORIZONS, CANDLES[-1].open_time_ms)

    def uncorrected(horizons: int, _until_ms: int) -> Callable[[int], LearnedChances]:
        return lambda origin_ms: replace(nothing_learned(horizons), stretch=learned(origin_ms).stretch)

    expected, before_ms = NO_CORRECTION, 0
    for block in found:
        closed = [
            each.open_time_ms for each in CANDLES if before_ms < each.open_time_ms + 180_000 <= block.last_target_ms
        ]
        chosen = [each for each in closed if each // 60_000 % 11 in (0, 3, 6, 9)]
        forecasts = [made for each in chosen if (made := reader.forecast_of(each)) is not None]
        cases = joined(list(cases_of(forecasts, store, MARKET, uncorrected)))[3]
        expected = expected.learned(cases.chance, cases.touched, 0.5 * 11 / 4 / 3)
        assert block.sums == pytest.approx(np.vstack([expected.mean, expected.precision]))
        before_ms = block.last_target_ms
    assert len(found) >= 5


def test_a_forecast_knows_what_was_stored_before_its_candle(trainer: Trainer) -> None:
    found = trainer.learn(0, len(CANDLES))
    place = BEGINS[-1]
    own, former = ([each for each in found if each.kind == touch_kind(3)][index].sums[0] for index in (-1, -2))
    assert trainer.known(place).slope[2] == former[1], "the forecast of this candle was made before"
    assert trainer.known(place + 1).slope[2] == own[1] and trainer.known(place + 1).intercept[2] == own[0]
    assert trainer.known(place + 1).slope[1] == trainer.known(place + 1).slope[0], "within 2 as within 1"
    assert (trainer.known(100).slope == 1.0).all() and (trainer.known(100).intercept == 0.0).all()


def test_later_candles_change_nothing_that_was_learned(tmp_path: Path, trainer: Trainer) -> None:
    place = BEGINS[-2]
    wild = [replace(each, high=each.high * 1.2, low=each.low * 0.8) for each in CANDLES[place + 1 :]]
    other = Trainer(tmp_path / "wild", [*CANDLES[: place + 1], *wild])
    until = [numbers(each.learn(0, place + 1)) for each in (trainer, other)]
    after = [numbers(each.learn(place + 1, len(CANDLES))) for each in (trainer, other)]
    other.close()
    assert until[0] == until[1] and until[0]
    assert after[0] != after[1]


def test_a_trainer_that_starts_again_continues_and_one_that_goes_back_learns_nothing_twice(
    tmp_path: Path, trainer: Trainer
) -> None:
    whole = Trainer(tmp_path / "whole")
    expected = numbers(whole.learn(0, len(CANDLES)))
    whole.close()
    middle = BEGINS[-3] + 5
    first = numbers(trainer.learn(0, middle))
    trainer.restart()
    again = numbers(trainer.learn(middle - 60, len(CANDLES)))  # from a checkpoint before
    assert first + again == expected


def test_a_forecast_that_proves_nothing_teaches_nothing(trainer: Trainer) -> None:
    read = RecordReader.every_nth_forecast

    def seen(reader: RecordReader, *given: Any) -> list[object]:
        return [replace(row, mode=ForecastMode.SEEN) for row in read(reader, *given)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordReader, "every_nth_forecast", seen)
        assert trainer.learn(0, len(CANDLES)) == []


def test_a_damaged_block_counts_as_missing(trainer: Trainer) -> None:
    found = [each for each in trainer.learn(0, len(CANDLES)) if each.kind == touch_kind(3)]
    trainer.db.execute("UPDATE evidence SET checksum = checksum + 1 WHERE block = ?", (found[-1].number,))
    trainer.db.conn.commit()
    assert trainer.known(len(CANDLES) - 1).slope[2] == found[-2].sums[0, 1]


def test_a_long_record_without_any_is_learned_from_its_end(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of an older version."""
    monkeypatch.setattr("core.training.online.learned_chances._FIRST_FORECASTS", 40)
    found = trainer.learn(BEGINS[-1], BEGINS[-1] + 1)
    assert [each.kind for each in found] == [touch_kind(1), touch_kind(3)]
    gained = found[0].sums[1:] - NO_CORRECTION.precision
    assert 0.0 < gained[0, 0] < 0.25 * 0.5 * 6 * 40 * 4 / 11


def test_a_session_learns_of_each_of_its_markets_also_while_training_is_paused(tmp_path: Path) -> None:
    markets = MARKET, rigs.OTHER
    last = [next(place for place in begins(market) if place > 175) for market in markets]
    walks = [walk[: max(last) + 1] for walk in (CANDLES, random_walk(len(CANDLES), seed=9))]
    service = rigs.service_of_two(tmp_path)
    db = open_database(DataFolder(tmp_path).database)
    for market, walk in zip(markets, walks, strict=True):
        CandleStore(db).save(market, walk)
    rigs.feed_two(service, *(walk[:175] for walk in walks))
    service.handle(SetPaused(paused=True))
    rigs.feed_two(service, *(walk[175:] for walk in walks))
    service.close()
    of_runs = {run.market: newest_block(db, run.run_id, touch_kind(3), 2**62, 2**62) for run in RunStore(db).list()}
    found = [of_runs[market] for market in markets]
    assert [each and each.last_target_ms for each in found] == [CANDLES[place].open_time_ms for place in last]
    assert last[0] != last[1], "or both would keep up the same close"
    db.close()


def test_a_damaged_block_of_one_number_of_candles_teaches_others_nothing_twice(
    tmp_path: Path, trainer: Trainer
) -> None:
    whole = Trainer(tmp_path / "whole")
    expected = whole.learn(0, len(CANDLES))[-1]
    whole.close()
    middle = BEGINS[-2] + 1
    number = trainer.learn(0, middle)[-1].number
    with trainer.db.conn:
        kind = touch_kind(1)
        trainer.db.execute("UPDATE evidence SET checksum = checksum + 1 WHERE kind = ? AND block = ?", (kind, number))
    found = trainer.learn(middle, len(CANDLES))[-1]
    assert found.kind == expected.kind == touch_kind(3)
    assert found.sums == pytest.approx(expected.sums, rel=0.05)
    assert found.sums[1:] == pytest.approx(expected.sums[1:], rel=0.05)
