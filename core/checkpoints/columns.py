"""The columns of a stored checkpoint, by the names that the browser and the filter use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, auto


class Kind(StrEnum):
    """The type of a column, which decides how its values are compared and typed."""

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
    """Words; `=` tests whether one of them is equal."""
    LINES = auto()
    """Texts, one per line; `=` tests whether one of them is equal."""
    FLAG = auto()


@dataclass(frozen=True, slots=True)
class Column:
    """One column, with the aliases for typing it."""

    name: str
    kind: Kind
    aliases: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.kind in (Kind.TEXT, Kind.TAGS, Kind.LINES)

    def parts(self, text: str) -> Sequence[str]:
        """What `=` compares, of a text in this column."""
        match self.kind:
            case Kind.TAGS:
                return text.split()
            case Kind.LINES:
                return text.splitlines()
        return (text,)


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
    Column("symbol", Kind.LINES),
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
"""Every column of the filter, in the order of the suggestions."""

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


BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}


def reason_text(reason: str) -> str:
    """Display text of the reason for saving."""
    return REASON_TEXTS.get(reason, reason.capitalize())
