"""The online session when the model or the device fails: its forecasts, incidents and restores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.candle import Candle
from core.domain.diagnosis import Diagnosis, Disease, NonFiniteOrigin
from core.domain.events import (
    ForecastMade,
    ForecastScored,
    Incident,
    StepDone,
    TrainerEvent,
    TrainerState,
)
from core.forecast.experts import MODEL, REFERENCE, unpack_losses
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.commands import SetLearningRate, SetPaused
from core.training.engine.engine import TrainingEngine
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.driven import scores_of

CANDLES = rigs.CANDLES[:41]
pytestmark = pytest.mark.faults


def spoil(engine: TrainingEngine) -> None:
    with torch.no_grad():
        next(engine.model.parameters()).fill_(torch.nan)


def test_a_model_that_breaks_while_paused_still_gives_forecasts(tmp_path: Path, session_after: SessionAfter) -> None:
    """Nothing trains, so no step notices: the forecast does."""
    session = session_after(tmp_path, 21)
    session.handle(SetPaused(True))
    spoil(session._session.engine)
    events = rigs.feed(session, CANDLES[21:23])
    assert [event.kind for event in events if isinstance(event, Incident)] == ["rolled back"]
    assert sum(isinstance(event, ForecastMade) for event in events) == 2
    assert session._session.engine.is_finite()
    session.close()


def test_a_non_finite_forecast_is_reported_with_the_step_before_it(tmp_path: Path) -> None:
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
    session.close()


def test_a_non_finite_moment_is_found_at_the_next_check_and_training_continues(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    """It froze the weights without a word: no step was skipped, and no checkpoint could be written any more."""
    session = session_after(tmp_path, 31)
    next(iter(session._session.engine.optimizer.state.values()))["exp_avg_sq"].fill_(torch.inf)
    events = rigs.feed(session, rigs.CANDLES[31:51])
    kinds = [event.kind for event in events if isinstance(event, Incident)]
    assert [kind for kind in kinds if kind != "gradient doctor"] == ["rolled back"]
    saved = rigs.saved(events)
    assert [info.step for info in saved] == [40, 50] and all(info.is_known_good for info in saved)
    assert session._session.ladder.known_good.step == 50 and session._session.engine.is_finite()
    session.close()


class InForecasts:
    """Makes the model's forecasts fail from now on: `times` of them, or all."""

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


def incident_kinds(events: list[TrainerEvent]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Incident) and event.kind != "gradient doctor"]


@pytest.mark.parametrize(
    ("strike", "kinds"), [(out_of_memory, ["out of memory"]), (raises, ["forecast failed"]), (nan, ["rolled back"])]
)
def test_a_failed_forecast_is_retried_once(
    tmp_path: Path, session_after: SessionAfter, strike: Callable[[torch.Tensor], torch.Tensor], kinds: list[str]
) -> None:
    session = session_after(tmp_path, 21)
    InForecasts(session, strike, 1)
    events = rigs.feed(session, CANDLES[21:25])
    assert incident_kinds(events) == kinds and session.status().state is TrainerState.TRAINING
    model, reference = experts_of(tmp_path, session, CANDLES[21])
    assert np.abs(model - reference).max() > 0.0, "the model's own"
    session.close()


@pytest.mark.parametrize(
    ("strike", "kinds", "is_paused"),
    [
        (out_of_memory, ["forecast without the model"], False),
        (raises, ["forecast without the model"], True),
        (nan, ["rolled back", "forecast without the model"], True),
    ],
)
def test_if_the_model_cannot_forecast_the_baselines_do_with_one_incident(
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
    assert incident_kinds(events) == kinds
    assert (session.status().state is TrainerState.PAUSED) is is_paused
    assert any(isinstance(event, StepDone) for event in events[-6:]) is not is_paused
    for candle in CANDLES[21:27]:
        model, _ = experts_of(tmp_path, session, candle)
        assert np.isfinite(model).all()
    assert sum(isinstance(event, ForecastScored) and event.horizon == 1 for event in events) == 6
    for lost in (unpack_losses(score.expert_losses) for score in scores_of(tmp_path)[-5:]):
        assert lost is not None
        np.testing.assert_allclose(lost[1 + MODEL], lost[0], rtol=1e-5)
    fault.end()
    session.handle(SetPaused(False))
    assert incident_kinds(rigs.feed(session, CANDLES[27:31])) == []
    model, reference = experts_of(tmp_path, session, CANDLES[29])
    assert np.abs(model - reference).max() > 0.0
    assert session.status().markets[0].accuracy.scored == 30
    session.close()


def test_a_device_broken_during_a_forecast_ends_the_process(tmp_path: Path, session_after: SessionAfter) -> None:
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
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        made = RecordReader(db, session.status().run_id).forecast_of(candle.open_time_ms)
    assert made is not None
    return made.quantiles.experts[MODEL, 0], made.quantiles.experts[REFERENCE, 0]


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


def test_after_rollbacks_tool_bar_dock_and_doctor_show_the_same_rate(
    tmp_path: Path, session_after: SessionAfter
) -> None:
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
