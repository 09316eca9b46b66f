"""Cells on Dask's workers: of this machine, or of the user's scheduler. Needs Dask.

Each cell goes to one worker, chosen here, so that a cell never waits behind another while a worker is idle, and a
worker that is refused gets none.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from distributed import Client, Future, LocalCluster

from core.sweeps.cell import CellJob
from core.sweeps.errors import SweepError
from core.sweeps.executor import Outcome
from core.sweeps.remote import Content, facts, missing, store, work_remotely
from core.sweeps.start import Draft
from core.sweeps.versions import versions

GPU = "GPU"
"""The resource of a worker that takes CUDA cells: `dask worker --resources GPU=1`."""
_MEMORY_SHARE = 0.8
_CONNECT_S, _START_S = 20.0, 120.0
_RESULT_S = 60.0
_GONE = (OSError, asyncio.TimeoutError, asyncio.CancelledError, RuntimeError, ValueError)
"""What Dask raises while a scheduler or a worker is lost."""
Say = Callable[[str], object]


def open_cluster(draft: Draft, scheduler: str | None, workers: int, say: Say) -> DaskExecutor:
    """Start workers here, one thread each and with bounded memory, or use those of a scheduler. Raises SweepError."""
    contents = {file.sha256: Path(file.path) for file in draft.files}
    contents |= {sha256: Path(path) for path, sha256 in draft.models.values()}
    is_cuda = draft.plan.device != "cpu"
    with ExitStack() as stack:
        if scheduler is None:
            cluster = stack.enter_context(_local_cluster(1 if is_cuda else workers, is_cuda=is_cuda))
            client = stack.enter_context(Client(cluster, set_as_default=False))
            _wait_for_workers(client, 1 if is_cuda else workers)
        else:
            client = stack.enter_context(_connected(scheduler))
        return DaskExecutor(client, scheduler or "", contents, say, stack.pop_all(), needs_gpu=is_cuda)


def _local_cluster(workers: int, *, is_cuda: bool) -> LocalCluster:
    memory = int(psutil.virtual_memory().total * _MEMORY_SHARE / workers)
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.ERROR,
        memory_limit=memory,
        resources={GPU: 1} if is_cuda else {},
    )


def _wait_for_workers(client: Client, count: int) -> None:
    try:
        client.wait_for_workers(count, timeout=_START_S)
    except TimeoutError as error:
        raise SweepError(
            f"Dask started fewer than {count} workers in {_START_S:.0f} s. Name fewer with --workers, or use --pool."
        ) from error


def _connected(scheduler: str) -> Client:
    try:
        return Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
    except (TimeoutError, OSError, ValueError) as error:
        raise SweepError(
            f"No Dask scheduler answers at {scheduler} ({error}). Start one with `dask scheduler`, and correct the "
            "address of --scheduler."
        ) from error


@dataclass(frozen=True, slots=True)
class _Running:
    """outages: those before it was sent."""

    job: CellJob
    address: str
    outages: int


class DaskExecutor:
    """The cells that run on a cluster."""

    def __init__(
        self,
        client: Client,
        name: str,
        contents: Mapping[str, Path],
        say: Say,
        closing: ExitStack,
        *,
        needs_gpu: bool = False,
    ) -> None:
        """name: the address that the user gave, empty for our own. contents: the files to be sent, by their sha256.
        closing: what ends the client, and the cluster if it is ours. needs_gpu: of all cells."""
        self._client, self._name, self._say, self._closing = client, name, say, closing
        self._contents: dict[Content, Path] = {(sha256, path.name): path for sha256, path in contents.items()}
        self._workers: set[str] = set()
        """Those that take cells, one at a time, whatever threads they have: torch's generator is the process's."""
        self._refused: set[str] = set()
        self._jobs: dict[Future[Outcome], _Running] = {}
        self._outages, self._is_answering = 0, True
        """How often the scheduler did not answer, and whether it did when it was asked last."""
        self._ended = threading.Event()
        self._needs_gpu, self._has_waited = needs_gpu, False
        self._keys = (f"ghostcandle-{uuid4().hex}-{number}" for number in count())
        self._look()

    def free(self) -> int:
        return len(self._idle())

    def submit(self, job: CellJob) -> None:
        address = self._idle()[0]
        resources = {GPU: 1} if self._needs_gpu else None
        future = self._client.submit(
            work_remotely, job, key=next(self._keys), workers=[address], resources=resources, pure=False
        )
        self._jobs[future] = _Running(job, address, self._outages)
        future.add_done_callback(self._on_done)

    def _idle(self) -> list[str]:
        if not self._is_answering:
            return []
        busy = {running.address for running in self._jobs.values()}
        return sorted(self._workers - busy)

    def wait(self, timeout_s: float) -> list[Outcome]:
        self._ended.wait(timeout_s)
        self._ended.clear()
        self._look()
        gone = {future for future, running in self._jobs.items() if running.address not in self._workers}
        done = [future for future in self._jobs if future.done() or future in gone]
        return [self._outcome(future, self._jobs.pop(future)) for future in done]

    def close(self) -> None:
        """Cells that still run on the user's workers stop within about a second."""
        with suppress(*_GONE):
            self._client.cancel(list(self._jobs), asynchronous=False, force=True)
        self._jobs.clear()
        with suppress(*_GONE):
            self._closing.close()

    def _on_done(self, _: Future[Outcome]) -> None:
        self._ended.set()

    def _outcome(self, future: Future[Outcome], running: _Running) -> Outcome:
        job, address = running.job, running.address
        if future.status == "finished":
            try:
                outcome: Outcome = future.result(timeout=_RESULT_S)
                return outcome
            except _GONE:
                return Outcome(job, address, 0.0)
        if future.status == "error":
            error = future.exception()
            return Outcome(job, address, 0.0, sentence=f"The evaluation failed ({type(error).__name__}: {error}).")
        is_death = address not in self._workers and running.outages == self._outages
        with suppress(*_GONE):
            future.cancel(force=True)
        return Outcome(job, address, 0.0, is_death=is_death)

    def _look(self) -> None:
        """See which workers there are, and check and supply new ones. Raises SweepError if the scheduler is gone."""
        if self._client.status == "closed":
            raise SweepError(
                f"The scheduler {self._name} does not answer any more. The cells that are done are stored: start it "
                "again, and the same command continues."
            )
        try:
            info: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        except _GONE:  # if it is lost for good, Dask cancels what runs
            self._outages += 1
            self._is_answering = False
            return
        self._is_answering = True
        able = {address for address, worker in info.items() if not self._needs_gpu or _gpus(worker)}
        self._workers &= able
        new = able - self._workers - self._refused
        self._workers |= {address for address in sorted(new) if self._accepts(address)}
        self._report_waiting()

    def _accepts(self, address: str) -> bool:
        """Check a worker's versions, and send the files that it lacks."""
        try:
            found = self._client.run(facts, not self._name, workers=[address], on_error="return")[address]
            fault = _fault_of(found)
            if fault is not None:
                self._refused.add(address)
                self._say(f"The worker {address} {fault} It gets no cells.")
                return False
            contents = list(self._contents)
            for content in self._client.run(missing, contents, workers=[address])[address]:
                self._client.run(store, content, self._contents[content].read_bytes(), workers=[address])
        except (*_GONE, KeyError):
            return False  # it is gone again; if not, the next look finds it
        return True

    def _report_waiting(self) -> None:
        if self._workers or self._has_waited:
            return
        self._has_waited = True
        what = f"with the resource {GPU}=1" if self._needs_gpu else "of this version"
        self._say(f"The scheduler {self._name} has no worker {what}; the sweep waits for one.")


def _gpus(worker: Mapping[str, Any]) -> int:
    return int((worker.get("resources") or {}).get(GPU, 0))


def _fault_of(found: object) -> str | None:
    """How the versions of a worker differ from ours, as the end of a sentence; None if they agree."""
    if isinstance(found, BaseException):
        return f"cannot run Ghostcandle ({type(found).__name__}: {found})."
    ours = versions()
    if found == ours or not isinstance(found, tuple):
        return None
    return f"has Ghostcandle {found[0]} and torch {found[1]}, and the sweep {ours[0]} and {ours[1]}."
