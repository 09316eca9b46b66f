"""A candle that is corrected after it was scored: its scores get another version, and nothing else changes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.events import ForecastScored, TrainerEvent, TrainerStatus
from core.domain.quantities import Quantity
from core.evaluation.summary import summarise
from core.forecast.experts import MODEL, unpack_losses
from core.forecast.score import pinball
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.storage.runs import RunStore
from core.training.commands import RescoreCandle, StopSession
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.driven import store_candles

CANDLES = rigs.CANDLES[:41]
AT = 22
"""The candle that is corrected."""
HORIZONS = rigs.SMALL.model.horizons


def corrected(candle: Candle) -> Candle:
    """The same, two per mille higher at its close."""
    close = candle.close * 1.002
    return dataclasses.replace(candle, close=close, high=max(candle.high, close))


RIGHT = corrected(CANDLES[AT])


def correct(root: Path, candle: Candle = RIGHT) -> None:
    """Store a correction as the window does before it notifies the trainer."""
    store_candles(root, [candle])


def rescored(events: Sequence[TrainerEvent]) -> list[ForecastScored]:
    return [event for event in events if isinstance(event, ForecastScored)]


def of_the_target(root: Path) -> list[list[StoredScore]]:
    """All versions of the scores of the candle at AT, by horizon."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        reader = RecordReader(db, RunStore(db).list()[0].run_id)
        target = CANDLES[AT].open_time_ms
        return [reader.score_versions(target, horizon=horizon) for horizon in range(1, HORIZONS + 1)]


@pytest.fixture
def begin(session_after: SessionAfter) -> SessionAfter:
    """A run that has taken the first candles, all stored."""

    def begun(root: Path, count: int) -> TrainingService:
        session = session_after(root, count)
        store_candles(root, CANDLES[:count])
        return session

    return begun


def comparable(score: StoredScore) -> StoredScore:
    """Without version, time, the volume's loss and the losses of experts and reference model, which cannot be
    computed again."""
    plain = dataclasses.replace(score, twin_loss=None, range_twin_loss=None, volume_loss=None)
    return dataclasses.replace(plain, scored_at_ms=0, version=1, expert_losses=b"")


def test_the_new_version_equals_the_score_of_the_right_candle(
    tmp_path: Path, session_after: SessionAfter, begin: SessionAfter
) -> None:
    session = begin(tmp_path / "corrected", 31)
    correct(tmp_path / "corrected")
    events = session.handle(RescoreCandle(RIGHT.open_time_ms, rigs.MARKET))
    session.close()
    right = session_after(tmp_path / "right", AT)
    rigs.feed(right, [RIGHT])
    right.close()
    found, expected = of_the_target(tmp_path / "corrected"), of_the_target(tmp_path / "right")
    assert [[score.version for score in versions] for versions in found] == [[1, 2]] * HORIZONS
    for versions, (right,) in zip(found, expected, strict=True):
        assert comparable(versions[1]) == comparable(right)
        assert versions[0].loss != versions[1].loss
        assert versions[0].expert_losses and not versions[1].expert_losses, "unknown is not made up"
        assert versions[1].twin_loss is None and versions[1].range_twin_loss is None, "nor here"
        assert versions[0].volume_loss is not None and versions[1].volume_loss is None, "nor here"
        assert versions[0].body_loss != versions[1].body_loss
    found = rescored(events)
    assert [(event.horizon, event.version) for event in found] == [(horizon, 2) for horizon in range(1, HORIZONS + 1)]
    assert all(event.actual_close == RIGHT.close for event in found)


def test_an_uncorrected_or_unscored_candle_gives_no_new_version(tmp_path: Path, begin: SessionAfter) -> None:
    session = begin(tmp_path, 31)
    store_candles(tmp_path, CANDLES)
    for candle in CANDLES:
        assert rescored(session.handle(RescoreCandle(candle.open_time_ms, rigs.MARKET))) == []
    assert rescored(session.handle(RescoreCandle(CANDLES[0].open_time_ms - 60_000, rigs.MARKET))) == [], (
        "no such candle"
    )
    session.close()


def test_nothing_is_learned_from_a_correction(tmp_path: Path, session_after: SessionAfter, begin: SessionAfter) -> None:
    """The forecasts after it are the same bytes as without the correction's command."""
    other = session_after(tmp_path / "unnotified", 36)
    session = begin(tmp_path / "notified", 31)
    correct(tmp_path / "notified")
    assert rescored(session.handle(RescoreCandle(RIGHT.open_time_ms, rigs.MARKET)))
    rigs.feed(session, CANDLES[31:36])
    found, expected = (
        rigs.digest(tmp_path / name, of.status().run_id) for name, of in (("notified", session), ("unnotified", other))
    )
    session.close()
    other.close()
    assert found == expected


def test_a_corrected_score_counts_once_now_after_a_restart_and_in_the_summary(
    tmp_path: Path, begin: SessionAfter
) -> None:
    session = begin(tmp_path, 41)
    before = session.status().markets[0].accuracy
    correct(tmp_path)
    status = session.handle(RescoreCandle(RIGHT.open_time_ms, rigs.MARKET))[-1]
    now = session.status().markets[0].accuracy
    assert isinstance(status, TrainerStatus) and status.markets[0].accuracy == now, (
        "the answer ends with the new numbers"
    )
    assert (now.scored, now.skill_close.n) == (before.scored, before.skill_close.n) == (40, 40)
    assert now.skill_close.value != before.skill_close.value
    skill = session._session.market.scores.checkpoint_scores()
    session.handle(StopSession())
    session.close()
    again = rigs.service(tmp_path)
    assert dataclasses.replace(again.status().markets[0].accuracy, model_weight=now.model_weight) == now
    assert again._session.market.scores.checkpoint_scores() == skill
    assert again._session.market.scores.usual_loss == session._session.market.scores.usual_loss
    again.close()
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    found = summarise(db, RunStore(db).list()[0])
    db.close()
    assert found["scored"] == 40 and found["skill"]["close"]["value"] == now.skill_close.value


def test_a_correction_without_a_trainer_is_applied_once_at_the_next_start(tmp_path: Path, begin: SessionAfter) -> None:
    session = begin(tmp_path, 31)
    session.handle(StopSession())
    session.close()
    correct(tmp_path)
    second = rigs.service(tmp_path)
    assert [event.version for event in rescored(second.opening_events())] == [2] * HORIZONS
    assert second.status().markets[0].accuracy.scored == 30
    second.close()
    third = rigs.service(tmp_path)
    assert rescored(third.opening_events()) == []
    third.close()
    assert [len(versions) for versions in of_the_target(tmp_path)] == [2] * HORIZONS


def test_a_candle_corrected_twice_has_three_versions(tmp_path: Path, begin: SessionAfter) -> None:
    session = begin(tmp_path, 31)
    for candle in (RIGHT, corrected(RIGHT)):
        correct(tmp_path, candle)
        assert rescored(session.handle(RescoreCandle(candle.open_time_ms, rigs.MARKET)))
    session.close()
    assert [[score.version for score in versions] for versions in of_the_target(tmp_path)] == [[1, 2, 3]] * HORIZONS


def test_a_crash_before_the_checkpoint_leaves_one_score_a_candle(tmp_path: Path, begin: SessionAfter) -> None:
    """The candle is replayed in its corrected form; its first score stays unchanged."""
    session = begin(tmp_path, 26)  # the newest checkpoint is of step 20
    correct(tmp_path)
    session.handle(RescoreCandle(RIGHT.open_time_ms, rigs.MARKET))
    session.close()
    before = of_the_target(tmp_path)
    again = rigs.service(tmp_path)
    position = again._session.position_ms
    assert position is not None and position < CANDLES[AT].open_time_ms, "there is something to go through again"
    rigs.feed(again, [*CANDLES[:AT], RIGHT, *CANDLES[AT + 1 :]])
    status = again.status()
    again.close()
    assert of_the_target(tmp_path) == before
    assert status.markets[0].accuracy.scored == status.markets[0].accuracy.skill_close.n == 40


def test_a_forecast_is_scored_from_its_committed_close(tmp_path: Path, begin: SessionAfter) -> None:
    """Crash, correction of the origin, then its target closes: the loss was five times too large."""
    last = 25
    begin(tmp_path, last + 1).close()
    right = corrected(CANDLES[last])
    correct(tmp_path, right)
    session = rigs.service(tmp_path)
    rigs.feed(session, [*CANDLES[:last], right, CANDLES[last + 1]])
    reader = RecordReader(session._db, session.status().run_id)
    made = reader.forecast_of(CANDLES[last].open_time_ms)
    (scored,) = reader.score_versions(CANDLES[last + 1].open_time_ms, horizon=1)
    session.close()
    assert made is not None and made.origin_close == CANDLES[last].close != right.close
    came = np.array(math.log(CANDLES[last + 1].close / made.origin_close))
    assert scored.loss == pytest.approx(float(pinball(came, made.quantiles.shown[0, Quantity.CLOSE])), rel=1e-6)
    of_model = made.quantiles.experts[MODEL, 0, Quantity.CLOSE]
    assert scored.model_loss == pytest.approx(float(pinball(came, of_model)), rel=1e-6)
    everyone = unpack_losses(scored.expert_losses)
    assert everyone is not None
    assert everyone[1 + MODEL, Quantity.CLOSE] == pytest.approx(scored.model_loss, rel=1e-5)


def test_corrections_beyond_the_start_batch_are_applied_with_later_candles(
    tmp_path: Path, begin: SessionAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a file was imported over the candles of the feed."""
    monkeypatch.setattr("core.training.hosting.service._CORRECTIONS_AT_OPENING", 10)
    begin(tmp_path, 31).close()
    store_candles(tmp_path, [corrected(candle) for candle in CANDLES[:31]])
    session = rigs.service(tmp_path)
    targets = {event.target_open_time_ms for event in rescored(session.opening_events())}
    assert len(targets) == 10
    later = [event for event in rescored(rigs.feed(session, CANDLES)) if event.version > 1]
    session.close()
    targets |= {event.target_open_time_ms for event in later}
    assert targets == {candle.open_time_ms for candle in CANDLES[1:31]}, "the first candle was no target"
