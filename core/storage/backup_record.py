"""Backups on disk: folders with a copy of the database, checkpoint files, and a JSON record of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated_dataclass

from core.domain.dates import utc_text
from core.files.durable import sha256_of, write_durably
from core.storage.record_tables import DETAILS

DATABASE, RECORD, CHECKPOINTS = "database.sqlite3", "backup.json", "checkpoints"
UNFINISHED = ".making-"
_UNEVEN = frozenset({"forecasts", "scores", "further_scores", *(table.name for table in DETAILS.values())})
_LARGEST_RECORD = 4_000_000
_CONFIG = ConfigDict(extra="forbid")

_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_File = Annotated[str, Field(pattern=r"^[^\x00-\x1f\\]{1,500}$")]
_Kept = Annotated[str, Field(pattern=r"^[0-9]{6}\.safetensors$")]


@validated_dataclass(frozen=True, kw_only=True, config=_CONFIG)
class KeptFile:
    """A checkpoint's weights. file: its name in the table; kept_as: its name in the backup."""

    file: _File
    kept_as: _Kept
    sha256: _Sha256


@validated_dataclass(frozen=True, kw_only=True, config=_CONFIG)
class Record:
    """The properties of the copy when it was verified. rows: per table."""

    form: Literal[1] = 1
    made_at_ms: _Count
    size_bytes: _Count
    sha256: _Sha256
    schema_version: _Count
    rows: dict[str, _Count]
    checkpoints: tuple[KeptFile, ...] = ()


_RECORDS = TypeAdapter(Record)


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

    @property
    def rows(self) -> int:
        """Rows of all tables, except those that are thinned with age or were counted differently by older versions."""
        return sum(count for table, count in self.record.rows.items() if table not in _UNEVEN)

    def weights(self, kept: KeptFile) -> Path:
        """The path of this checkpoint's file in the backup."""
        return self.folder / CHECKPOINTS / kept.kept_as


def folder_name(at_ms: int) -> str:
    """``2026-11-21T15-00-00Z``: sorts by time, and is valid on every file system."""
    return utc_text(at_ms, "%Y-%m-%dT%H-%M-%SZ")


def write_record(folder: Path, record: Record) -> None:
    """Raises OSError."""
    write_durably(folder / RECORD, _RECORDS.dump_json(record, indent=2) + b"\n")


def list_backups(folder: Path) -> tuple[Backup, ...]:
    """All backups with a record, newest first; not the unfinished ones."""
    try:
        inside = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    except OSError:
        return ()
    read = [(path, _read_record(path / RECORD)) for path in inside]
    found = [Backup(path, record) for path, record in read if record is not None]
    return tuple(sorted(found, key=lambda backup: (backup.record.made_at_ms, backup.name), reverse=True))


def verify(backup: Backup) -> str | None:
    """The fault of the copy; None if it is byte for byte the one checked when it was made."""
    try:
        if backup.database.stat().st_size != backup.record.size_bytes:
            return "its size is not the recorded one"
        if sha256_of(backup.database) != backup.record.sha256:
            return "it was altered: its sha256 is not the recorded one"
    except OSError as error:
        return f"it cannot be read ({error.strerror or error})"
    return None


def _read_record(path: Path) -> Record | None:
    try:
        if path.stat().st_size > _LARGEST_RECORD:
            return None
        record: Any = _RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError, RecursionError):
        return None
    return record if isinstance(record, Record) else None
