"""The session in a spawned child process, on its main thread.

A corrupt heap or a dead CUDA context ends a process and no `except` sees it; in a child it ends the child alone.
The child ends itself when the pipe closes, so a parent that was killed leaves no trainer behind; should one be in
the middle of a step, the fence in the database keeps it from writing.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from core.clock import Clock, SystemClock
from core.commands import TrainerCommand
from core.events import EventBatch
from core.training.host import HostDiedError, died
from core.training.spec import SessionSpec

_START_TIMEOUT_S = 120.0
_CLOSE_GRACE_S = 5.0
_NICENESS = 5
_CHILD_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class _Failure:
    """The child's last word."""

    sentence: str
    details: str
    is_final: bool


class ProcessHost:
    """Starts, feeds and ends the child. Used from one thread only."""

    def __init__(self, spec: SessionSpec, clock: Clock) -> None:
        self._spec = spec
        self._clock = clock
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_child_main, args=(self._spec, theirs), name="ghostcandle-trainer", daemon=True
        )
        try:
            process.start()
        except (OSError, RuntimeError) as error:
            ours.close()
            raise HostDiedError(f"The trainer process could not be started: {error}.") from error
        finally:
            theirs.close()
        self._process, self._pipe = process, ours

    def send(self, command: TrainerCommand) -> None:
        pipe = self._open_pipe()
        try:
            pipe.send(command)
        except OSError as error:
            raise self._died() from error

    def receive(self, timeout_s: float) -> EventBatch | None:
        pipe = self._open_pipe()
        try:
            message = pipe.recv() if pipe.poll(timeout_s) else None
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(message, _Failure):
            self.close()
            raise HostDiedError(message.sentence, message.details, message.is_final)
        assert message is None or isinstance(message, EventBatch)
        return message

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is None:
            return
        self._process.join(_CLOSE_GRACE_S)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_CLOSE_GRACE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        self._process = None

    def _open_pipe(self) -> Connection:
        if self._pipe is None:
            raise HostDiedError("The trainer is not running.")
        return self._pipe

    def _died(self) -> HostDiedError:
        """Name the end of the child by its exit code."""
        process = self._process
        if process is not None:
            process.join(_CLOSE_GRACE_S)
        code = None if process is None else process.exitcode
        self.close()
        return HostDiedError(f"The trainer process ended: {_describe(code)}.")


def _describe(code: int | None) -> str:
    if code is None:
        return "it no longer answered"
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def _child_main(spec: SessionSpec, pipe: Connection) -> None:
    """The child's whole life."""
    _prepare_process(spec)
    try:
        _serve(spec, pipe)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone, or has closed the pipe: nothing is left to do
    except Exception as error:
        failure = died(error)
        logging.getLogger("ghostcandle.training").error("%s", failure.details)
        with contextlib.suppress(OSError):
            pipe.send(_Failure(failure.sentence, failure.details, failure.is_final))
        sys.exit(1)


def _serve(spec: SessionSpec, pipe: Connection) -> None:
    from core.training.service import TrainingService  # noqa: PLC0415 - after the thread counts are set

    service = TrainingService(spec, SystemClock())
    try:
        pipe.send(EventBatch(service.opening_events()))
        while True:
            pipe.send(EventBatch(service.handle(pipe.recv())))
    finally:
        service.close()


def _prepare_process(spec: SessionSpec) -> None:
    """Before torch and NumPy are imported: one thread each, Ctrl+C left to the parent, chart before trainer."""
    for name in _CHILD_THREADS:
        os.environ[name] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    _log_to_file(spec)


def _log_to_file(spec: SessionSpec) -> None:
    from core.logs import log_to_file  # noqa: PLC0415 - the child's own start

    log_to_file(spec.root / "logs" / "trainer.log")
