"""Storage errors. Every message is a sentence for the user: the problem, and the next step."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from core.domain.passing_faults import PassingFault
from core.files.durable import prove_writable


class StorageError(Exception):
    """Something cannot be stored or read. The message is for the user."""


class CorruptDatabaseError(StorageError):
    """The file is not a database, or is damaged. `recovering.open_or_recover` sets such a file aside."""


class PassingError(StorageError):
    """The surroundings of the database at `path` are at fault; the work can be repeated once that has passed
    (`database.is_writable_now`)."""

    def __init__(self, sentence: str, fault: PassingFault, path: Path) -> None:
        super().__init__(sentence)
        self.fault, self.path = fault, path


def explain(error: Exception, path: Path) -> StorageError | None:
    """The StorageError for an error caused by the environment, or None for one caused by a bug."""
    primary = getattr(error, "sqlite_errorcode", -1) & 0xFF  # the higher bits are the extended code
    is_undecodable = isinstance(error, UnicodeDecodeError)  # SQLite's message quotes a damaged name
    if is_undecodable or primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, error)
    if primary not in _SENTENCES:
        return None
    sentence = _SENTENCES[primary].format(path=path, error=error)
    return PassingError(sentence, _PASSING[primary], path) if primary in _PASSING else StorageError(sentence)


def damaged(path: Path, why: object) -> StorageError:
    """The error for damage that SQLite reports, as it also does where a disk that is away cannot be read."""
    if not _answers(path.parent):
        sentence = f"The disk that holds {path} does not answer. Check the disk, or choose another data folder."
        return PassingError(sentence, PassingFault.AWAY, path)
    return CorruptDatabaseError(f"The database {path} is damaged ({why}).")


def _answers(folder: Path) -> bool:
    try:
        prove_writable(folder)
    except OSError as error:
        return error.errno in _ANSWERS
    return True


_ANSWERS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
"""Of a disk that is there, and cannot be written."""
_PASSING = {
    sqlite3.SQLITE_BUSY: PassingFault.HELD,
    sqlite3.SQLITE_LOCKED: PassingFault.HELD,
    sqlite3.SQLITE_FULL: PassingFault.FULL_DISK,
    sqlite3.SQLITE_CANTOPEN: PassingFault.AWAY,
    sqlite3.SQLITE_IOERR: PassingFault.AWAY,
}
_SENTENCES = {
    sqlite3.SQLITE_BUSY: "The database {path} is locked by another program. Close that program, then try again.",
    sqlite3.SQLITE_LOCKED: "The database {path} is locked by another program. Close that program, then try again.",
    sqlite3.SQLITE_FULL: "The disk that holds {path} is full. Stored data is kept. Free some space, then try again.",
    sqlite3.SQLITE_READONLY: "The database {path} cannot be written: it or its folder is read-only. "
    "Make it writable, or choose another data folder.",
    sqlite3.SQLITE_PERM: "The database {path} cannot be written: permission is denied. "
    "Change the permissions, or choose another data folder.",
    sqlite3.SQLITE_CANTOPEN: "The database {path} cannot be opened ({error}). "
    "Check that its folder exists and may be written, or choose another data folder.",
    sqlite3.SQLITE_IOERR: "The disk that holds {path} reports an error ({error}). "
    "Check the disk, or choose another data folder.",
}
