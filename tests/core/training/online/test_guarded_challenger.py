"""What becomes of a challenger that fails: left out, set back, suspended; and what is reported."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from core.domain.clock import ManualClock
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import FloatArray
from core.settings.tree import RecoverySettings
from core.storage.records import ChallengerWork
from core.training.commands import MarketCandle
from core.training.engine.samples import Batch
from core.training.online.challenger import MarketInputs, UnusableError
from core.training.online.guarded_challenger import GuardedChallenger
from core.training.recovery.incident_draft import IncidentDraft

SHAPE = (2, 6, 7)
REMEMBER_EVERY = 10
GOOD = np.tile(np.linspace(-1.0, 1.0, 7), (2, 6, 1))
FAILED, SET_BACK, SUSPENDED, REFUSED = (
    IncidentKind.CHALLENGER_FAILED,
    IncidentKind.CHALLENGER_SET_BACK,
    IncidentKind.CHALLENGER_SUSPENDED,
    IncidentKind.CHALLENGER_REFUSED,
)
BATCH = Batch(
    np.zeros((1, 4, 3), dtype=np.float32),
    np.ones((1, 4), dtype=np.bool_),
    np.zeros((1, 2, 6), dtype=np.float32),
    np.ones((1, 2, 6), dtype=np.float32),
    np.zeros((1, 2, 3), dtype=np.float32),
)


class Scripted:
    """Answers as a test has set it; its weight is the number of its newest step."""

    name = "own"

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.answer: Any = GOOD
        self.error: BaseException | None = None
        self.learning_error: BaseException | None = None
        self.restored: list[float] = []
        self.weight = torch.zeros(1)

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        self._clock.advance_ms(1)

    def forecast(self, markets: Sequence[MarketInputs]) -> Sequence[FloatArray | None]:
        self._clock.advance_ms(2)
        markets[0].features[:] = np.nan
        if self.error is not None:
            raise self.error
        return [self.answer] * len(markets)

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        self._clock.advance_ms(4)
        batch.features[:] = anchors[:] = np.nan
        if (error := self.error or self.learning_error) is not None:
            raise error
        self.weight = torch.full((1,), float(step))

    def compare(self, own: FloatArray, without_model: FloatArray) -> None:
        pass

    def tensors(self) -> dict[str, Tensor]:
        return {"weight": self.weight}

    def scalars(self) -> dict[str, Any]:
        return {"steps": float(self.weight)}

    def restore(self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any]) -> None:
        if set(tensors) != {"weight"}:
            raise ValueError("another architecture")
        self.weight = tensors["weight"]
        self.restored.append(float(self.weight))

    def pop_incidents(self) -> tuple[IncidentDraft, ...]:
        return ()

    def resume(self) -> None:
        pass

    def close(self) -> None:
        raise RuntimeError("does not want to end")


class Rig:
    def __init__(self, rollbacks: int = 3, program: str = "") -> None:
        clock = ManualClock()
        self.own = Scripted(clock)
        recovery = RecoverySettings(rollbacks=rollbacks)
        self.guarded = GuardedChallenger(self.own, recovery, REMEMBER_EVERY, clock, program)
        self.step = 0
        self.inputs = MarketInputs(
            0, 0, np.ones((4, 3)), np.ones(4, dtype=np.bool_), np.zeros(SHAPE), *np.ones((2, 2, 6))
        )

    def candle(self) -> FloatArray | None:
        """A close: its forecast, then a step."""
        self.guarded.observe([])
        self.guarded.compare(np.zeros(4), np.zeros(4))
        (made,) = self.guarded.forecast([self.inputs])
        self.step += 1
        self.guarded.learn(BATCH, np.zeros((1, *SHAPE)), self.step)
        return made

    def candles(self, count: int) -> list[FloatArray | None]:
        return [self.candle() for _ in range(count)]

    @property
    def kinds(self) -> list[IncidentKind]:
        return [draft.kind for draft in self.guarded.pop_incidents()]


def test_a_sound_forecast_is_sorted_and_bounded() -> None:
    rig = Rig()
    rig.own.answer = GOOD[..., ::-1] * 1e30
    made = rig.candle()
    assert made is not None and (np.diff(made, axis=-1) >= 0.0).all() and np.abs(made).max() == 1e4
    assert rig.kinds == []


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (GOOD[0], r"its forecast has the shape \(6, 7\)"),
        (np.where(GOOD > 0.9, np.nan, GOOD), "a number of its forecast is not finite"),
        (np.where(GOOD > 0.9, np.inf, GOOD), "a number of its forecast is not finite"),
        ("nonsense", "could not convert"),
    ],
)
def test_nonsense_is_no_forecast_and_is_reported(answer: object, sentence: str) -> None:
    rig = Rig()
    rig.own.answer = answer
    assert rig.candle() is None
    (draft,) = rig.guarded.pop_incidents()
    assert draft.kind == FAILED
    assert re.search(f"own could not forecast: .*{sentence}", draft.happened)


@pytest.mark.hostile
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
def test_exit_is_a_failure_as_any_other(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)  # as in the trainer's process
    rig = Rig()
    rig.own.error = error
    assert rig.candles(3) == [None] * 3
    assert rig.kinds == [FAILED, SET_BACK]


def test_ctrl_c_still_ends_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    rig = Rig()
    rig.own.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        rig.candle()


@pytest.mark.hostile
def test_it_cannot_change_the_modes_of_torch_and_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def learn(*_: object) -> None:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        np.seterr(all="raise")

    rig, before = Rig(), np.geterr()
    monkeypatch.setattr(rig.own, "learn", learn)
    rig.candle()
    assert torch.is_grad_enabled() and torch.get_default_dtype() is torch.float32 and np.geterr() == before


@pytest.mark.hostile
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_copy_of_the_process_ends_when_it_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    own, copies = os.getpid(), []
    rig = Rig()
    monkeypatch.setattr(rig.own, "learn", lambda *_: copies.append(os.fork()))
    rig.candle()
    if os.getpid() != own:
        os._exit(1)
    assert os.waitpid(copies[0], 0)[1] == 0 and rig.kinds == []


def test_it_cannot_change_what_others_read() -> None:
    rig = Rig()
    rig.candle()
    assert np.isfinite(rig.inputs.features).all() and np.isfinite(BATCH.features).all()


def test_no_forecast_yet_is_no_failure() -> None:
    rig = Rig()
    rig.own.answer = None
    assert rig.candles(5) == [None] * 5 and rig.kinds == []


def test_failures_of_one_episode_are_reported_once() -> None:
    rig = Rig()
    reported = []
    for number in range(400):
        rig.own.error = RuntimeError("no luck") if number in (5, 20, 60, 300) else None
        rig.candle()
        reported += [number] * len(rig.guarded.pop_incidents())
    assert reported == [5, 300]


def test_three_failures_in_a_row_restore_the_known_good_state() -> None:
    rig = Rig()
    rig.candles(25)
    rig.own.error = RuntimeError("no luck")
    rig.candles(3)
    assert rig.own.restored == [20.0]
    assert rig.kinds == [FAILED, SET_BACK]
    rig.own.error = None
    assert rig.candle() is not None


def test_the_state_of_a_failing_one_is_not_known_good() -> None:
    rig = Rig()
    rig.candles(2 * REMEMBER_EVERY - 1)
    rig.own.error = RuntimeError("no luck")
    rig.candles(3)
    assert rig.own.restored == [10.0]


def test_samples_that_are_not_finite_are_not_learned() -> None:
    own = Scripted(ManualClock())
    guarded = GuardedChallenger(own, RecoverySettings(), REMEMBER_EVERY, ManualClock(), "")
    poisoned = replace(BATCH, targets=np.full_like(BATCH.targets, np.nan))
    for step, batch, weight in ((1, poisoned, 0.0), (2, BATCH, 2.0)):
        guarded.learn(batch, np.zeros((1, *SHAPE)), step)
        assert float(own.weight) == weight


def test_a_state_that_is_not_finite_is_never_known_good() -> None:
    rig = Rig()
    rig.candles(15)
    rig.own.weight = torch.full((1,), torch.nan)
    rig.guarded.learn(BATCH, np.zeros((1, *SHAPE)), 19)
    tensors, _ = rig.guarded.state()
    assert float(tensors["weight"]) == 19.0
    rig.own.weight = torch.full((1,), torch.inf)
    tensors, scalars = rig.guarded.state()
    assert float(tensors["weight"]) == 10.0 and scalars["own"] == {"steps": 10.0}


def test_it_is_suspended_once_restores_do_not_help_until_training_is_resumed() -> None:
    rig = Rig(rollbacks=2)
    rig.own.error = RuntimeError("no luck")
    rig.candles(30)
    assert rig.guarded.is_suspended and rig.kinds == [FAILED, SET_BACK, SET_BACK, SUSPENDED]
    rig.own.error = None
    assert rig.candle() is None and rig.kinds == []
    later = Rig()
    later.guarded.restore(*rig.guarded.state())
    assert later.candle() is None and later.guarded.is_suspended, "also after a restart"
    rig.guarded.resume()
    assert rig.candle() is not None


def test_one_that_forecasts_but_cannot_learn_is_suspended_too() -> None:
    rig = Rig(rollbacks=2)
    rig.own.learning_error = RuntimeError("no luck")
    assert [made is not None for made in rig.candles(10)] == [True] * 9 + [False]
    assert rig.kinds == [FAILED, SET_BACK, SET_BACK, SUSPENDED]


def test_one_that_can_give_nothing_more_is_suspended_at_once() -> None:
    rig = Rig()
    rig.own.error = UnusableError("its file is gone")
    assert rig.candle() is None and rig.guarded.is_suspended
    assert rig.kinds == [SUSPENDED]
    later = Rig()
    later.guarded.restore(*rig.guarded.state())
    assert later.candle() is not None, "of a later start it may be another: its file is back"


def test_another_program_of_its_name_is_reported() -> None:
    tensors, scalars = Rig(program="a1").guarded.state()
    for program, kinds in (("a1", []), ("b2", [IncidentKind.CHALLENGER_CHANGED]), ("", [])):
        rig = Rig(program=program)
        rig.guarded.restore(tensors, scalars)
        assert rig.kinds == kinds
    rig = Rig(program="b2")
    rig.guarded.restore(tensors, scalars, is_same_run=False)
    assert rig.kinds == [], "the figures of a new run are new"


def test_one_that_is_absent_keeps_the_program_of_its_state() -> None:
    absent, back = Rig(), Rig(program="b2")
    absent.guarded.restore(*Rig(program="a1").guarded.state())
    back.guarded.restore(*absent.guarded.state())
    assert absent.kinds == [] and back.kinds == [IncidentKind.CHALLENGER_CHANGED]


def test_an_error_that_ends_the_process_is_no_failure_of_it() -> None:
    rig = Rig()
    rig.own.error = RuntimeError("CUDA error: device-side assert triggered")
    with pytest.raises(RuntimeError, match="device-side assert"):
        rig.candle()


def test_its_state_is_continued() -> None:
    first, second = Rig(), Rig()
    first.candles(REMEMBER_EVERY)
    second.guarded.restore(*first.guarded.state())
    second.step = first.step
    for rig in (first, second):
        rig.own.error = RuntimeError("no luck")
        rig.candles(20)
    assert first.kinds == second.kinds and first.guarded.is_suspended and second.guarded.is_suspended
    assert first.own.restored == second.own.restored[1:]


def test_a_state_that_does_not_fit_begins_new() -> None:
    rig = Rig()
    rig.guarded.restore({"other": torch.ones(1)}, {"own": {}})
    assert rig.kinds == [REFUSED] and rig.own.restored == [0.0]
    assert rig.candle() is not None


def test_without_a_state_it_begins_new() -> None:
    rig = Rig()
    rig.candles(12)
    rig.guarded.restore({}, None)
    assert rig.own.restored == [0.0] and rig.kinds == []


def test_its_time_is_counted() -> None:
    rig = Rig()
    rig.candles(3)
    assert rig.guarded.pop_work() == ChallengerWork(candles=3, cost_ms=21.0, asked=3, answered=3)
    assert rig.guarded.pop_work() == ChallengerWork()
    rig.guarded.is_suspended = True
    rig.candle()
    assert rig.guarded.pop_work() == ChallengerWork(asked=1), "a suspended one takes no candle, and gives no answer"


def test_one_that_does_not_end_well_ends_anyway() -> None:
    Rig().guarded.close()
