"""Backups on disk: numbered folders with a copy of the database, checkpoint files, and a record of the copy in JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.files.durable import sha256_of

DATABASE, RECORD, CHECKPOINTS = "database.sqlite3", "backup.json", "checkpoints"
UNFINISHED = ".making-"

_Count = Annotated[int, Field(ge=0, lt=2**53)]


class Record(BaseModel):
    """The copy as it was when it was verified.

    number: the newest backup has the highest, whatever its clock. written_ms: the original's and its log's, from
    `backups.written_ms`. rows: candles and steps, which are never thinned.
    """

    model_config = ConfigDict(frozen=True)

    number: _Count
    made_at_ms: _Count
    schema_version: _Count
    written_ms: tuple[_Count, _Count]
    size_bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: _Count


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup with a record. `verify` checks that it still matches the record."""

    folder: Path
    record: Record = field(repr=False)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def database(self) -> Path:
        return self.folder / DATABASE

    def weights(self, file: str) -> Path:
        """The path of a checkpoint's file in the backup, by its name in the table; it may be missing."""
        return self.folder / CHECKPOINTS / file


def list_backups(folder: Path) -> tuple[Backup, ...]:
    """All backups with a record, newest first; not the unfinished ones."""
    found = []
    for path in folder.glob(f"[!.]*/{RECORD}"):
        try:
            found.append(Backup(path.parent, Record.model_validate_json(path.read_bytes())))
        except (OSError, ValidationError):
            continue
    return tuple(sorted(found, key=lambda backup: (backup.record.number, backup.name), reverse=True))


def verify(backup: Backup) -> str | None:
    """The fault of the copy; None if it is byte for byte the one checked when it was made."""
    try:
        is_same = sha256_of(backup.database) == backup.record.sha256
    except OSError as error:
        return f"it cannot be read ({error.strerror or error})"
    return None if is_same else "it was altered: its sha256 is not the recorded one"
