"""A job in the process of a worker: what it returns, also of a failed cell."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from core.domain.clock import SystemClock
from core.sweeps.cell import CellCancelled, CellJob, require_content, run_cell, with_model_file
from core.sweeps.errors import SweepError
from core.sweeps.executor import Outcome

Locate = Callable[[str, str], Path]
"""The place of a file on this machine, by its sha256 and its path on the sweep's."""


def work(job: CellJob, locate: Locate, within: Path, is_cancelled: Callable[[], bool] = lambda: False) -> Outcome:
    """Evaluate, and turn whatever fails into the sentence of the cell. within: a folder that is removed also if this
    process is killed. Raises CellCancelled."""
    clock, worker = SystemClock(), worker_name()
    began_s = clock.monotonic_s()
    try:
        files = [locate(file.sha256, file.path) for file in job.files]
        configuration = with_model_file(job.configuration, _model_file(job, locate))
        result = run_cell(job, files, configuration, clock, is_cancelled, within)
    except (CellCancelled, KeyboardInterrupt):
        raise
    except Exception as error:
        return Outcome(job, worker, clock.monotonic_s() - began_s, sentence=sentence_of_failure(error))
    return Outcome(job, worker, clock.monotonic_s() - began_s, result)


def worker_name() -> str:
    """``host-1:4711``, the machine and the process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def sentence_of_failure(error: Exception) -> str:
    """One line for the table; errors that are not meant for the user are named."""
    text = " ".join(str(error).split())
    return text if isinstance(error, SweepError) else f"The evaluation failed ({type(error).__name__}: {text})."


def in_place(sha256: str, path: str) -> Path:
    """On the sweep's machine a file lies where it was found; `run_cell` checks its content."""
    return Path(path)


def _model_file(job: CellJob, locate: Locate) -> Path | None:
    if job.model_file is None:
        return None
    path, sha256 = job.model_file
    file = locate(sha256, path)
    require_content(file, sha256, Path(path).name)
    return file
