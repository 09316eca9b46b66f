"""The child process in which a session is trained: its whole life, on its main thread.

It ends itself when the pipe closes, so a parent that was killed leaves no trainer behind; should it be in the middle
of a step, the fence in the database keeps it from writing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import NoReturn

from core.domain.clock import SystemClock
from core.domain.events import EventBatch
from core.training.hosting.crash_output import FILE_NAME, StderrFile
from core.training.hosting.exit_reasons import EXIT_ERROR, EXIT_GONE, EXIT_STICKY, DeathCause
from core.training.hosting.host import died
from core.training.online.spec import SessionSpec

_NICENESS = 5
_PAUSE_S = 0.02
"""Without a command for so long, there is time for what can wait."""
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LEFT_TO_THE_PARENT = ("SIGINT", "SIGTERM", "SIGHUP")
"""A terminal and a service manager send these to the whole group: the parent asks for a last checkpoint, then closes
the pipe. A child that is to end for another reason is killed."""
_AT_ONCE = {DeathCause.STICKY: EXIT_STICKY, DeathCause.GONE: EXIT_GONE}
"""After these, whatever still touches the device hangs or aborts: tensors that are freed, the interpreter's end."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The child's last word."""

    sentence: str
    details: str
    is_final: bool
    cause: DeathCause
    candle_ms: int | None = None
    """When the candle opened (UTC ms) whose arithmetic it died of, where that is known."""


def run_trainer(spec: SessionSpec, pipe: Connection) -> None:
    """The life of the process, from its first statement on."""
    serve(spec, pipe, _prepare_process(spec).keep_small)


def serve(
    spec: SessionSpec,
    pipe: Connection,
    after_answer: Callable[[], None] = lambda: None,
    exit_at_once: Callable[[int], NoReturn] = os._exit,
) -> None:
    """Serve the pipe until it closes. An error is sent through the pipe, and ends the process with its exit code."""
    try:
        _answer(spec, pipe, after_answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone, or has closed the pipe: nothing is left to do
    except Exception as error:
        _report_and_exit(error, pipe, exit_at_once)


def _answer(spec: SessionSpec, pipe: Connection, after_answer: Callable[[], None]) -> None:
    from core.training.hosting.service import TrainingService  # noqa: PLC0415 - after the thread counts are set

    service = TrainingService(spec, SystemClock())
    try:
        pipe.send(EventBatch(service.opening_events()))
        while True:
            pipe.send(EventBatch(service.handle(pipe.recv())))
            after_answer()
            while not pipe.poll(_PAUSE_S) and service.use_pause():
                pass
    except (EOFError, BrokenPipeError, ConnectionResetError):
        service.close()  # only here: after a device error, cleaning up can hang
        raise


def _report_and_exit(error: Exception, pipe: Connection, exit_at_once: Callable[[int], NoReturn]) -> NoReturn:
    failure = died(error)
    logging.getLogger("ghostcandle.training").error("%s", failure.details)
    with contextlib.suppress(OSError):
        pipe.send(Failure(failure.sentence, failure.details, failure.is_final, failure.cause, failure.candle_ms))
    if failure.cause in _AT_ONCE:
        logging.shutdown()
        exit_at_once(_AT_ONCE[failure.cause])
    sys.exit(EXIT_ERROR)


def _prepare_process(spec: SessionSpec) -> StderrFile:
    """Before torch and NumPy are imported: one thread each, the end left to the parent, chart before trainer."""
    for name in _THREAD_COUNTS:
        os.environ[name] = "1"
    for name in _LEFT_TO_THE_PARENT:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    from core.logs.writing import TRAINER_FILE, log_to_file  # noqa: PLC0415 - the child's own start

    logs = spec.root / "logs"
    log_to_file(logs / TRAINER_FILE)
    stderr = StderrFile(logs / FILE_NAME)
    stderr.capture()
    return stderr
