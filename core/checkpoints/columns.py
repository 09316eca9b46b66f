"""What is known of a kept checkpoint, by the names that columns and the filter use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto


class Kind(StrEnum):
    """What a column holds, and so how it is compared and typed."""

    NUMBER = auto()
    SHARE = auto()
    """A fraction; 0.01 may be typed as 1 %."""
    BYTES = auto()
    TIME = auto()
    """UTC milliseconds; dates are typed."""
    AGE = auto()
    """Milliseconds; days, hours or minutes are typed."""
    TEXT = auto()
    TAGS = auto()
    """Words; `=` asks whether one of them is it."""
    FLAG = auto()


@dataclass(frozen=True, slots=True)
class Column:
    """One name, and the other names that it may be typed by."""

    name: str
    kind: Kind
    aliases: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.kind in (Kind.TEXT, Kind.TAGS)


COLUMNS = (
    Column("step", Kind.NUMBER, ("steps",)),
    Column("candle", Kind.TIME),
    Column("when", Kind.TIME, ("saved", "time")),
    Column("age", Kind.AGE),
    Column("reason", Kind.TEXT),
    Column("skill", Kind.SHARE, ("score",)),
    Column("model_gain", Kind.SHARE, ("gain",)),
    Column("shown_skill", Kind.SHARE, ("shown",)),
    Column("skill_low", Kind.SHARE),
    Column("skill_high", Kind.SHARE),
    Column("scored", Kind.NUMBER),
    Column("evaluated", Kind.SHARE),
    Column("evaluated_low", Kind.SHARE),
    Column("evaluated_high", Kind.SHARE),
    Column("evaluated_on", Kind.TEXT),
    Column("loss", Kind.NUMBER),
    Column("coverage", Kind.SHARE),
    Column("direction", Kind.SHARE),
    Column("health", Kind.TEXT, ("gradient_health",)),
    Column("size", Kind.BYTES),
    Column("run", Kind.TEXT),
    Column("venue", Kind.TEXT, ("exchange",)),
    Column("symbol", Kind.TEXT),
    Column("interval", Kind.TEXT),
    Column("device", Kind.TEXT),
    Column("parent", Kind.TEXT),
    Column("id", Kind.TEXT),
    Column("name", Kind.TEXT),
    Column("note", Kind.TEXT, ("notes",)),
    Column("tags", Kind.TAGS, ("tag",)),
    Column("pinned", Kind.FLAG),
    Column("best", Kind.FLAG),
    Column("in_use", Kind.FLAG),
    Column("known_good", Kind.FLAG, ("good",)),
    Column("verified", Kind.FLAG),
    Column("damaged", Kind.FLAG),
    Column("archived", Kind.FLAG),
)
"""Every name of the filter, in the order in which they are offered."""

_REASONS = {
    "periodic": "Periodic",
    "best": "Best so far",
    "pause": "On pause",
    "exit": "On exit",
    "manual": "By hand",
    "restore": "After a restore",
    "change": "Before a change",
    "import": "Imported",
}


BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}


def reason_text(reason: str) -> str:
    """Why it was saved, for people."""
    return _REASONS.get(reason, reason.capitalize())
