"""The challengers of a session, each kept from harming anything else: its failures, its restores, its costs.

A call that raises, and an answer of another shape or with a number that is not finite, is a failure. For that candle
the forecast without any model takes its place. Three failures of one kind in a row restore the newest state known to be
good; when the budget of restores is spent, the challenger is suspended until training is resumed.
"""

from __future__ import annotations

import copy
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from core.domain.clock import Clock
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import FloatArray
from core.settings.tree import RecoverySettings
from core.storage.records import ChallengerWork
from core.training.commands import MarketCandle
from core.training.engine.samples import Batch
from core.training.online.challenger import Challenger, MarketInputs, UnusableError
from core.training.recovery.failure import Failure, failure_of, survivable_failure
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.quarantine import non_finite_parts
from core.training.recovery.step_watches import RollbackBudget
from models.contract import FAILURES, modes_kept

_FAILURES_BEFORE_RESTORE = 3
_QUIET = 100
"""Candles without a failure after which the next one is reported again."""
_LARGEST = 1e4
"""Normalised quantiles are clipped to this size, as in `core.forecast.history`."""
_FORECASTING, _LEARNING, _READING, _COMPARING = "forecast", "learn", "read the candle", "take its losses"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _State:
    tensors: dict[str, Tensor]
    scalars: dict[str, Any]


class GuardedChallenger:
    """Calls one challenger, and turns whatever goes wrong into incidents."""

    def __init__(
        self,
        challenger: Challenger,
        recovery: RecoverySettings,
        remember_every: int,
        clock: Clock,
        program: str,
    ) -> None:
        """remember_every: steps between two copies of the state, as between two checkpoints, so that a run that is
        continued from one does the same. program: a digest of the forecasting program; empty: unknown."""
        self._challenger, self.name = challenger, challenger.name
        self._program = program
        self._remember_every = remember_every
        self._clock = clock
        self._budget = RollbackBudget(recovery)
        self._known_good = self._first = self._copy()
        self._in_a_row = dict.fromkeys((_FORECASTING, _LEARNING, _READING, _COMPARING), 0)
        self._quiet = _QUIET
        """Candles since the newest failure."""
        self._step = 0
        self.is_suspended = self._is_unusable = False
        self._incidents: list[IncidentDraft] = []
        self._work = ChallengerWork()

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        self._attempt(_READING, lambda: self._challenger.observe(closed))

    def forecast(self, markets: Sequence[MarketInputs]) -> list[FloatArray | None]:
        """The forecast of each market, sound and ascending; None without one."""
        self._work += ChallengerWork(candles=0 if self.is_suspended else 1, asked=len(markets))
        own = [_copied(each) for each in markets]
        made = self._attempt(_FORECASTING, lambda: _sound(self._challenger.forecast(own), markets))
        self._quiet += 1
        if made is None:
            return [None] * len(markets)
        self._work += ChallengerWork(answered=sum(each is not None for each in made))
        return made

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        """Train it on these samples, unless a number in them is not finite."""
        if non_finite_parts(batch, anchors):
            return
        self._step = step
        own = Batch(*map(np.copy, batch.arrays))
        done = self._attempt(_LEARNING, lambda: self._learn(own, anchors.copy(), step))
        if done and step % self._remember_every == 0 and not any(self._in_a_row.values()):
            self._known_good = self._sound_copy() or self._known_good

    def _learn(self, batch: Batch, anchors: FloatArray, step: int) -> bool:
        self._challenger.learn(batch, anchors, step)
        return True

    def compare(self, own: FloatArray, without_model: FloatArray) -> None:
        self._attempt(_COMPARING, lambda: self._challenger.compare(own, without_model))

    def resume(self) -> None:
        """The user resumed training: it takes part again, with all counts reset."""
        self.is_suspended = self._is_unusable = False
        self._budget.renew()
        self._in_a_row = dict.fromkeys(self._in_a_row, 0)
        self._challenger.resume()

    def close(self) -> None:
        """End it, and ignore errors."""
        try:
            self._challenger.close()
        except FAILURES as error:
            self._report_failure("end", failure_of(error))

    def pop_incidents(self) -> list[IncidentDraft]:
        """The incidents since the last call."""
        taken, self._incidents = [*self._incidents, *self._challenger.pop_incidents()], []
        return taken

    def pop_work(self) -> ChallengerWork:
        """The work since the last call."""
        taken, self._work = self._work, ChallengerWork()
        return taken

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and JSON for a checkpoint, all finite: if the current state is not, the known good one."""
        saved = self._sound_copy() or self._known_good
        scalars = {
            "own": saved.scalars,
            "is_suspended": self.is_suspended and not self._is_unusable,  # the next session finds out by itself
            "restores": self._budget.state(),
            "in_a_row": dict(self._in_a_row),
            "quiet": self._quiet,
            "program": self._program,
        }
        return saved.tensors, scalars

    def restore(
        self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any] | None, *, is_same_run: bool = True
    ) -> None:
        """Continue from the result of `state`. None, or a state that does not fit: begin with the first one.

        is_same_run: the state was saved by this run, so its figures continue.
        """
        try:
            if scalars is None:
                self._restore(self._first)
            else:
                self._challenger.restore(tensors, scalars["own"])
                self.is_suspended = bool(scalars["is_suspended"])
                self._is_unusable = False
                self._budget.restore(scalars["restores"])
                self._in_a_row = {name: int(scalars["in_a_row"][name]) for name in self._in_a_row}
                self._quiet = int(scalars["quiet"])
                if is_same_run:
                    self._compare_program(str(scalars["program"]))
        except FAILURES as error:
            self._report_refused(survivable_failure(error))
            self._restore(self._first)
        self._known_good = self._sound_copy() or self._first

    def _attempt(self, kind: str, work: Callable[[], T]) -> T | None:
        """The result of the work; None if it failed or the challenger is suspended."""
        if self.is_suspended:
            return None
        started_s = self._clock.monotonic_s()
        try:
            with modes_kept():
                done = work()
        except UnusableError as error:
            self._is_unusable = True
            self._suspend(failure_of(error))
            return None
        except KeyboardInterrupt as error:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                raise  # it may be the user's
            failure = failure_of(error)
        except FAILURES as error:
            failure = survivable_failure(error)
        else:
            self._in_a_row[kind] = 0
            return done
        finally:
            self._work += ChallengerWork(cost_ms=(self._clock.monotonic_s() - started_s) * 1000.0)
        self._handle_failure(kind, failure)  # outside the `except`, which keeps the tensors of the failed pass alive
        return None

    def _handle_failure(self, kind: str, failure: Failure) -> None:
        if self._quiet >= _QUIET:
            self._report_failure(kind, failure)
        self._quiet = 0
        self._in_a_row[kind] += 1
        if self._in_a_row[kind] >= _FAILURES_BEFORE_RESTORE:
            self._go_back(failure)

    def _go_back(self, failure: Failure) -> None:
        self._in_a_row = dict.fromkeys(self._in_a_row, 0)
        if not self._budget.spend(self._step):
            self._suspend(failure)
            return
        try:
            self._restore(self._known_good)
        except FAILURES as error:
            self._suspend(survivable_failure(error))
            return
        self._report(
            Severity.WARNING,
            IncidentKind.CHALLENGER_SET_BACK,
            f"The challenger {self.name} failed {_FAILURES_BEFORE_RESTORE} times in a row: {failure.sentence}.",
            "Its newest state that is known to be good was restored.",
            "What it alone has learned since then.",
        )

    def _suspend(self, failure: Failure) -> None:
        self.is_suspended = True
        self._report(
            Severity.ERROR,
            IncidentKind.CHALLENGER_SUSPENDED,
            f"The challenger {self.name} keeps failing: {failure.sentence}.",
            "It is left out until training is paused and resumed. The forecast without any model takes its place.",
            "Its own figures meanwhile, which rate the forecast without any model. Nothing else is affected.",
            failure.details,
        )

    def _report_failure(self, kind: str, failure: Failure) -> None:
        self._report(
            Severity.WARNING,
            IncidentKind.CHALLENGER_FAILED,
            f"The challenger {self.name} could not {kind}: {failure.sentence}.",
            "If it has no forecast, the forecast without any model takes its place. Further failures are reported only "
            f"after {_QUIET} candles without a failure.",
            "Its own figures at these candles. Nothing else is affected.",
            failure.details,
        )

    def _compare_program(self, stored: str) -> None:
        """Report that the state is of another program of this name."""
        is_known = bool(self._program and stored)
        self._program = self._program or stored
        if is_known and self._program != stored:
            self._report(
                Severity.WARNING,
                IncidentKind.CHALLENGER_CHANGED,
                f"The challenger {self.name} has changed since the run was saved: its file, script or arguments are "
                "different now.",
                "It continues in the row of its name.",
                "Nothing is lost, but the row now has figures of both. Another name keeps them apart.",
            )

    def _report_refused(self, failure: Failure) -> None:
        self._report(
            Severity.WARNING,
            IncidentKind.CHALLENGER_REFUSED,
            f"The stored state of the challenger {self.name} does not fit it: {failure.sentence}.",
            "It begins new.",
            "What it alone had learned. Nothing else is affected.",
            failure.details,
        )

    def _report(self, *fields: Any) -> None:
        self._incidents.append(IncidentDraft(*fields))

    def _restore(self, state: _State) -> None:
        self._challenger.restore(
            {name: tensor.clone() for name, tensor in state.tensors.items()}, copy.deepcopy(state.scalars)
        )

    def _copy(self) -> _State:
        tensors = {name: tensor.detach().clone() for name, tensor in self._challenger.tensors().items()}
        return _State(tensors, copy.deepcopy(self._challenger.scalars()))

    def _sound_copy(self) -> _State | None:
        """The current state; None if it cannot be stored, or a number in it is not finite."""
        try:
            state = self._copy()
            json.dumps(state.scalars, allow_nan=False)
        except FAILURES as error:
            survivable_failure(error)
            return None
        are_finite = (torch.isfinite(each).all() for each in state.tensors.values() if each.is_floating_point())
        return state if all(bool(each) for each in are_finite) else None


def _copied(inputs: MarketInputs) -> MarketInputs:
    arrays = ("features", "is_real", "without_model", "factor", "offset")
    return replace(inputs, **{name: getattr(inputs, name).copy() for name in arrays})


def _sound(answer: Sequence[FloatArray | None], markets: Sequence[MarketInputs]) -> list[FloatArray | None]:
    """Raises ValueError, in a sentence, for an answer that is no forecast of each market."""
    if len(answer) != len(markets):
        raise ValueError(f"it gave {len(answer)} forecasts of {len(markets)} markets")
    return [None if own is None else _sound_forecast(own, of) for own, of in zip(answer, markets, strict=True)]


def _sound_forecast(own: FloatArray, of: MarketInputs) -> FloatArray:
    quantiles, shape = np.asarray(own, dtype=np.float64), of.without_model.shape
    if quantiles.shape != shape:
        raise ValueError(f"its forecast has the shape {quantiles.shape}, not {shape}: horizons, quantities, levels")
    if not np.isfinite(quantiles).all():
        raise ValueError("a number of its forecast is not finite")
    ascending: FloatArray = np.sort(quantiles.clip(-_LARGEST, _LARGEST), axis=-1)
    return ascending
