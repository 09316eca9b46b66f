"""One owner per data folder: a file lock that the operating system releases when its process ends."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from core.domain.clock import Clock, SystemClock
from core.storage.errors import StorageError
from core.storage.folder import DataFolder


class FolderInUse(StorageError):  # noqa: N818 - a state of the folder, not an error
    """Another process owns the folder. `pid` and `role` are None if unknown."""

    def __init__(self, sentence: str, pid: int | None, role: str | None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.pid = pid
        self.role = role


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """An owner that never released the folder: it crashed, was killed, or the machine shut down."""

    pid: int
    role: str
    since_ms: int


class Ownership:
    """Held until `close`, or until the process ends. A context manager; closing twice is harmless."""

    def __init__(self, lock: FileLock, description: Path, left_behind: LeftBehind | None) -> None:
        self._lock = lock
        self._description = description
        self.left_behind = left_behind

    def close(self) -> None:
        """Release the folder. Only possible in the process that took it."""
        if self._lock.is_locked:
            self._description.unlink(missing_ok=True)  # before the lock: afterwards it belongs to the next owner
            self._lock.release()

    def __enter__(self) -> Ownership:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def own(folder: DataFolder, role: str, clock: Clock | None = None) -> Ownership:
    """Become the folder's owner, without waiting. `role` is a display name such as ``window``.

    Raises FolderInUse, and StorageError if the folder cannot be locked. Call `ensure` on the folder first.
    """
    # A lock by the file's existence would outlive a killed process, so that fallback is off.
    lock = FileLock(folder.owner_lock, mode=0o600, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise _in_use(folder) from None
    except OSError as error:
        raise _cannot_lock(folder, error) from error
    left_behind = _left_behind(folder.owner)
    try:
        _describe(folder.owner, role, (clock or SystemClock()).now_ms())
    except OSError as error:
        lock.release()
        raise _cannot_lock(folder, error) from error
    return Ownership(lock, folder.owner, left_behind)


def _describe(path: Path, role: str, now_ms: int) -> None:
    temporary = path.with_name(path.name + ".tmp")  # only the owner writes, so a fixed name is enough
    temporary.write_text(json.dumps({"pid": os.getpid(), "role": role, "since_ms": now_ms}), encoding="utf-8")
    temporary.replace(path)


def _in_use(folder: DataFolder) -> FolderInUse:
    owner = _left_behind(folder.owner)
    if owner is not None and psutil.pid_exists(owner.pid):
        pid, role, who = owner.pid, owner.role, f"a {owner.role} (process {owner.pid})"
    else:
        pid, role, who = None, None, "another process"
    return FolderInUse(
        f"The data folder {folder.root} is in use by {who}. Close that first, or choose another with --data-dir.",
        pid,
        role,
    )


def _left_behind(path: Path) -> LeftBehind | None:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return LeftBehind(int(owner["pid"]), str(owner["role"]), int(owner["since_ms"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _cannot_lock(folder: DataFolder, error: OSError) -> StorageError:
    return StorageError(
        f"The data folder {folder.root} cannot be locked ({error.strerror or error}). "
        "Check its permissions and its disk, or choose another with --data-dir."
    )
