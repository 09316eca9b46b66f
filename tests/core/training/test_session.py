"""The online session over a real database: order of work, honesty, resuming."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.clock import ManualClock
from core.commands import KeepBy, ObserveCandle, SaveCheckpoint, SetLearningRate, SetPaused, StepOnce, StopSession
from core.diagnosis import Diagnosis, Disease, NonFiniteOrigin
from core.events import (
    CheckpointsChanged,
    ForecastMade,
    ForecastMode,
    ForecastScored,
    Incident,
    StepDone,
    TrainerEvent,
    TrainerState,
    TrainerStatus,
)
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, SPEAKS
from core.forecast.quantities import QUANTITIES
from core.market.candle import Candle
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.reader import RecordReader
from core.storage.record import Fenced
from core.storage.records import StoredScore
from core.training.engine.engine import TrainingEngine
from core.training.service import TrainingService
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.candles import MINUTE, without

CANDLES = rigs.CANDLES[:41]


@dataclasses.dataclass(frozen=True)
class Record:
    """What must be the same in two runs: all but the times at which it was written."""

    digest: str
    forecasts: list[tuple[int, int, bytes, bytes, object]]
    """Origin, horizon, quantiles of what was shown and of the experts, conditions."""
    scores: list[StoredScore]
    """One step ahead, with what the frozen twin lost."""


def record_of(root: Path, run_id: str) -> Record:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        reader = RecordReader(db, run_id)
        forecasts = [
            (row.origin_open_time_ms, row.horizon, row.quantiles.tobytes(), row.experts.tobytes(), conditions)
            for origin in reader.origins()[0]
            for conditions in [reader.conditions_of(int(origin))]
            for row in reader.forecasts_of(int(origin))
        ]
        scores = [dataclasses.replace(score, scored_at_ms=0) for score in reader.scores()]
        return Record(reader.forecasts_sha256(), forecasts, scores)
    finally:
        db.close()


def run_over(root: Path, candles: list[Candle]) -> Record:
    """What a session over these candles leaves."""
    session = rigs.service(root)
    rigs.feed(session, candles)
    run_id = session.status().run_id
    session.close()
    return record_of(root, run_id)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Of a run over all CANDLES that nobody disturbs."""
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
    assert status.accuracy.scored == 19 and status.step == 19 and status.candles == 20
    horizon_3 = [event for event in events if isinstance(event, ForecastScored) and event.horizon == 3]
    assert horizon_3[0].origin_open_time_ms == CANDLES[0].open_time_ms
    assert horizon_3[0].target_open_time_ms == CANDLES[3].open_time_ms


def test_it_tells_how_the_forecast_is_mixed(tmp_path: Path) -> None:
    clock = ManualClock()
    session = rigs.service(tmp_path, clock=clock)
    before = session.status().shares
    rigs.feed(session, CANDLES[:15])
    clock.advance_ms(60_000)
    told = [event for event in rigs.feed(session, CANDLES[15:16]) if isinstance(event, TrainerStatus)]
    shares, weight = session.status().shares, session.status().accuracy.model_weight
    session.close()
    assert before is not None and shares is not None and told[-1].shares is not None
    assert shares.experts == EXPERTS and len(shares.quantities) == QUANTITIES and len(shares.shares) == 3
    for of_horizon in shares.shares:
        for quantity, of_quantity in enumerate(of_horizon):
            assert sum(of_quantity) == pytest.approx(1.0)
            assert [share == 0.0 for share in of_quantity] == (~SPEAKS[:, quantity]).tolist()
    assert shares.shares[0][0][0] == weight
    assert shares != before


def test_a_forecast_is_durable_before_its_target_is_looked_at(tmp_path: Path) -> None:
    """From a second connection, after each candle: all its horizons are stored and none is scored yet."""
    session = rigs.service(tmp_path)
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    reader = RecordReader(db, session.status().run_id)
    for candle in CANDLES[:12]:
        rigs.feed(session, [candle])
        rows = reader.forecasts_of(candle.open_time_ms)
        assert [row.horizon for row in rows] == [1, 2, 3]
        assert all(row.inputs_until_ms == MINUTE.close_time_ms(candle.open_time_ms) for row in rows)
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
    count = 3 * (moment + 1)
    assert whole.forecasts[count - 1][:2] == (CANDLES[moment].open_time_ms, 3)
    assert whole.forecasts[:count] == corrupted.forecasts[:count]
    assert whole.forecasts != corrupted.forecasts


def test_a_candle_twice_or_an_old_one_changes_nothing(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    before = session.status().step, rigs.digest(tmp_path, session.status().run_id)
    assert [event for event in rigs.feed(session, [CANDLES[20], CANDLES[3]]) if isinstance(event, StepDone)] == []
    assert before == (session.status().step, rigs.digest(tmp_path, session.status().run_id))
    session.close()


def test_same_seed_same_candles_same_bytes(tmp_path: Path, whole: Record) -> None:
    assert run_over(tmp_path, CANDLES) == whole


@pytest.mark.parametrize(("stop", "is_killed"), [(1, True), (11, True), (33, True), (17, False)])
def test_a_session_that_was_cut_off_goes_on_to_the_same_bytes(
    tmp_path: Path, session_after: SessionAfter, whole: Record, stop: int, is_killed: bool
) -> None:
    """Killed, that is closed without a last checkpoint: the record runs ahead of the model, and stays as it is."""
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
    assert status.accuracy.scored == 40 and status.step == 40


def test_stopping_and_starting_goes_on_where_it_was(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 63)
    session.handle(StopSession())
    before = session.status()
    session.close()
    after = rigs.service(tmp_path)
    again = after.status()
    after.close()
    assert (again.run_id, again.step, again.position_ms) == (before.run_id, before.step, before.position_ms)
    assert again.accuracy == before.accuracy and again.loss == before.loss
    assert again.online == before.online and before.online is not None and before.online.gain.value is not None


def test_what_stands_in_the_record_is_never_rewritten(tmp_path: Path, session_after: SessionAfter) -> None:
    """A second trainer forecasts otherwise (another learning rate): what was committed stays and is what is scored."""
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


def test_a_hole_is_neither_scored_as_the_runs_own_nor_trained_on(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    events = rigs.feed(session, without(CANDLES[:25], 15))
    scored = {
        (event.origin_open_time_ms, event.horizon): event for event in events if isinstance(event, ForecastScored)
    }
    after = scored[(CANDLES[14].open_time_ms, 1)]
    assert after.after_gap and after.target_open_time_ms == CANDLES[16].open_time_ms
    assert not scored[(CANDLES[16].open_time_ms, 1)].after_gap
    assert session.status().accuracy.skill_close.n == session.status().accuracy.scored - 1
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
        late.handle(ObserveCandle(CANDLES[11], ForecastMode.REPLAY))
    late.close()
    rigs.feed(new, CANDLES[11:12])
    new.close()


def test_each_step_leaves_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    session = rigs.service(tmp_path)
    with caplog.at_level(logging.INFO, logger="ghostcandle.training"):
        rigs.feed(session, CANDLES[:10])
    session.close()
    assert len([record for record in caplog.records if record.message.startswith("step ")]) == 9


def test_a_market_that_never_moves_is_no_trouble(tmp_path: Path) -> None:
    flat = [Candle(60_000 * index, 5.0, 5.0, 5.0, 5.0, 0.0) for index in range(20)]
    session = rigs.service(tmp_path)
    events = rigs.feed(session, flat)
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert len(losses) == 19 and all(loss is not None and np.isfinite(loss) for loss in losses)
    assert session.status().accuracy.direction.n == 0
    session.close()


def test_a_resumed_session_is_ready_although_no_candle_closes_for_long(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    """Between two candles of a slow market a window that was opened again must not wait for the next one."""
    session = session_after(tmp_path, 31)
    session.handle(StopSession())
    session.close()
    again = rigs.service(tmp_path)
    status = next(event for event in again.opening_events() if isinstance(event, TrainerStatus))
    again.close()
    assert status.state is TrainerState.TRAINING and status.step == 30


def spoil(engine: TrainingEngine) -> None:
    with torch.no_grad():
        next(engine.model.parameters()).fill_(torch.nan)


@pytest.mark.faults
def test_a_model_that_goes_bad_while_paused_still_leads_to_forecasts(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    """Nothing trains, so no step notices: the forecast does."""
    session = session_after(tmp_path, 21)
    session.handle(SetPaused(True))
    spoil(session._session.engine)
    events = rigs.feed(session, CANDLES[21:23])
    assert [event.kind for event in events if isinstance(event, Incident)] == ["rolled back"]
    assert sum(isinstance(event, ForecastMade) for event in events) == 2
    assert session._session.engine.is_finite()
    session.close()


@pytest.mark.faults
def test_a_forecast_that_is_not_finite_is_told_by_the_step_before_it(tmp_path: Path) -> None:
    """The step's own numbers are sound: the average of the weights, which forecasts, is not."""
    averaged = dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, ema_decay=0.9))
    session = rigs.service(tmp_path, averaged)
    rigs.feed(session, CANDLES[:20])
    average = session._session.engine._average
    assert average is not None
    with torch.no_grad():
        next(average.model.parameters()).fill_(torch.nan)
    events = rigs.feed(session, CANDLES[20:21])
    kinds = [event.kind for event in events if isinstance(event, Incident)]
    assert kinds[0] == "rolled back"
    (step,) = [event for event in events if isinstance(event, StepDone)]
    assert step.gradients is not None and step.gradients.non_finite is NonFiniteOrigin.PARAMETERS
    (verdict,) = [event for event in events if isinstance(event, Diagnosis)]
    assert verdict.disease is Disease.NOT_FINITE


def test_a_moment_that_is_not_finite_is_found_at_the_next_look_and_training_goes_on(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    """It froze the weights without a word: no step was skipped, and no checkpoint could be written any more."""
    session = session_after(tmp_path, 31)
    next(iter(session._session.engine.optimizer.state.values()))["exp_avg_sq"].fill_(torch.inf)
    events = rigs.feed(session, rigs.CANDLES[31:51])
    kinds = [event.kind for event in events if isinstance(event, Incident)]
    assert [kind for kind in kinds if kind != "gradient doctor"] == ["rolled back"]
    saved = [event.saved for event in events if isinstance(event, CheckpointsChanged) and event.saved]
    assert [info.step for info in saved] == [40, 50] and all(info.is_known_good for info in saved)
    assert session._session.ladder.known_good.step == 50 and session._session.engine.is_finite()
    session.close()


class InForecasts:
    """Strikes the model where it forecasts, from now on; `times` of its tries, or all."""

    def __init__(self, session: TrainingService, strike: Callable[[torch.Tensor], torch.Tensor], times: float) -> None:
        self.left = times
        self._strike = strike
        self._handle = session._session.engine.model.get_submodule("embed").register_forward_hook(self._on_forward)

    def _on_forward(self, module: torch.nn.Module, _inputs: object, output: torch.Tensor) -> torch.Tensor | None:
        if module.training or self.left <= 0:
            return None
        self.left -= 1
        return self._strike(output)

    def end(self) -> None:
        self._handle.remove()


def out_of_memory(_output: torch.Tensor) -> torch.Tensor:
    return torch.empty(1 << 58)


def raises(_output: torch.Tensor) -> torch.Tensor:
    raise ValueError("not today")


def nan(output: torch.Tensor) -> torch.Tensor:
    return output * torch.nan


def told(events: list[TrainerEvent]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Incident) and event.kind != "gradient doctor"]


@pytest.mark.faults
@pytest.mark.parametrize(
    ("strike", "kinds"), [(out_of_memory, ["out of memory"]), (raises, ["forecast failed"]), (nan, ["rolled back"])]
)
def test_a_forecast_that_fails_once_is_made_once_more(
    tmp_path: Path, session_after: SessionAfter, strike: Callable[[torch.Tensor], torch.Tensor], kinds: list[str]
) -> None:
    session = session_after(tmp_path, 21)
    InForecasts(session, strike, 1)
    events = rigs.feed(session, CANDLES[21:25])
    assert told(events) == kinds and session.status().state is TrainerState.TRAINING
    model, reference = experts_of(tmp_path, session, CANDLES[21])
    assert np.abs(model - reference).max() > 0.0, "the model's own"
    session.close()


@pytest.mark.faults
@pytest.mark.parametrize(
    ("strike", "kinds", "is_paused"),
    [
        (out_of_memory, ["forecast without the model"], False),
        (raises, ["forecast without the model"], True),
        (nan, ["rolled back", "forecast without the model"], True),
    ],
)
def test_where_the_model_cannot_forecast_the_reference_does_and_it_is_told_once(
    tmp_path: Path,
    session_after: SessionAfter,
    strike: Callable[[torch.Tensor], torch.Tensor],
    kinds: list[str],
    is_paused: bool,
) -> None:
    """A forecast that is not finite was stored as it was, and its score broke the database's rules a candle later."""
    session = session_after(tmp_path, 21)
    fault = InForecasts(session, strike, np.inf)
    events = rigs.feed(session, CANDLES[21:27])
    assert told(events) == kinds
    assert (session.status().state is TrainerState.PAUSED) is is_paused
    assert any(isinstance(event, StepDone) for event in events[-6:]) is not is_paused
    for candle in CANDLES[21:27]:
        model, reference = experts_of(tmp_path, session, candle)
        np.testing.assert_array_equal(model, reference)
        assert np.isfinite(model).all()
    assert sum(isinstance(event, ForecastScored) and event.horizon == 1 for event in events) == 6
    fault.end()
    session.handle(SetPaused(False))
    assert told(rigs.feed(session, CANDLES[27:31])) == []
    model, reference = experts_of(tmp_path, session, CANDLES[29])
    assert np.abs(model - reference).max() > 0.0
    assert session.status().accuracy.scored == 30
    session.close()


@pytest.mark.faults
def test_a_device_that_is_spoiled_in_a_forecast_ends_the_process(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    error = torch.AcceleratorError("CUDA error")
    error.error_code = 700  # type: ignore[attr-defined]

    def strike(_output: torch.Tensor) -> torch.Tensor:
        raise error

    InForecasts(session, strike, 1)
    with pytest.raises(torch.AcceleratorError):
        rigs.feed(session, CANDLES[21:22])
    session.close()


def experts_of(root: Path, session: TrainingService, candle: Candle) -> tuple[np.ndarray, np.ndarray]:
    """The quantiles of the model and of the reference that are stored for this candle, one step ahead."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        row = RecordReader(db, session.status().run_id).forecasts_of(candle.open_time_ms)[0]
    finally:
        db.close()
    return row.experts[MODEL], row.experts[REFERENCE]


@pytest.mark.faults
def test_rollback_incidents_gradients_and_pause_are_in_the_record(tmp_path: Path, session_after: SessionAfter) -> None:
    """A parameter that keeps going bad: rollbacks, then a pause; candles are forecast and scored all the same."""
    session = session_after(tmp_path, 21)
    engine = session._session.engine
    events = []
    for candle in CANDLES[21:31]:
        if session.status().state is not TrainerState.PAUSED:
            spoil(engine)
        events += rigs.feed(session, [candle])
    kinds = [event.kind for event in events if isinstance(event, Incident)]
    expected = ["rolled back", "rolled back", "rolled back", "rollbacks used up"]
    assert [kind for kind in kinds if kind != "gradient doctor"] == expected
    assert session.status().state is TrainerState.PAUSED
    assert sum(isinstance(event, ForecastMade) for event in events) == 10
    steps = [event for event in events if isinstance(event, StepDone)]
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    reader = RecordReader(db, session.status().run_id)
    assert sorted(incident.kind for incident in reader.incidents()) == sorted(kinds)
    stored = reader.steps(len(steps))
    assert [step.gradients.non_finite for step in stored if step.gradients] == [NonFiniteOrigin.PARAMETERS] * 4
    assert len(stored) == len(steps) == 4
    checkpoint = CheckpointRows(db).newest(reader.run_id)
    assert checkpoint is not None and checkpoint.reason == "pause" and checkpoint.is_known_good
    db.close()
    session.handle(SetPaused(False))
    resumed = rigs.feed(session, CANDLES[31:41])
    assert all(step.loss is not None for step in resumed if isinstance(step, StepDone))
    assert session._session.engine.is_finite()
    session.close()


@pytest.mark.faults
def test_after_rollbacks_tool_bar_dock_and_doctor_go_by_one_rate(tmp_path: Path, session_after: SessionAfter) -> None:
    """What the doctor advises is lower than what is in use, and is in use at the step after it was taken."""
    session = session_after(tmp_path, 21)
    verdicts: list[Diagnosis] = []
    for candle in CANDLES[21:25]:
        spoil(session._session.engine)
        verdicts += [event for event in rigs.feed(session, [candle]) if isinstance(event, Diagnosis)]
    in_force = rigs.SMALL.training.learning_rate / 8
    assert session.status().state is TrainerState.PAUSED
    assert session.status().learning_rate == pytest.approx(in_force)
    change = verdicts[-1].change
    assert change is not None and isinstance(change.value, float)
    assert in_force / 20 < change.value < in_force / 5
    session.handle(SetLearningRate(change.value))
    session.handle(SetPaused(False))
    steps = [event for event in rigs.feed(session, CANDLES[25:27]) if isinstance(event, StepDone)]
    assert [step.learning_rate for step in steps] == [change.value] * 2
    assert session.status().learning_rate == change.value
    session.close()


def test_checkpoints_saved_by_hand_or_noted_outlive_periodic_ones(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 15)
    session.handle(KeepBy(dataclasses.replace(rigs.SMALL.checkpoints, keep_newest=2, keep_every_steps=0)))
    session.handle(SaveCheckpoint())
    rigs.feed(session, rigs.CANDLES[15:51])
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    kept = CheckpointRows(db).list(session.status().run_id)
    db.close()
    session.close()
    assert [(info.step, info.reason) for info in kept] == [(50, "periodic"), (40, "periodic"), (14, "manual")]


def test_what_lies_across_a_hole_teaches_nothing(tmp_path: Path, session_after: SessionAfter) -> None:
    """A move of 30 % while nothing was recorded: scales, reference and the loss curve are as without it."""
    jump = [dataclasses.replace(candle, **_raised(candle, 1.3)) for candle in CANDLES[27:30]]
    session = session_after(tmp_path, 21)
    before = rigs.feed(session, CANDLES[21:23])
    scale = session._session.history.column("scale")[-1]
    after = rigs.feed(session, jump[:1])
    assert session._session.history.column("scale")[-1] < 1.5 * scale
    (step,) = [event for event in after if isinstance(event, StepDone)]
    assert step.prequential_loss is None
    assert any(event.prequential_loss is not None for event in before if isinstance(event, StepDone))
    assert all(event.after_gap for event in after if isinstance(event, ForecastScored))
    reference = session._session.forecaster.reference()
    rigs.feed(session, jump[1:3])
    assert np.abs(session._session.forecaster.reference()[0, 0] - reference[0, 0]).max() < 1.0
    session.close()


def _raised(candle: Candle, factor: float) -> dict[str, float]:
    return {name: factor * getattr(candle, name) for name in ("open", "high", "low", "close")}
