"""The online session over a real database: order of work, honesty, resuming."""

from __future__ import annotations

import dataclasses
import logging
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.domain.events import (
    ForecastMade,
    ForecastMode,
    ForecastScored,
    StepDone,
    TrainerState,
    TrainerStatus,
)
from core.domain.quantities import QUANTITIES, Quantity
from core.forecast.experts import EXPERTS, FORECASTS
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.record_writer import Fenced
from core.storage.records import StoredScore
from core.training.commands import ApplyRetention, SaveCheckpoint, SetPaused, StepOnce, StopSession
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.candles import MINUTE, without

CANDLES = rigs.CANDLES[:41]


@dataclasses.dataclass(frozen=True)
class Record:
    """The part that must be equal in two runs: everything except write times."""

    digest: str
    forecasts: list[tuple[int, bytes, bytes, object]]
    """Origin, quantiles of the shown forecast and of the experts, conditions."""
    scores: list[StoredScore]
    """One step ahead, with the losses of the reference model."""


def record_of(root: Path, run_id: str) -> Record:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        reader = RecordReader(db, run_id)
        forecasts = [
            (
                made.origin_open_time_ms,
                made.quantiles.shown.tobytes(),
                made.quantiles.experts.tobytes(),
                reader.conditions_of(made.origin_open_time_ms),
            )
            for made in reader.forecasts_after(None)
        ]
        scores = [dataclasses.replace(score, scored_at_ms=0) for score in reader.scores()]
        return Record(reader.forecasts_sha256(), forecasts, scores)


def run_over(root: Path, candles: list[Candle]) -> Record:
    """The result of a session over these candles."""
    session = rigs.service(root)
    rigs.feed(session, candles)
    run_id = session.status().run_id
    session.close()
    return record_of(root, run_id)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Of an undisturbed run over all CANDLES."""
    return run_over(tmp_path_factory.mktemp("whole"), CANDLES)


def test_each_candle_is_scored_trained_on_and_forecast_from(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    events = rigs.feed(session, CANDLES[:20])
    status = session.status()
    session.close()
    assert sum(isinstance(event, ForecastMade) for event in events) == 20
    assert sum(isinstance(event, StepDone) for event in events) == 19
    one_step = [event for event in events if isinstance(event, ForecastScored) and event.horizon == 1]
    assert [event.target_open_time_ms for event in one_step] == [candle.open_time_ms for candle in CANDLES[1:20]]
    assert status.markets[0].accuracy.scored == 19 and status.step == 19 and status.candles == 20
    horizon_3 = [event for event in events if isinstance(event, ForecastScored) and event.horizon == 3]
    assert horizon_3[0].origin_open_time_ms == CANDLES[0].open_time_ms
    assert horizon_3[0].target_open_time_ms == CANDLES[3].open_time_ms


def test_the_weights_of_the_combination_are_reported(tmp_path: Path) -> None:
    clock = ManualClock()
    session = rigs.service(tmp_path, clock=clock)
    before = session.status().markets[0].shares
    rigs.feed(session, CANDLES[:15])
    clock.advance_ms(60_000)
    statuses = [event for event in rigs.feed(session, CANDLES[15:16]) if isinstance(event, TrainerStatus)]
    shares, weight = session.status().markets[0].shares, session.status().markets[0].accuracy.model_weight
    session.close()
    assert before is not None and shares is not None and statuses[-1].markets[0].shares is not None
    assert shares.experts == EXPERTS and len(shares.quantities) == QUANTITIES and len(shares.shares) == 3
    for of_horizon in shares.shares:
        for quantity, of_quantity in enumerate(of_horizon):
            assert sum(of_quantity) == pytest.approx(1.0)
            assert [share == 0.0 for share in of_quantity] == (~FORECASTS[:, quantity]).tolist()
    assert shares.shares[0][0][0] == weight
    assert shares != before


def test_a_forecast_is_durable_before_its_target_is_read(tmp_path: Path) -> None:
    """From a second connection, after each candle: all its horizons are stored and none is scored yet."""
    session = rigs.service(tmp_path)
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    reader = RecordReader(db, session.status().run_id)
    for candle in CANDLES[:12]:
        rigs.feed(session, [candle])
        made = reader.forecast_of(candle.open_time_ms)
        assert made is not None and made.horizons == 3
        assert made.inputs_until_ms == MINUTE.close_time_ms(candle.open_time_ms)
        assert all(score.target_open_time_ms <= candle.open_time_ms for score in reader.scores())
    db.close()
    session.close()


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moment=st.integers(5, 34), factor=st.floats(0.8, 1.2).filter(lambda factor: factor != 1.0))
def test_nothing_later_changes_a_forecast(
    tmp_path_factory: pytest.TempPathFactory, whole: Record, moment: int, factor: float
) -> None:
    """Corrupt every candle after a moment: of all that was forecast until then nothing is another, also afterwards."""
    changed = [
        candle if index <= moment else dataclasses.replace(candle, **_raised(candle, factor), volume=7.0)
        for index, candle in enumerate(CANDLES)
    ]
    corrupted = run_over(tmp_path_factory.mktemp("run"), changed)
    count = moment + 1
    assert whole.forecasts[moment][0] == CANDLES[moment].open_time_ms
    assert whole.forecasts[:count] == corrupted.forecasts[:count]
    assert whole.forecasts != corrupted.forecasts


def test_a_repeated_or_old_candle_changes_nothing(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    before = session.status().step, rigs.digest(tmp_path, session.status().run_id)
    assert [event for event in rigs.feed(session, [CANDLES[20], CANDLES[3]]) if isinstance(event, StepDone)] == []
    assert before == (session.status().step, rigs.digest(tmp_path, session.status().run_id))
    session.close()


@pytest.mark.parametrize(("stop", "is_killed"), [(1, True), (33, True), (17, False)])
def test_a_killed_session_resumes_to_the_same_bytes(
    tmp_path: Path, session_after: SessionAfter, whole: Record, stop: int, is_killed: bool
) -> None:
    """Killed, that is closed without a last checkpoint: the record runs ahead of the model, and stays as it is. After
    one candle there is no checkpoint yet: the same seed and candles give the same bytes from the beginning."""
    session = session_after(tmp_path, stop)
    if not is_killed:
        session.handle(StopSession())
    session.close()
    resumed = rigs.service(tmp_path)
    rigs.feed(resumed, rigs.after(resumed, len(CANDLES)))
    status = resumed.status()
    resumed.close()
    assert record_of(tmp_path, status.run_id) == whole
    assert whole.scores[0].twin_loss is None and whole.scores[-1].twin_loss is not None
    assert whole.scores[-1].regime is not None
    assert status.markets[0].accuracy.scored == 40 and status.step == 40


def test_a_restart_continues_the_run(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 63)
    session.handle(StopSession())
    before = session.status()
    session.close()
    after = rigs.service(tmp_path)
    again = after.status()
    after.close()
    assert (again.run_id, again.step, again.position_ms) == (before.run_id, before.step, before.position_ms)
    assert again.markets[0].accuracy == before.markets[0].accuracy and again.loss == before.loss
    assert (
        again.markets[0].online == before.markets[0].online
        and before.markets[0].online is not None
        and before.markets[0].online.gain.value is not None
    )


def test_stored_forecasts_are_never_rewritten(tmp_path: Path, session_after: SessionAfter) -> None:
    """A second trainer forecasts differently (another learning rate): the committed forecast stays and is scored."""
    session = session_after(tmp_path, 26)
    run_id = session.status().run_id
    session.close()
    before = rigs.digest(tmp_path, run_id)
    training = dataclasses.replace(rigs.SMALL.training, learning_rate=0.5)
    resumed = rigs.service(tmp_path, dataclasses.replace(rigs.SMALL, training=training))
    assert resumed.status().run_id == run_id and resumed.status().step < 25
    made = [event for event in rigs.feed(resumed, CANDLES[:26]) if isinstance(event, ForecastMade)]
    assert made and rigs.digest(tmp_path, run_id) == before
    resumed.close()


def test_a_gap_is_neither_scored_as_the_runs_own_nor_trained_on(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    events = rigs.feed(session, without(CANDLES[:25], 15))
    scored = {
        (event.origin_open_time_ms, event.horizon): event for event in events if isinstance(event, ForecastScored)
    }
    after = scored[(CANDLES[14].open_time_ms, 1)]
    assert after.after_gap and after.target_open_time_ms == CANDLES[16].open_time_ms
    assert not scored[(CANDLES[16].open_time_ms, 1)].after_gap
    assert session.status().markets[0].accuracy.skill_close.n == session.status().markets[0].accuracy.scored - 1
    session.close()


@pytest.mark.parametrize(("late_ms", "expected"), [(0, "live"), (2_900, "live"), (3_100, "catch-up")])
def test_a_forecast_committed_too_late_is_not_live(tmp_path: Path, late_ms: int, expected: str) -> None:
    clock = ManualClock(MINUTE.close_time_ms(CANDLES[0].open_time_ms) + late_ms)
    session = rigs.service(tmp_path, clock=clock)
    made = [event for event in rigs.feed(session, CANDLES[:1], ForecastMode.LIVE) if isinstance(event, ForecastMade)]
    session.close()
    assert [event.mode for event in made] == [ForecastMode(expected)]


def test_a_paused_session_scores_and_forecasts_but_does_not_train(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    session.handle(SetPaused(True))
    events = rigs.feed(session, CANDLES[21:26])
    assert not any(isinstance(event, StepDone) for event in events)
    assert sum(isinstance(event, ForecastScored) and event.horizon == 1 for event in events) == 5
    assert next(type(event) for event in session.handle(StepOnce())) is StepDone
    session.handle(SetPaused(False))
    assert any(isinstance(event, StepDone) for event in rigs.feed(session, CANDLES[26:27]))
    session.close()


def test_a_late_trainer_is_fenced_off(tmp_path: Path, session_after: SessionAfter) -> None:
    late = session_after(tmp_path, 11)
    new = rigs.service(tmp_path)
    with pytest.raises(Fenced):
        late.handle(rigs.observed(CANDLES[11]))
    late.close()
    rigs.feed(new, CANDLES[11:12])
    new.close()


def test_each_step_leaves_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    session = rigs.service(tmp_path)
    with caplog.at_level(logging.INFO, logger="ghostcandle.training"):
        rigs.feed(session, CANDLES[:10])
    session.close()
    assert len([record for record in caplog.records if record.message.startswith("step ")]) == 9


def test_a_flat_market_causes_no_error(tmp_path: Path) -> None:
    flat = [Candle(60_000 * index, 5.0, 5.0, 5.0, 5.0, 0.0) for index in range(20)]
    session = rigs.service(tmp_path)
    events = rigs.feed(session, flat)
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert len(losses) == 19 and all(loss is not None and np.isfinite(loss) for loss in losses)
    assert session.status().markets[0].accuracy.direction.n == 0
    session.close()


def test_a_resumed_session_is_ready_before_the_next_candle(tmp_path: Path, session_after: SessionAfter) -> None:
    """Between two candles of a slow market a window that was opened again must not wait for the next one."""
    session = session_after(tmp_path, 31)
    session.handle(StopSession())
    session.close()
    again = rigs.service(tmp_path)
    status = next(event for event in again.opening_events() if isinstance(event, TrainerStatus))
    again.close()
    assert status.state is TrainerState.TRAINING and status.step == 30


def test_manual_or_noted_checkpoints_outlive_periodic_ones(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 15)
    session.handle(ApplyRetention(dataclasses.replace(rigs.SMALL.checkpoints, keep_newest=2, keep_every_steps=0)))
    session.handle(SaveCheckpoint())
    rigs.feed(session, rigs.CANDLES[15:51])
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    kept = CheckpointRows(db).list(session.status().run_id)
    db.close()
    session.close()
    assert [(info.step, info.reason) for info in kept] == [(50, "periodic"), (40, "periodic"), (14, "manual")]


def test_samples_across_a_gap_are_not_trained_on(tmp_path: Path, session_after: SessionAfter) -> None:
    """A move of 30 % while nothing was recorded: scales, reference and the loss curve are as without it."""
    jump = [dataclasses.replace(candle, **_raised(candle, 1.3)) for candle in CANDLES[27:30]]
    session = session_after(tmp_path, 21)
    before = rigs.feed(session, CANDLES[21:23])
    scale = session._session.market.history.column("scale")[-1]
    after = rigs.feed(session, jump[:1])
    assert session._session.market.history.column("scale")[-1] < 1.5 * scale
    (step,) = [event for event in after if isinstance(event, StepDone)]
    assert step.prequential_loss is None
    assert any(event.prequential_loss is not None for event in before if isinstance(event, StepDone))
    assert all(event.after_gap for event in after if isinstance(event, ForecastScored))
    anchor = session._session.market.history.anchors(np.array([-1]))
    rigs.feed(session, jump[1:3])
    assert np.abs(session._session.market.history.anchors(np.array([-1])) - anchor)[0, 0, Quantity.CLOSE].max() < 1.0
    session.close()


def _raised(candle: Candle, factor: float) -> dict[str, float]:
    return {name: factor * getattr(candle, name) for name in ("open", "high", "low", "close")}
