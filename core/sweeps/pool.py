"""Cells on processes of this machine, one thread each, with the standard library alone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from pathlib import Path

from core.sweeps.cell import CellJob
from core.sweeps.executor import Outcome
from core.sweeps.work import in_place, work

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class LocalPool:
    """A pool of processes. If one of them dies, all are replaced, and the cells that ran come back to run again."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._jobs: dict[Future[Outcome], CellJob] = {}
        self._start()

    def free(self) -> int:
        return self._workers - len(self._jobs)

    def submit(self, job: CellJob) -> None:
        try:
            self._jobs[self._pool.submit(work, job, in_place, Path(self._folder.name))] = job
        except BrokenProcessPool:  # since the last look
            failed: Future[Outcome] = Future()
            failed.set_exception(BrokenProcessPool())
            self._jobs[failed] = job

    def wait(self, timeout_s: float) -> list[Outcome]:
        done, _ = wait(self._jobs, timeout_s, FIRST_COMPLETED)
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            done, _ = wait(self._jobs)  # all end with it
            self._end()
            self._start()
        return [_outcome(future, self._jobs.pop(future)) for future in done]

    def close(self) -> None:
        self._end()
        self._jobs.clear()

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ghostcandle-sweep-", ignore_cleanup_errors=True)
        self._lifeline, held = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")  # a fork would share torch's threads
        self._pool = ProcessPoolExecutor(self._workers, context, _begin, (held,))
        self._held = held

    def _end(self) -> None:
        """The processes end by themselves once the pipe is closed, and leave the folders of their cells."""
        self._lifeline.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()
        self._folder.cleanup()


def _begin(held: Connection) -> None:
    """In each process, before its first cell. Ctrl+C is for the sweep's process, which then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_sweep, args=(held,), name="end with the sweep", daemon=True).start()
    for name in _ONE_THREAD:
        os.environ[name] = "1"


def _end_with_sweep(held: Connection) -> None:
    """A closed pipe: the sweep has ended or was killed. No cell is worth finishing then."""
    with contextlib.suppress(OSError, EOFError):
        held.recv()
    os._exit(0)


def _outcome(future: Future[Outcome], job: CellJob) -> Outcome:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BrokenProcessPool):
        return Outcome(job, "", 0.0)
    return Outcome(job, "", 0.0, sentence=f"The evaluation failed ({type(error).__name__}: {error}).")
