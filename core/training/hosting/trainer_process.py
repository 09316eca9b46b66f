"""The child process that trains a session, on its main thread.

It exits when the pipe closes, so a killed parent leaves no trainer behind; if it is in the middle of a step, the fence
in the database keeps it from writing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import NoReturn

from core.domain.clock import SystemClock
from core.domain.events import EventBatch
from core.training.hosting.crash_output import FILE_NAME, StderrFile
from core.training.hosting.host import died
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import EXIT_ERROR, EXIT_GONE, EXIT_STICKY, DeathCause

_NICENESS = 5
_SIGN_EVERY_S = 1.0
_PAUSE_S = 0.02
"""Time without a command after which deferred work is done."""
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LEFT_TO_THE_PARENT = ("SIGINT", "SIGTERM", "SIGHUP")
"""A terminal and a service manager send these to the whole group: the parent requests a last checkpoint, then closes
the pipe. A child that must end for another reason is killed."""
_IMMEDIATE_EXIT = {DeathCause.STICKY: EXIT_STICKY, DeathCause.GONE: EXIT_GONE}
"""Causes after which any further use of the device hangs or aborts: freeing tensors, the interpreter's exit."""


@dataclass(frozen=True, slots=True)
class PartDone:
    """Sent between answers, at most once a second: part of the work for the next one is done."""


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back SIGINT, SIGTERM and SIGHUP in this thread, and in a process started meanwhile, until the block ends."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first start begins it, which lets them come at once
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _left_to_the_parent())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_trainer(spec: SessionSpec, pipe: Connection) -> None:
    """The entry point of the process."""
    serve(spec, pipe, _prepare_process(spec).limit_size)


def serve(
    spec: SessionSpec,
    pipe: Connection,
    after_answer: Callable[[], None] = lambda: None,
    exit_now: Callable[[int], NoReturn] = os._exit,
) -> None:
    """Serve the pipe until it closes. An error is sent through the pipe, and ends the process with its exit code."""
    try:
        _answer(spec, pipe, after_answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has exited or closed the pipe
    except Exception as error:
        _report_and_exit(error, pipe, exit_now)


def _answer(spec: SessionSpec, pipe: Connection, after_answer: Callable[[], None]) -> None:
    from core.training.hosting.service import TrainingService  # noqa: PLC0415 - after the thread counts are set

    clock = SystemClock()
    sent_s = clock.monotonic_s()

    def on_part_done() -> None:
        nonlocal sent_s
        if clock.monotonic_s() - sent_s >= _SIGN_EVERY_S:
            pipe.send(PartDone())
            sent_s = clock.monotonic_s()

    pipe.send(PartDone())  # torch is imported
    service = TrainingService(spec, clock, on_part_done)
    try:
        pipe.send(EventBatch(service.opening_events()))
        while True:
            for batch in service.respond(pipe.recv()):
                pipe.send(batch)
            after_answer()
            while not pipe.poll(_PAUSE_S) and (service.do_deferred_work() or service.owes_status):
                if (late := service.late_status()) is not None:
                    pipe.send(late)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        service.close()  # only here: after a device error, cleaning up can hang
        raise


def _report_and_exit(error: Exception, pipe: Connection, exit_now: Callable[[int], NoReturn]) -> NoReturn:
    failure = died(error)
    logging.getLogger("ghostcandle.training").error("%s", failure.details)
    with contextlib.suppress(OSError):
        pipe.send(failure)
    if failure.cause in _IMMEDIATE_EXIT:
        logging.shutdown()
        exit_now(_IMMEDIATE_EXIT[failure.cause])
    sys.exit(EXIT_ERROR)


def _left_to_the_parent() -> list[signal.Signals]:
    """The signals left to the parent, if the platform has them."""
    return [getattr(signal, name) for name in _LEFT_TO_THE_PARENT if hasattr(signal, name)]


def _prepare_process(spec: SessionSpec) -> StderrFile:
    """Prepare the process before torch and NumPy are imported: one thread each, signals left to the parent, lower
    priority than the chart."""
    for name in _THREAD_COUNTS:
        os.environ[name] = "1"
    for number in _left_to_the_parent():
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # they were held back until here
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _left_to_the_parent())
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    from core.logs.writing import TRAINER_FILE, log_to_file  # noqa: PLC0415 - the child's own start

    logs = spec.root / "logs"
    log_to_file(logs / TRAINER_FILE)
    stderr = StderrFile(logs / FILE_NAME)
    stderr.capture()
    sys.stdout = sys.stderr  # a model of the user may print, and with --json the command's stdout has one object
    return stderr
