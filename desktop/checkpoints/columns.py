"""The columns that the browser can show, and their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QLocale

from core.checkpoints.best import is_proven_to_add, is_wrecked
from core.checkpoints.columns import REASON_TEXTS, reason_text
from core.checkpoints.row import CheckpointRow, Evaluation
from core.domain.candle import Interval
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Disease
from core.domain.plain_text import plain
from core.market.shown_names import shown_symbol
from desktop.state.checkpoint_source import ADDS_MEANING, BEST_MEANING, adds_sentence, adds_text
from desktop.ui.formatting import MISSING, format_count, format_number, format_percent, format_time
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

BEST = QT_TRANSLATE_NOOP("Checkpoints", "best")
IN_USE = QT_TRANSLATE_NOOP("Checkpoints", "in use")
PINNED = QT_TRANSLATE_NOOP("Checkpoints", "pinned")
WRECKED = QT_TRANSLATE_NOOP("Checkpoints", "wrecked")
REASONS = frozenset(REASON_TEXTS.values())


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in filters and settings, its title, meaning and text; sample: the widest usual text. sort:
    the catalog's column that it is sorted by, if its name differs. Title and meaning are English, and go through
    `translate` when shown."""

    name: str
    title: str
    meaning: str
    text: Callable[[CheckpointRow], str]
    sample: str
    is_number: bool = True
    sort: str = ""


def format_bytes(size: int) -> str:
    """``1.4 MB``, in powers of 1,000."""
    return QLocale.c().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat).replace("kB", "KB")


def marks(info: CheckpointInfo) -> tuple[str, ...]:
    """The marks of a checkpoint: any of wrecked, best if it is proven to add, in use and pinned."""
    is_best = info.is_best and is_proven_to_add(info)
    held = ((WRECKED, is_wrecked(info)), (BEST, is_best), (IN_USE, info.is_in_use), (PINNED, info.is_pinned))
    return tuple(word for word, holds in held if holds)


def marks_text(info: CheckpointInfo) -> str:
    return ", ".join(translate("Checkpoints", word) for word in marks(info))


def why_saved(info: CheckpointInfo) -> str:
    """The reason in the user's language; one that is new to the window stays as core writes it."""
    reason = reason_text(info.reason)
    return translate("Checkpoints", reason) if reason in REASONS else reason


def verified_text(info: CheckpointInfo) -> str:
    """The time when its file was last found whole, or that it is damaged."""
    if info.verified_at_ms is None:
        return MISSING
    return translate("Checkpoints", "damaged") if info.fault else format_time(info.verified_at_ms)


def symbols_text(kept: CheckpointRow, first: str | None = None, most: int = 3) -> str:
    """``BTC/USDT, ETH/USDT, SOL/USDT and 7 more``. first: the name of the first market."""
    symbols = [first or shown_symbol(kept.venue, kept.symbol)]
    symbols += [shown_symbol(each.venue, each.symbol) for each in kept.others]
    text = ", ".join(symbols[:most])
    more = len(symbols) - most
    return text if more <= 0 else translate("Checkpoints", "{0} and {1} more").format(text, more)


def evaluated_text(kept: CheckpointRow) -> str:
    """The close skill of its newest evaluation on a file."""
    found = kept.evaluation
    if found is None:
        return MISSING
    if found.close_skill is None:
        return translate("Checkpoints", "too few candles")
    return _interval(found.close_skill, found.close_low, found.close_high)


def evaluation_lines(found: Evaluation) -> list[str]:
    how = translate("Checkpoints", "kept learning") if found.learns else translate("Checkpoints", "weights frozen")
    return [
        translate("Checkpoints", "Evaluated {0} on {1} ({2}): {3} of {4} candles scored").format(
            format_time(found.at_ms), found.file, how, format_count(found.judged), format_count(found.candles)
        ),
        translate("Checkpoints", "Close skill {0}, range skill {1}").format(
            _interval(found.close_skill, found.close_low, found.close_high),
            _interval(found.range_skill, found.range_low, found.range_high),
        ),
        translate("Checkpoints", "Coverage {0}, direction {1}").format(
            format_percent(found.coverage, 1), format_percent(found.direction, 1)
        ),
    ]


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return MISSING
    return translate("Checkpoints", "{0} ({1} to {2})").format(
        format_percent(value, 1, signed=True), format_number(100.0 * low, 1), format_number(100.0 * high, 1)
    )


def _flag(name: str, title: str, meaning: str, read: Callable[[CheckpointInfo], bool]) -> Column:
    def yes_or_no(row: CheckpointRow) -> str:
        return translate("Checkpoints", "yes") if read(row.info) else translate("Checkpoints", "no")

    return _text_column(name, title, meaning, yes_or_no, "yes")


def _text_column(name: str, title: str, meaning: str, text: Callable[[CheckpointRow], str], sample: str) -> Column:
    return Column(name, title, meaning, text, sample, is_number=False)


EVALUATION_MEANING = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "Close skill of the newest evaluation, one candle ahead, with its 95 % interval: a live session over a candle file "
    "from this checkpoint. Of a long file the first 1,000 candles do not count: the reference needs as many",
)
COLUMNS = (
    Column("marks", "", "Best or wrecked, in use, pinned", lambda kept: "", "", is_number=False, sort="best"),
    Column("step", "Step", "Training steps when saved", lambda k: format_count(k.info.step), "123,456"),
    Column(
        "candle",
        "Candle",
        "Newest candle learned from",
        lambda k: format_time(k.info.candle_open_time_ms),
        "30 Nov 2026 00:00",
    ),
    Column("saved", "Saved", "When it was saved", lambda k: format_time(k.info.created_at_ms), "30 Nov 2026 00:00"),
    _text_column("reason", "Reason", "Why it was saved", lambda k: why_saved(k.info), "After a restore"),
    Column("adds", "Adds", ADDS_MEANING, lambda k: adds_text(k.info, is_short=True), "+1.0 % (0.5 to 1.4)"),
    Column("evaluated", "Evaluated", EVALUATION_MEANING, evaluated_text, "+1.0 % (−10.5 to 10.4)"),
    _text_column(
        "evaluated_on",
        "Evaluated on",
        "File of its newest evaluation",
        lambda k: MISSING if k.evaluation is None else k.evaluation.file,
        "btcusdt-1m-2026.csv",
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
        "Share of closes inside the 90 % band, over the newest 300 candles; 90 % is ideal",
        lambda k: format_percent(k.info.coverage, 1),
        "100.0 %",
    ),
    Column(
        "direction",
        "Direction",
        "Share of candles whose direction was forecast correctly, over the newest 300; flat ones are excluded",
        lambda k: format_percent(k.info.direction, 1),
        "100.0 %",
    ),
    _text_column(
        "gradients",
        "Gradients",
        "Last diagnosis of the gradients",
        lambda k: k.info.health or MISSING,
        "exploding gradients",
    ),
    Column("size", "Size", "Size on disk", lambda k: format_bytes(k.info.size_bytes), "100.0 MB"),
    _text_column("run", "Run", "Run it belongs to", lambda k: k.info.run_id, "20261130-101530-ab12cd34"),
    _text_column(
        "symbol", "Symbol", "Market of its run, or all that its model had when it was saved", symbols_text, "BTC/USDT"
    ),
    _text_column("interval", "Interval", "Candle interval of its run", lambda k: str(Interval(k.interval_ms)), "15m"),
    _text_column("device", "Device", "Device it was trained on", lambda k: k.info.device or MISSING, "CPU, 16 threads"),
    _text_column(
        "parent",
        "Parent",
        "Checkpoint it continued from",
        lambda k: k.info.parent_id or MISSING,
        "20261130-101530-ab12cd34-00001230-abcdef",
    ),
    _flag("pinned", "Pinned", "Never cleaned up", lambda info: info.is_pinned),
    _flag("best", "Best", BEST_MEANING, lambda info: info.is_best),
    _flag(
        "known_good",
        "Known good",
        "All numbers were finite, no step before it was skipped, the model had not diverged",
        lambda info: not is_wrecked(info),
    ),
    Column(
        "verified",
        "Verified",
        "Last check of its file against its sha256",
        lambda k: verified_text(k.info),
        "30 Nov 2026 00:00",
        is_number=False,
    ),
    _text_column("name", "Name", "Your name for it", lambda k: k.info.name, "Before the halving"),
    _text_column("tags", "Tags", "Your tags, to find it by", lambda k: ", ".join(k.info.tags), "one, two"),
    _text_column("note", "Note", "Your note", lambda k: k.info.note, "Some words"),
)
BY_NAME = {column.name: column for column in COLUMNS}
PLACE = {column.name: place for place, column in enumerate(COLUMNS)}
MOST_FIRST = frozenset(
    {
        *("marks", "step", "candle", "saved", "adds", "coverage", "direction"),
        "size",
        *("pinned", "best", "known_good", "verified"),
    }
)
"""Columns whose first click brings the largest, newest or best to the top; the others begin with the least."""
FIRST_COLUMNS = (
    "marks",
    "step",
    "name",
    "tags",
    "candle",
    "saved",
    "reason",
    "adds",
    "evaluated",
    "loss",
    "coverage",
    "direction",
    "size",
    "note",
)
"""Default columns, in order. The user's names are beside their step: further right, scrolling to them would hide it."""
ALL_RUNS_COLUMNS = ("symbol", "run")
"""Shown by themselves beside the checkpoints of other runs, after those that identify a row."""
LEADING = frozenset({"marks", "step", "name"})
"""Columns that identify a row."""
WHERE_FILLED = frozenset({"name", "evaluated", "tags"})
"""Default columns that are shown only if some checkpoint has a value in them."""
LEAST_FIRST = ("size", "coverage", "direction", "loss", "reason", "saved", "evaluated", "candle", "run", "adds")
"""Default columns that are hidden first without room, and shown again with it."""
SHRINKING = ("run", "name", "tags", "symbol")
"""Columns of words that are narrowed, in this order, before the last of these is hidden: the note stays in view."""


def tooltip(kept: CheckpointRow) -> str:
    """A row's values in all columns, in a few lines."""
    info = kept.info
    step, held = translate("Checkpoints", "Step {0}").format(format_count(info.step)), marks_text(info)
    lines = [
        (f"{info.name}: " if info.name else "") + step + (f" ({held})" if held else ""),
        *_merit_lines(info),
        translate("Checkpoints", "{0}, {1}, run {2}").format(
            symbols_text(kept, most=20), Interval(kept.interval_ms), info.run_id
        ),
        translate("Checkpoints", "Saved {0} ({1}), {2}").format(
            format_time(info.created_at_ms), why_saved(info).lower(), format_bytes(info.size_bytes)
        ),
        *_measured_lines(info),
        translate("Checkpoints", "File: {0}").format(info.file),
        translate("Checkpoints", "SHA-256: {0}…, verified: {1}").format(info.sha256[:16], verified_text(info)),
    ]
    if info.fault:
        lines.append(info.fault)
    if kept.evaluation is not None:
        lines += evaluation_lines(kept.evaluation)
    if info.tags:
        lines.append(translate("Checkpoints", "Tags: {0}").format(", ".join(info.tags)))
    if info.note:
        lines.append(translate("Checkpoints", "Note: {0}").format(info.note))
    return "\n".join(map(plain, lines))


def _merit_lines(info: CheckpointInfo) -> list[str]:
    """An explanation of the mark of best or wrecked; empty without either."""
    if not is_wrecked(info):
        return [translate("Checkpoints", BEST_MEANING)] if BEST in marks(info) else []
    why = why_wrecked(info)
    below = translate("Checkpoints", "It is always sorted below all others by what it adds, and is never the best.")
    return [f"{why} {below}"]


def why_wrecked(info: CheckpointInfo) -> str:
    """The fault of a wrecked checkpoint, in a sentence."""
    if info.health == Disease.DIVERGED:
        return translate("Checkpoints", "The model had diverged when it was saved.")
    return translate("Checkpoints", "It was saved while training was skipping steps.")


def _measured_lines(info: CheckpointInfo) -> list[str]:
    return [
        adds_sentence(info),
        translate("Checkpoints", "Loss {0}").format(format_number(info.loss, 4)),
        translate("Checkpoints", "Coverage {0}, direction {1}, over at most 300 candles").format(
            format_percent(info.coverage, 1), format_percent(info.direction, 1)
        ),
        translate("Checkpoints", "Gradients: {0}; device: {1}").format(info.health or MISSING, info.device or MISSING),
    ]
