"""Stored checkpoints as columns, so that 100,000 of them are filtered and sorted between two frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.best import is_worse_than_none, is_wrecked
from core.checkpoints.columns import Column, Kind, reason_text
from core.checkpoints.evaluation import Evaluation
from core.checkpoints.expression import Compare, Every, Expression, Not, Operator, Period, Some, Words
from core.checkpoints.provenance import is_imported
from core.domain.candle import Interval, Market
from core.domain.checkpoint_info import CheckpointInfo

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One stored checkpoint, and the market of its run: of several markets the first. `sequence` counts saves in this
    data folder."""

    info: CheckpointInfo
    venue: str
    symbol: str
    interval_ms: int
    sequence: int
    is_archived: bool = False
    """Its run is archived."""
    evaluation: Evaluation | None = None
    """The newest evaluation over a candle file."""
    others: tuple[Market, ...] = ()
    """The further markets that its model had when it was saved; not known of imported ones."""


_NUMBERS: dict[str, Callable[[CheckpointRow], float | None]] = {
    "step": lambda kept: kept.info.step,
    "candle": lambda kept: kept.info.candle_open_time_ms,
    "when": lambda kept: kept.info.created_at_ms,
    "skill": lambda kept: kept.info.skill,
    "skill_low": lambda kept: kept.info.skill_low,
    "skill_high": lambda kept: kept.info.skill_high,
    "shown_skill": lambda kept: kept.info.shown_skill,
    "model_gain": lambda kept: kept.info.model_gain,
    "scored": lambda kept: kept.info.scored,
    "loss": lambda kept: kept.info.loss,
    "coverage": lambda kept: kept.info.coverage,
    "direction": lambda kept: kept.info.direction,
    "size": lambda kept: kept.info.size_bytes,
    "pinned": lambda kept: kept.info.is_pinned,
    "known_good": lambda kept: not is_wrecked(kept.info),
    "verified": lambda kept: kept.info.verified_at_ms is not None and not kept.info.fault,
    "verified_at": lambda kept: None if kept.info.fault else kept.info.verified_at_ms,
    "damaged": lambda kept: bool(kept.info.fault),
    "archived": lambda kept: kept.is_archived,
    "evaluated": lambda kept: None if kept.evaluation is None else kept.evaluation.close_skill,
    "evaluated_at": lambda kept: None if kept.evaluation is None else kept.evaluation.at_ms,
    "evaluated_low": lambda kept: None if kept.evaluation is None else kept.evaluation.close_low,
    "evaluated_high": lambda kept: None if kept.evaluation is None else kept.evaluation.close_high,
    "wrecked": lambda kept: is_wrecked(kept.info),
    "worse": lambda kept: is_worse_than_none(kept.info),
    "sequence": lambda kept: kept.sequence,
    "interval_ms": lambda kept: kept.interval_ms,
}
_TEXTS: dict[str, Callable[[CheckpointRow], str]] = {
    "reason": lambda kept: kept.info.reason,
    "health": lambda kept: kept.info.health or "",
    "run": lambda kept: kept.info.run_id,
    "venue": lambda kept: kept.venue,
    "symbol": lambda kept: "\n".join(dict.fromkeys((kept.symbol, *(each.symbol for each in kept.others)))),
    "interval": lambda kept: str(Interval(kept.interval_ms)),
    "device": lambda kept: kept.info.device or "",
    "parent": lambda kept: kept.info.parent_id or "",
    "id": lambda kept: kept.info.checkpoint_id,
    "evaluated_on": lambda kept: "" if kept.evaluation is None else kept.evaluation.file,
    "name": lambda kept: kept.info.name,
    "note": lambda kept: kept.info.note,
    "tags": lambda kept: " ".join(kept.info.tags),
    "reason_words": lambda kept: reason_text(kept.info.reason),
    "digits": lambda kept: str(kept.info.step),
}
_SEARCHED = ("reason", "reason_words", "health", "run", "symbol", "device", "name", "note", "tags")
_MERITS = frozenset(
    {
        *("skill", "skill_low", "skill_high", "shown_skill", "model_gain", "loss", "coverage", "direction"),
        *("evaluated", "evaluated_low", "evaluated_high"),
    }
)
"""Columns that measure a checkpoint's quality."""
_MARKS = {"best": "best", "in use": "in_use", "pinned": "pinned"}


class Texts:
    """One column of texts. Each distinct text is stored and tested once."""

    def __init__(self) -> None:
        self.codes: Rows = np.zeros(0, dtype=np.int64)
        self.distinct: list[str] = []
        """Case-folded, for comparison."""
        self._known: dict[str, int] = {}
        self._ranks: Rows | None = None

    def put(self, row: int, text: str) -> None:
        self.codes[row] = self._code(text)

    def extend(self, texts: Iterable[str]) -> None:
        """Add rows after the last."""
        self.codes = np.append(self.codes, np.array([self._code(text) for text in texts], dtype=np.int64))

    def _code(self, text: str) -> int:
        code = self._known.setdefault(text, len(self._known))
        if code == len(self.distinct):
            self.distinct.append(text.casefold())
            self._ranks = None
        return code

    def keep(self, rows: Mask) -> None:
        """Keep only these rows."""
        self.codes = self.codes[rows]

    def has_any(self) -> bool:
        return bool(self.where(bool).any())

    def where(self, predicate: Callable[[str], bool]) -> Mask:
        """The rows whose text fulfils the predicate."""
        answers = np.array([predicate(text) for text in self.distinct], dtype=np.bool_)
        return answers[self.codes] if len(self.codes) else np.zeros(0, dtype=np.bool_)

    def ranks(self) -> NDArray[np.float64]:
        """Sort keys; NaN for an empty text, which is unknown."""
        if self._ranks is None:
            order = sorted(range(len(self.distinct)), key=self.distinct.__getitem__)
            self._ranks = np.empty(len(order), dtype=np.int64)
            self._ranks[order] = np.arange(len(order))
        ranks = self._ranks[self.codes].astype(np.float64)
        ranks[self.where(lambda text: not text)] = np.nan
        return ranks


class Catalog:
    """Checkpoints by row number; their columns grow with them.

    What is not known is NaN or an empty text: it answers no comparison, and is last in either order.
    """

    def __init__(self) -> None:
        self._kept: list[CheckpointRow] = []
        self._row_of: dict[str, int] = {}
        self._in_use: str | None = None
        self.version = 0
        """Incremented by every change."""
        self.layout = 0
        """Incremented whenever row numbers change their meaning."""
        self._numbers: dict[str, NDArray[np.float64]]
        self._texts: dict[str, Texts]
        self._forget()

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, row: int) -> CheckpointRow:
        return self._kept[row]

    def take(self, rows: Rows) -> list[CheckpointRow]:
        kept = self._kept
        return [kept[row] for row in rows.tolist()]

    def row_of(self, checkpoint_id: str) -> int | None:
        """The current row of a checkpoint; None if it is not stored."""
        return self._row_of.get(checkpoint_id)

    def info(self, row: int) -> CheckpointInfo:
        """One checkpoint, including whether it is the best of its run, and whether it is in use."""
        info = self._kept[row].info
        is_in_use = info.checkpoint_id == self._in_use
        return replace(info, is_best=bool(self.number("best")[row]), is_in_use=is_in_use)

    def clear(self) -> None:
        self._kept.clear()
        self._row_of.clear()
        self.layout += 1
        self._forget()
        self._changed()

    def put(self, kept: Iterable[CheckpointRow]) -> None:
        """Add these; rows with the same id are replaced."""
        added: dict[str, CheckpointRow] = {}
        for each in kept:
            row = self._row_of.get(each.info.checkpoint_id)
            if row is None:
                added[each.info.checkpoint_id] = each
            else:
                self._replace(row, each)
        self._row_of.update((id_, len(self._kept) + place) for place, id_ in enumerate(added))
        self._kept.extend(added.values())
        for name, read in _NUMBERS.items():
            self._numbers[name] = np.append(self._numbers[name], _column(added.values(), read))
        for name, read_text in _TEXTS.items():
            self._texts[name].extend(map(read_text, added.values()))
        self._changed()

    def remove(self, ids: Iterable[str]) -> None:
        """Remove these; unknown ids are ignored."""
        gone = [self._row_of[id_] for id_ in set(ids) if id_ in self._row_of]
        if not gone:
            return
        stays = np.ones(len(self), dtype=np.bool_)
        stays[gone] = False
        self._kept = [each for each, is_kept in zip(self._kept, stays.tolist(), strict=True) if is_kept]
        self._row_of = {each.info.checkpoint_id: row for row, each in enumerate(self._kept)}
        for texts in self._texts.values():
            texts.keep(stays)
        self.layout += 1
        self._numbers = {name: values[stays] for name, values in self._numbers.items()}
        self._changed()

    def use(self, checkpoint_id: str | None) -> None:
        """Set the checkpoint that the model is using."""
        if checkpoint_id != self._in_use:
            self._in_use = checkpoint_id
            self._numbers.pop("in_use", None)
            self.version += 1

    def number(self, name: str) -> NDArray[np.float64]:
        """A column of numbers, times or flags: float64 [n]."""
        if name not in self._numbers:  # columns computed from all rows
            self._numbers[name] = self._best() if name == "best" else self._used()
        return self._numbers[name]

    def text(self, name: str) -> Texts:
        return self._texts[name]

    def ordered(self, rows: Rows, name: str, is_descending: bool) -> Rows:
        """These rows sorted by a column. Of equals the newest first; unknown values last in either order. In a column
        of quality, checkpoints of a diverged model come after those, so that an old score does not rank them first."""
        if name == "interval":
            values = self.number("interval_ms")[rows]
        else:
            values = self.text(name).ranks()[rows] if name in _TEXTS else self.number(name)[rows]
        newest_first = np.argsort(-self.number("sequence")[rows], kind="stable")
        values = (-values if is_descending else values)[newest_first]
        order = rows[newest_first[np.argsort(values, kind="stable")]]
        return order[np.argsort(self.number("wrecked")[order], kind="stable")] if name in _MERITS else order

    def best_of(self, run_id: str) -> CheckpointInfo | None:
        """The checkpoint of a run with the highest finite skill, of those that are sound and better than no model; the
        newest of equals; None if there is none."""
        of_run = self.text("run").where(lambda run: run == run_id.casefold())
        found = np.flatnonzero(of_run & (self.number("best") > 0.0))
        return self.info(int(found[0])) if len(found) else None

    def highest_of(self, run_id: str) -> CheckpointInfo | None:
        """The checkpoint of a run with the highest finite skill, sound or not; the newest of equals. None: no
        scores."""
        scored = self._scored_of(run_id)
        if not len(scored):
            return None
        return self.info(int(scored[np.lexsort((self.number("sequence")[scored], self.number("skill")[scored]))[-1]]))

    def score_count_of(self, run_id: str) -> int:
        """How many checkpoints of a run have a score."""
        return len(self._scored_of(run_id))

    def _scored_of(self, run_id: str) -> Rows:
        of_run = self.text("run").where(lambda run: run == run_id.casefold())
        return np.flatnonzero(of_run & ~np.isnan(self.number("skill")))

    def rows(self, expression: Expression | None, now_ms: int) -> Rows:
        """The rows that match the filter, ascending."""
        if expression is None:
            return np.arange(len(self), dtype=np.int64)
        return np.flatnonzero(self.matches(expression, now_ms))

    def matches(self, expression: Expression, now_ms: int) -> Mask:
        """Which rows match the filter: bool [n]."""
        match expression:
            case Every(parts):
                return _all(self.matches(part, now_ms) for part in parts)
            case Some(parts):
                return ~_all(~self.matches(part, now_ms) for part in parts)
            case Not(part):
                return ~self.matches(part, now_ms)
            case Words(words):
                return _all(self._holds(phrase) for phrase in _phrases(words))
            case Compare(column, operator, value):
                return self._compared(column, operator, value, now_ms)

    def _compared(self, column: Column, operator: Operator, value: object, now_ms: int) -> Mask:
        if column.is_text:
            return self._asked(column, operator, value)
        is_age = column.kind is Kind.AGE
        values = np.maximum(now_ms - self.number("when"), 0.0) if is_age else self.number(column.name)
        if value is None:
            unknown = np.isnan(values)
            return unknown if operator is Operator.EQUAL else ~unknown
        if isinstance(value, Period):
            return _in_span(values, operator, value)
        assert isinstance(value, float | bool)
        return _COMPARISONS[operator](values, float(value))

    def _asked(self, column: Column, operator: Operator, value: object) -> Mask:
        texts = self.text(column.name)
        if value is None:
            return texts.where(lambda text: not text if operator is Operator.EQUAL else bool(text))
        sought = str(value)
        if operator is Operator.CONTAINS:
            return texts.where(lambda text: sought in text)

        def is_it(text: str) -> bool:
            return sought in column.parts(text)

        if operator is Operator.EQUAL:
            return texts.where(is_it)
        return texts.where(lambda text: bool(text) and not is_it(text))

    def _holds(self, phrase: str) -> Mask:
        """The rows that contain a typed word anywhere."""
        found = np.zeros(len(self), dtype=np.bool_)
        for name in _SEARCHED:
            found |= self.text(name).where(lambda text: phrase in text)
        for words, flag in _MARKS.items():
            if phrase == words:
                found |= self.number(flag) > 0.0
        digits = phrase.replace(",", "")
        if digits.isdigit():
            found |= self.text("digits").where(lambda step: digits in step)
        return found

    def _used(self) -> NDArray[np.float64]:
        flags = np.zeros(len(self))
        row = None if self._in_use is None else self._row_of.get(self._in_use)
        if row is not None:
            flags[row] = 1.0
        return flags

    def _best(self) -> NDArray[np.float64]:
        """1 for the best of each run that was trained here: `core.checkpoints.best.best_of` for columns."""
        flags = np.zeros(len(self))
        is_sound = (self.number("wrecked") == 0.0) & (self.number("worse") == 0.0)
        may_be = is_sound & ~self.text("run").where(is_imported)
        skills = np.where(may_be, self.number("skill"), np.nan)
        known = np.flatnonzero(~np.isnan(skills))
        runs = self.text("run").codes[known]
        order = known[np.lexsort((self.number("sequence")[known], skills[known], runs))]
        codes = self.text("run").codes[order]
        is_last = np.append(codes[1:] != codes[:-1], True) if len(order) else np.zeros(0, dtype=np.bool_)
        flags[order[is_last]] = 1.0
        return flags

    def _replace(self, row: int, kept: CheckpointRow) -> None:
        self._kept[row] = kept
        for name, read in _NUMBERS.items():
            self._numbers[name][row] = _column([kept], read)[0]
        for name, read_text in _TEXTS.items():
            self._texts[name].put(row, read_text(kept))

    def _forget(self) -> None:
        self._numbers = {name: np.zeros(0) for name in _NUMBERS}
        self._texts = {name: Texts() for name in _TEXTS}

    def _changed(self) -> None:
        self._numbers.pop("best", None)
        self._numbers.pop("in_use", None)
        self.version += 1


def _column(kept: Iterable[CheckpointRow], read: Callable[[CheckpointRow], float | None]) -> NDArray[np.float64]:
    """None and numbers that are not finite become NaN, so that they are never the best."""
    values = np.array([read(each) for each in kept], dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


_COMPARISONS: dict[Operator, Callable[[NDArray[np.float64], float], Mask]] = {
    Operator.EQUAL: lambda values, value: values == value,
    Operator.UNEQUAL: lambda values, value: (values != value) & ~np.isnan(values),
    Operator.LESS: lambda values, value: values < value,
    Operator.LESS_OR_EQUAL: lambda values, value: values <= value,
    Operator.GREATER: lambda values, value: values > value,
    Operator.GREATER_OR_EQUAL: lambda values, value: values >= value,
}


def _all(masks: Iterable[Mask]) -> Mask:
    found: Mask = np.logical_and.reduce(list(masks))
    return found


def _in_span(times: NDArray[np.float64], operator: Operator, span: Period) -> Mask:
    within = (times >= span.first_ms) & (times < span.stop_ms)
    match operator:
        case Operator.EQUAL:
            return within
        case Operator.UNEQUAL:
            return ~within & ~np.isnan(times)
        case Operator.LESS:
            return times < span.first_ms
        case Operator.LESS_OR_EQUAL:
            return times < span.stop_ms
        case Operator.GREATER:
            return times >= span.stop_ms
        case _:
            return times >= span.first_ms


def _phrases(words: Sequence[str]) -> list[str]:
    """Join ``in use`` to one search phrase."""
    text = " ".join(words)
    phrases = []
    if "in use" in text:
        phrases.append("in use")
        text = text.replace("in use", " ")
    return [*phrases, *text.split()]
