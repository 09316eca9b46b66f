"""One owner per folder of a sweep: a file lock, which the operating system releases when its process ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from core.sweeps.errors import SweepError

LOCK_FILE = "sweep.lock"


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Create the folder, and own it while the block runs. Raises SweepError if another process does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_FILE, mode=0o600, blocking=False, thread_local=False, fallback_to_soft=False)
        lock.acquire()
    except Timeout:
        raise SweepError(
            f"Another process runs the sweep in {folder}. Wait for its end or stop it, or choose another folder."
        ) from None
    except OSError as error:
        raise SweepError(
            f"The folder {folder} cannot be used ({error.strerror or error}). Check its permissions and its disk, or "
            "choose another with --folder."
        ) from error
    try:
        yield
    finally:
        lock.release()
