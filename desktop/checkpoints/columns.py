"""The columns that the browser can show, and how each says what it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QLocale

from core.checkpoints.catalog import Kept
from core.checkpoints.columns import reason_text
from core.checkpoints.evaluation import Evaluation
from core.events import CheckpointInfo
from core.market.candle import Interval
from desktop.checkpoints.source import SCORE_MEANING, score_text
from desktop.formatting import MISSING, format_count, format_number, format_percent, format_time


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in filters and settings, its title, what it means, and its text; sample: as wide as its
    texts come. sort: the catalog's column that it is sorted by, where that has another name."""

    name: str
    title: str
    meaning: str
    text: Callable[[Kept], str]
    sample: str
    is_number: bool = True
    sort: str = ""

    @property
    def sort_name(self) -> str:
        return self.sort or self.name


def format_bytes(size: int) -> str:
    """``1.4 MB``, in powers of 1,000."""
    return QLocale.c().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat).replace("kB", "KB")


def marks(info: CheckpointInfo) -> tuple[str, ...]:
    """The words for best, in use and pinned that hold."""
    held = (("best", info.is_best), ("in use", info.is_in_use), ("pinned", info.is_pinned))
    return tuple(word for word, holds in held if holds)


def verified_text(info: CheckpointInfo) -> str:
    """When its file was last read and found whole, or that it was not."""
    if info.verified_at_ms is None:
        return MISSING
    return "damaged" if info.fault else format_time(info.verified_at_ms)


def evaluated_text(kept: Kept) -> str:
    """The close skill of its newest evaluation on a file."""
    found = kept.evaluation
    if found is None:
        return MISSING
    if found.close_skill is None:
        return "too few candles"
    return _interval(found.close_skill, found.close_low, found.close_high)


def evaluation_lines(found: Evaluation) -> list[str]:
    """All that is kept of an evaluation."""
    how = "went on learning" if found.learns else "weights frozen"
    return [
        f"Evaluated {format_time(found.at_ms)} on {found.file} ({how}): {format_count(found.judged)} of "
        f"{format_count(found.candles)} candles judged",
        f"Close skill {_interval(found.close_skill, found.close_low, found.close_high)}, "
        f"range skill {_interval(found.range_skill, found.range_low, found.range_high)}",
        f"Coverage {format_percent(found.coverage, 1)}, direction {format_percent(found.direction, 1)}",
    ]


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return MISSING
    between = f"{format_number(100.0 * low, 1)} to {format_number(100.0 * high, 1)}"
    return f"{format_percent(value, 1, signed=True)} ({between})"


def _flag(name: str, title: str, meaning: str, read: Callable[[CheckpointInfo], bool]) -> Column:
    return Column(name, title, meaning, lambda kept: "yes" if read(kept.info) else "no", "yes", is_number=False)


EVALUATION_MEANING = (
    "Close skill of the newest evaluation on a candle file, one candle ahead, with its 95 % interval: there the live "
    "session went over the file from this checkpoint"
)
COLUMNS = (
    Column("marks", "", "Best, in use, pinned", lambda kept: "", "", is_number=False, sort="best"),
    Column("step", "Step", "Training steps taken when it was saved", lambda k: format_count(k.info.step), "123,456"),
    Column(
        "candle",
        "Candle",
        "The newest candle it had learned from",
        lambda k: format_time(k.info.candle_open_time_ms),
        "30 Nov 2026 00:00",
    ),
    Column("when", "Saved", "When it was saved", lambda k: format_time(k.info.created_at_ms), "30 Nov 2026 00:00"),
    Column(
        "reason",
        "Reason",
        "Why it was saved",
        lambda k: reason_text(k.info.reason),
        "After a restore",
        is_number=False,
    ),
    Column("skill", "Score", SCORE_MEANING, lambda k: score_text(k.info), "+1.0 % (−10.5 to 10.4)"),
    Column("evaluated", "Evaluated", EVALUATION_MEANING, evaluated_text, "+1.0 % (−10.5 to 10.4)"),
    Column(
        "evaluated_on",
        "Evaluated on",
        "The file of its newest evaluation",
        lambda k: MISSING if k.evaluation is None else k.evaluation.file,
        "btcusdt-1m-2026.csv",
        is_number=False,
    ),
    Column(
        "loss",
        "Loss",
        "Training loss, averaged over the newest steps",
        lambda k: format_number(k.info.loss, 4),
        "0.0000",
    ),
    Column(
        "coverage",
        "Coverage",
        "Share of closes inside the 90 % band, over the candles of the score; 90 % is right",
        lambda k: format_percent(k.info.coverage, 1),
        "100.0 %",
    ),
    Column(
        "direction",
        "Direction",
        "Share of candles whose direction was forecast, over the candles of the score; flat ones are left out",
        lambda k: format_percent(k.info.direction, 1),
        "100.0 %",
    ),
    Column(
        "health",
        "Gradients",
        "What the gradient doctor had said last",
        lambda k: k.info.health or MISSING,
        "exploding gradients",
        is_number=False,
    ),
    Column("size", "Size", "On disk", lambda k: format_bytes(k.info.size_bytes), "100.0 MB"),
    Column(
        "run", "Run", "Which run it belongs to", lambda k: k.info.run_id, "20261130-101530-ab12cd34", is_number=False
    ),
    Column("symbol", "Symbol", "The market of its run", lambda k: k.symbol, "BTC/USDT", is_number=False),
    Column(
        "interval",
        "Interval",
        "How long a candle of its run lasts",
        lambda k: str(Interval(k.interval_ms)),
        "15m",
        is_number=False,
    ),
    Column(
        "device",
        "Device",
        "Where it was trained",
        lambda k: k.info.device or MISSING,
        "CPU, 16 threads",
        is_number=False,
    ),
    Column(
        "parent",
        "Parent",
        "The checkpoint that it went on from",
        lambda k: k.info.parent_id or MISSING,
        "20261130-101530-ab12cd34-00001230-abcdef",
        is_number=False,
    ),
    _flag("pinned", "Pinned", "Never cleaned up", lambda info: info.is_pinned),
    _flag("best", "Best", "The highest score of its run", lambda info: info.is_best),
    _flag(
        "known_good",
        "Known good",
        "All of its numbers were finite, and no step before it was being skipped",
        lambda info: info.is_known_good,
    ),
    Column(
        "verified",
        "Verified",
        "When its file was last read and held to its sha256",
        lambda k: verified_text(k.info),
        "30 Nov 2026 00:00",
        is_number=False,
        sort="verified_at",
    ),
    Column("name", "Name", "What you call it", lambda k: k.info.name, "Before the halving", is_number=False),
    Column(
        "tags", "Tags", "Your own words to find it by", lambda k: ", ".join(k.info.tags), "one, two", is_number=False
    ),
    Column("note", "Note", "Your own words", lambda k: k.info.note, "Some words", is_number=False),
)
BY_NAME = {column.name: column for column in COLUMNS}
PLACE = {column.name: place for place, column in enumerate(COLUMNS)}
MOST_FIRST = frozenset(
    {
        *("marks", "step", "candle", "when", "skill", "coverage", "direction", "size"),
        *("pinned", "best", "known_good", "verified"),
    }
)
"""By these the first click on a header brings the largest, newest or best to the top; by the others the least."""
FIRST_COLUMNS = (
    "marks",
    "step",
    "candle",
    "when",
    "reason",
    "skill",
    "evaluated",
    "loss",
    "coverage",
    "direction",
    "size",
    "note",
)
"""Shown until others are chosen, in this order."""
LEAST_FIRST = ("size", "coverage", "direction", "when", "loss", "reason")
"""Of those, which go first where there is no room."""


def tooltip(kept: Kept) -> str:
    """All that the columns would say, in a few lines."""
    info = kept.info
    held, reason = ", ".join(marks(info)), reason_text(info.reason).lower()
    lines = [
        (f"{info.name}: " if info.name else "") + f"Step {format_count(info.step)}" + (f" ({held})" if held else ""),
        f"{kept.symbol}, {Interval(kept.interval_ms)}, run {info.run_id}",
        f"Saved {format_time(info.created_at_ms)} ({reason}), {format_bytes(info.size_bytes)}",
        f"Loss {format_number(info.loss, 4)}, score {score_text(info)}",
        f"Coverage {format_percent(info.coverage, 1)}, direction {format_percent(info.direction, 1)}",
        f"{format_count(info.scored)} candles were scored when it was saved",
        f"Gradients: {info.health or MISSING}; device: {info.device or MISSING}",
        f"File: {info.file}",
        f"SHA-256: {info.sha256[:16]}…, verified: {verified_text(info)}",
    ]
    if info.fault:
        lines.append(info.fault)
    if kept.evaluation is not None:
        lines += evaluation_lines(kept.evaluation)
    if info.tags:
        lines.append(f"Tags: {', '.join(info.tags)}")
    if info.note:
        lines.append(f"Note: {info.note}")
    return "\n".join(lines)
