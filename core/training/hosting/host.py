"""Runs a session behind one small interface: in a child process, or in the calling thread.

Imports no torch: the window's process uses this, and a process host keeps torch out of it.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from core.domain.candle import Market
from core.domain.challenger_sources import ChallengerError
from core.domain.clock import Clock
from core.domain.events import EventBatch
from core.domain.passing_faults import PassingFault
from core.market.history.utc_times import moment_text
from core.storage.errors import PassingError, StorageError
from core.training.commands import TrainerCommand
from core.training.engine.device_faults import DeviceError, DeviceFault, classify
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import DeathCause

if TYPE_CHECKING:
    from core.training.hosting.service import TrainingService


@dataclass(eq=False)
class HostDiedError(Exception):
    """The host ended unexpectedly, or was ended. Also the last message of a child process.

    is_final: a restart would end the same way. candle_ms, market: open time (UTC ms) of the candle that ended the host,
    and its market, if both are known. passing: the fault that must pass before a restart, if it is one that does.
    """

    sentence: str
    details: str = ""
    is_final: bool = False
    cause: DeathCause = DeathCause.ERROR
    candle_ms: int | None = None
    market: Market | None = None
    passing: PassingFault | None = None

    def __post_init__(self) -> None:
        super().__init__(self.sentence)


class CandleError(Exception):
    """A computation failed on one candle; its `__cause__` is the error. market: None if it is not known which one's."""

    def __init__(self, open_time_ms: int, error: Exception, market: Market | None) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.open_time_ms = open_time_ms
        self.market = market


class Host(Protocol):
    """Runs one `TrainingService`. `tests/core/training/hosting/test_host_choice.py` is the contract of both hosts.

    Every command is answered by exactly one whole EventBatch, in order, which may follow others of the same command;
    `start` is answered by one as well. While no command waits, a status that is owed may come, which is not whole.
    """

    def start(self) -> None:
        """Start. The first batch holds TrainerReady. Raises HostDiedError if the session cannot be opened."""
        ...

    def send(self, command: TrainerCommand) -> None:
        """Queue one command. Raises HostDiedError, or leaves that to `receive`, which returns remaining answers
        first."""
        ...

    def receive(self, timeout_s: float) -> EventBatch | None:
        """The next answer, or None after `timeout_s`. Raises HostDiedError."""
        ...

    def close(self) -> None:
        """End it, after a grace period at the latest. Safe to call twice."""
        ...


class ThreadHost:
    """Runs the session in the calling thread, while an answer is requested."""

    def __init__(self, spec: SessionSpec, clock: Clock) -> None:
        self._spec = spec
        self._clock = clock
        self._service: TrainingService | None = None
        self._answers: deque[Iterator[EventBatch]] = deque()
        """The answers to each command; taking the next one does the work."""

    def start(self) -> None:
        from core.training.hosting.service import TrainingService  # noqa: PLC0415 - torch is imported only where it computes

        try:
            self._service = TrainingService(self._spec, self._clock)
            self._answers.append(iter((EventBatch(self._service.opening_events()),)))
        except Exception as error:
            raise died_in_thread(error) from error

    def send(self, command: TrainerCommand) -> None:
        if self._service is None:
            raise HostDiedError("The trainer is not running.")
        self._answers.append(self._service.respond(command))

    def receive(self, timeout_s: float) -> EventBatch | None:
        while self._answers:
            try:
                return next(self._answers[0])
            except StopIteration:
                self._answers.popleft()
            except Exception as error:
                self.close()
                raise died_in_thread(error) from error
        try:
            return None if self._service is None else self._service.late_status()
        except Exception as error:
            self.close()
            raise died_in_thread(error) from error

    def close(self) -> None:
        if self._service is not None:
            self._service.close()
            self._service = None
            self._answers.clear()


def died(error: Exception) -> HostDiedError:
    """The error as the driver receives it. Causes that the machine or the user must fix first are final."""
    details = "".join(traceback.format_exception(error))
    cause = _cause_of(error)
    if cause in (DeathCause.REFUSED, DeathCause.NO_DEVICE):
        passing = error.fault if isinstance(error, PassingError) else None
        return HostDiedError(str(error), details, is_final=True, cause=cause, passing=passing)
    if isinstance(error, CandleError):
        sentence = f"Training stopped at the candle of {moment_text(error.open_time_ms)}: {error}."
        return HostDiedError(sentence, details, candle_ms=error.open_time_ms, market=error.market)
    message = str(error).partition("\n")[0]  # CUDA adds a page of advice for programmers
    if cause in _DEVICE_SENTENCES:
        return HostDiedError(f"{_DEVICE_SENTENCES[cause]} ({message}).", details, cause=cause)
    return HostDiedError(f"Training stopped: {type(error).__name__}: {message}.", details, cause=cause)


def died_in_thread(error: Exception) -> HostDiedError:
    """The death of a session in this process, in which a broken device context stays broken until the program ends."""
    death = died(error)
    if death.cause is not DeathCause.STICKY:
        return death
    advice = "Close the program and start it again: training continues from the newest intact checkpoint."
    return HostDiedError(f"{death.sentence} {advice}", death.details, is_final=True, cause=death.cause)


def _cause_of(error: Exception) -> DeathCause:
    if isinstance(error, StorageError | ChallengerError):
        return DeathCause.REFUSED
    if isinstance(error, DeviceError):
        return DeathCause.NO_DEVICE
    return _FAULT_CAUSES.get(classify(error), DeathCause.ERROR)


_FAULT_CAUSES = {
    DeviceFault.OUT_OF_MEMORY: DeathCause.OUT_OF_MEMORY,
    DeviceFault.STICKY: DeathCause.STICKY,
    DeviceFault.GONE: DeathCause.GONE,
}
_DEVICE_SENTENCES = {
    DeathCause.STICKY: "The GPU reported an error after which a process cannot use it any more",
    DeathCause.GONE: "The GPU no longer responds",
}
