"""The columns of a stored checkpoint for the browser's filter and order, each in the unit that a row shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from core.checkpoints.best import is_wrecked, proven_gain
from core.checkpoints.row import CheckpointRow
from core.domain.candle import Interval
from core.domain.dates import local_text

Value = str | float | None
NUMBER, FLAG, TEXT = "REAL", "INTEGER", "TEXT COLLATE NOCASE"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table `checkpoints`: its name, its type in SQLite, and its value; None is unknown."""

    name: str
    type: str
    value: Callable[[CheckpointRow], Value]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _time(at_ms: int | None) -> str | None:
    """``2026-11-30 14:05`` in the machine's time zone, which SQLite compares and sorts as text."""
    return None if at_ms is None else local_text(at_ms, "%Y-%m-%d %H:%M")


def _symbols(row: CheckpointRow) -> str:
    return ", ".join(dict.fromkeys((row.symbol, *(market.symbol for market in row.others))))


def _evaluated(name: str) -> Callable[[CheckpointRow], Value]:
    return lambda row: None if row.evaluation is None else _percent(getattr(row.evaluation, name))


COLUMNS = (
    Column("step", NUMBER, lambda row: row.info.step),
    Column("candle", TEXT, lambda row: _time(row.info.candle_open_time_ms)),
    Column("saved", TEXT, lambda row: _time(row.info.created_at_ms)),
    Column("reason", TEXT, lambda row: row.info.reason),
    Column("score", NUMBER, lambda row: _percent(row.info.skill)),
    Column("scored", NUMBER, lambda row: row.info.scored),
    Column("adds", NUMBER, lambda row: _percent(proven_gain(row.info))),
    Column("adds_low", NUMBER, lambda row: _percent(row.info.gain_low)),
    Column("adds_high", NUMBER, lambda row: _percent(row.info.gain_high)),
    Column("evaluated", NUMBER, _evaluated("close_skill")),
    Column("evaluated_low", NUMBER, _evaluated("close_low")),
    Column("evaluated_high", NUMBER, _evaluated("close_high")),
    Column("evaluated_on", TEXT, lambda row: None if row.evaluation is None else row.evaluation.file),
    Column("loss", NUMBER, lambda row: row.info.loss),
    Column("coverage", NUMBER, lambda row: _percent(row.info.coverage)),
    Column("direction", NUMBER, lambda row: _percent(row.info.direction)),
    Column("gradients", TEXT, lambda row: row.info.health),
    Column("size", NUMBER, lambda row: row.info.size_bytes / 1e6),
    Column("run", TEXT, lambda row: row.info.run_id),
    Column("symbol", TEXT, _symbols),
    Column("venue", TEXT, lambda row: row.venue),
    Column("interval", TEXT, lambda row: str(Interval(row.interval_ms))),
    Column("device", TEXT, lambda row: row.info.device),
    Column("parent", TEXT, lambda row: row.info.parent_id),
    Column("name", TEXT, lambda row: row.info.name),
    Column("tags", TEXT, lambda row: ", ".join(row.info.tags)),
    Column("note", TEXT, lambda row: row.info.note),
    Column("pinned", FLAG, lambda row: row.info.is_pinned),
    Column("best", FLAG, lambda row: row.info.is_best),
    Column("in_use", FLAG, lambda row: row.info.is_in_use),
    Column("known_good", FLAG, lambda row: not is_wrecked(row.info)),
    Column("verified", FLAG, lambda row: row.info.verified_at_ms is not None and not row.info.fault),
    Column("damaged", FLAG, lambda row: bool(row.info.fault)),
    Column("archived", FLAG, lambda row: row.is_archived),
)
"""The names that a filter may use besides `AGE`, in the order of the suggestions."""
AGE = "age"
"""Days since a checkpoint was saved, at the moment of the query."""
NAMES = (*(column.name for column in COLUMNS), AGE)
FLAGS = frozenset(column.name for column in COLUMNS if column.type == FLAG)
QUALITY = frozenset(
    {
        *("score", "adds", "adds_low", "adds_high", "loss", "coverage", "direction"),
        *("evaluated", "evaluated_low", "evaluated_high"),
    }
)
"""Columns that measure a checkpoint's quality."""

REASON_TEXTS = {
    "periodic": "Periodic",
    "best": "Best so far",
    "pause": "On pause",
    "exit": "On exit",
    "manual": "Manual",
    "restore": "After a restore",
    "change": "Before a change",
    "import": "Imported",
}


def reason_text(reason: str) -> str:
    return REASON_TEXTS.get(reason, reason.capitalize())


def _searched(row: CheckpointRow) -> str:
    """The text that plain words are searched in, case-folded."""
    info = row.info
    marks = ("pinned" * info.is_pinned, "best" * info.is_best, "in use" * info.is_in_use)
    texts = (info.reason, reason_text(info.reason), info.health, info.run_id, _symbols(row), info.device, info.name)
    return "\n".join((f"{info.step} {info.step:,}", *marks, *filter(None, texts), info.note, *info.tags)).casefold()


_STORED = (
    Column("id", "TEXT PRIMARY KEY", lambda row: row.info.checkpoint_id),
    *COLUMNS,
    Column("sequence", FLAG, lambda row: row.sequence),
    Column("saved_ms", FLAG, lambda row: row.info.created_at_ms),
    Column("interval_ms", FLAG, lambda row: row.interval_ms),
    Column("verified_at", FLAG, lambda row: None if row.info.fault else row.info.verified_at_ms),
    Column("searched", "TEXT", _searched),
    Column("tagged", "TEXT", lambda row: "".join(f" {tag} " for tag in row.info.tags).casefold()),
)
TABLE = f"""
CREATE TABLE checkpoints ({", ".join(f"{column.name} {column.type}" for column in _STORED)}) WITHOUT ROWID;
CREATE INDEX checkpoints_by_run ON checkpoints (run, sequence);
"""
INSERT = f"INSERT OR REPLACE INTO checkpoints VALUES ({', '.join('?' * len(_STORED))})"


def values(row: CheckpointRow) -> tuple[Value, ...]:
    """A row of the table `checkpoints`. A number that is not finite, and an empty text, are unknown."""
    stored = (column.value(row) for column in _STORED)
    return tuple(
        None if value == "" or (isinstance(value, float) and not isfinite(value)) else value for value in stored
    )
