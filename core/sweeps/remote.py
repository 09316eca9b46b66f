"""What runs in the process of a Dask worker. Needs Dask."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from distributed import Worker, get_worker

from core.files.durable import write_durably
from core.sweeps.cell import CellJob
from core.sweeps.executor import Outcome
from core.sweeps.versions import versions
from core.sweeps.work import work

_FOLDER = "ghostcandle"
_UNWANTED = ("cancelled", "released", "forgotten")
_one_at_a_time = threading.Lock()
"""A cell that was cancelled may still be ending, or another sweep use the same worker."""
Content = tuple[str, str]
"""The sha256 and the name of a file."""


def facts(is_ours: bool, dask_worker: Worker) -> tuple[str, str]:
    """The versions of the program and of torch. is_ours: the sweep started this process, and ends it: it ignores
    Ctrl+C, which a terminal sends to all."""
    if is_ours:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return versions()


def missing(contents: list[Content], dask_worker: Worker) -> list[Content]:
    """Those that this worker does not have yet."""
    return [each for each in contents if not _place(dask_worker, *each).exists()]


def store(content: Content, data: bytes, dask_worker: Worker) -> None:
    path = _place(dask_worker, *content)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, data)


def work_remotely(job: CellJob) -> Outcome:
    """Evaluate with the files that were sent here."""
    worker: Any = get_worker()
    key = worker.get_current_task()

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state in _UNWANTED

    def locate(sha256: str, path: str) -> Path:
        return _place(worker, sha256, Path(path).name)

    with _one_at_a_time:
        return work(job, locate, Path(worker.local_directory), is_cancelled)


def _place(worker: Any, sha256: str, name: str) -> Path:
    return Path(worker.local_directory) / _FOLDER / sha256 / name
