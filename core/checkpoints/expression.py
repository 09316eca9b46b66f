"""The filter language: ``skill > 0.01 and step > 500``. Typed text is only parsed, never executed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from core.checkpoints.columns import BY_NAME, COLUMNS, Column, Kind
from core.domain.dates import calendar_moment

LONGEST = 2_000
_DEEPEST = 40
_JOINING = ("and", "or", "not")
UNKNOWN_WORD = "unknown"
_TOKENS = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<string>"[^"]*"|'[^']*')
    | (?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?)
    | (?P<bare>\d\w*(?:-\w+)+)
    | (?P<number>[+\-−]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:e[+\-]?\d+)?)
      (?P<unit>\s*%|\s*(?:KB|MB|GB|min|days|day|h|d)\b)?
    | (?P<operator><=|>=|!=|<>|==|≤|≥|≠|=|<|>)
    | (?P<parenthesis>[()])
    | (?P<word>[^\W\d][\w./:@+\-]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BARE_VALUE = re.compile(r"[\w./:@+\-]+")
_SAME = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!="}
_BYTES = {"": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}
_MINUTE_MS = 60_000
_AGES = {"": 86_400_000.0, "d": 86_400_000.0, "day": 86_400_000.0, "days": 86_400_000.0, "h": 3_600_000.0, "min": 6e4}
_NAMED_TIMES = ("today", "yesterday", "this week", "last week", "this month", "last month")
_FIRST_YEAR, _LAST_YEAR = 1971, 9998
"""Every day needs a next day, in every zone; not every system supports times before 1970."""
_YES = {"yes": True, "true": True, "no": False, "false": False}


class FilterError(ValueError):
    """The filter has an error. The message is a sentence; `start` and `end` locate it in the text."""

    def __init__(self, sentence: str, start: int, end: int) -> None:
        super().__init__(sentence)
        self.start, self.end = start, max(end, start + 1)


class Operator(StrEnum):
    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `first_ms` up to, but not including, `stop_ms`: a typed day or minute."""

    first_ms: int
    stop_ms: int


@dataclass(frozen=True, slots=True)
class Compare:
    """`value`: a text in case-folded form, a number in the column's units, a period of time, a flag; None: unknown."""

    column: Column
    operator: Operator
    value: str | float | Period | bool | None


@dataclass(frozen=True, slots=True)
class Not:
    part: Expression


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Case-folded words, each of which must occur in some column of a checkpoint."""

    words: tuple[str, ...]


Expression = Compare | Not | Every | Some | Words


def names_in(expression: Expression | None) -> set[str]:
    """The columns that a filter uses."""
    match expression:
        case Compare(column):
            return {column.name}
        case Not(part):
            return names_in(part)
        case Every(parts) | Some(parts):
            return set().union(*(names_in(part) for part in parts))
        case _:
            return set()


@dataclass(frozen=True, slots=True)
class Moment:
    """The reference for "today": the current time, and the zone of typed dates (None: the machine's)."""

    now_ms: int
    zone: tzinfo | None = None


def parse(text: str, moment: Moment) -> Expression | None:
    """Parse a filter; None for an empty text. Plain words without an operator are a search; ``last week`` and the like
    also match the time of saving. Raises FilterError."""
    if len(text) > LONGEST:
        raise FilterError(f"The filter is longer than {LONGEST:,} characters; make it shorter.", LONGEST, len(text))
    tokens = _read(text)
    if not tokens:
        return None
    only = BY_NAME.get(tokens[0].word) if len(tokens) == 1 else None
    if only is not None and only.kind is Kind.FLAG:
        return Compare(only, Operator.EQUAL, True)
    if tokens is _PLAIN or not any(_is_structure(token) for token in tokens):
        words = Words(tuple(text.casefold().split()))
        named = _named_span(" ".join(words.words), moment)
        return words if named is None else Some((words, Compare(BY_NAME["when"], Operator.EQUAL, named)))
    return _Parser(text, tokens, moment).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    unit: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        return self.text.casefold() if self.kind == "word" else ""


_PLAIN: list[_Token] = [_Token("plain", "", 0)]
"""Raised for a text with unknown characters and no operator: it is a search for words."""


def _read(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, strange = 0, -1
    while at < len(text):
        found = _TOKENS.match(text, at)
        if found is None:
            strange = at if strange < 0 else strange
            at += 1
            continue
        kind = next(name for name in _KINDS if found.group(name) is not None)
        if kind != "space":
            tokens.append(_Token(kind, found.group(0), at, (found.group("unit") or "").strip()))
        at = found.end()
    if strange < 0:
        return tokens
    if not any(_is_structure(token) for token in tokens):
        return _PLAIN
    sign = text[strange]
    if sign in "\"'":
        raise FilterError(f"The text that begins with {sign} is not closed; add another {sign}.", strange, len(text))
    raise FilterError(f"“{sign}” has no meaning here; put texts in quotation marks.", strange, strange + 1)


_KINDS = ("space", "string", "date", "bare", "number", "operator", "parenthesis", "word")


def _is_structure(token: _Token) -> bool:
    return token.kind in ("operator", "parenthesis") or token.word in (*_JOINING, "contains")


class _Parser:
    """Reads one filter from left to right: or, and, not, then a comparison, a flag or a parenthesis."""

    def __init__(self, text: str, tokens: Sequence[_Token], moment: Moment) -> None:
        self._text, self._tokens, self._moment = text, tokens, moment
        self._at = 0
        self._depth = 0

    def whole(self) -> Expression:
        tree = self._some()
        token = self._now
        if token is not None:
            if token.text == ")":
                raise self._error("There is a “)” without its “(”.", token)
            raise self._error(f"Before “{token.text}” an “and” or an “or” is missing.", token)
        return tree

    @property
    def _now(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *words: str) -> bool:
        token = self._now
        if token is None or (token.word or token.text) not in words:
            return False
        self._at += 1
        return True

    def _some(self) -> Expression:
        parts = [self._every()]
        while self._take("or"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _every(self) -> Expression:
        parts = [self._negated()]
        while self._take("and"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _negated(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error("Too many nested parentheses or “not”; simplify the filter.", self._now)
        try:
            return Not(self._negated()) if self._take("not") else self._single()
        finally:
            self._depth -= 1

    def _single(self) -> Expression:
        opening = self._now
        if self._take("("):
            inner = self._some()
            if not self._take(")"):
                raise self._error("This “(” is not closed; add a “)”.", opening)
            return inner
        return self._comparison()

    def _comparison(self) -> Expression:
        token = self._now
        if token is None or token.kind != "word" or token.word in (*_JOINING, "contains"):
            raise self._error("The name of a column is missing here, such as skill or step.", token)
        column = BY_NAME.get(token.word)
        if column is None:
            raise self._error(f"There is no column “{token.text}”{_nearest(token.word)}.", token)
        self._at += 1
        typed = replace(column, name=token.text)  # some have a second name, which the messages repeat
        operator = self._operator(typed)
        if operator is None:
            if column.kind is Kind.FLAG:
                return Compare(column, Operator.EQUAL, True)
            raise self._error(f"After “{token.text}” a comparison is missing, such as {_example(typed)}.", self._now)
        return Compare(column, operator, self._value(typed, operator))

    def _operator(self, column: Column) -> Operator | None:
        token = self._now
        if token is None or (token.kind != "operator" and token.word != "contains"):
            return None
        self._at += 1
        operator = Operator(token.word or _SAME.get(token.text, token.text))
        if column.kind is Kind.FLAG or column.is_text:
            if operator not in (Operator.EQUAL, Operator.UNEQUAL) and not (
                column.is_text and operator is Operator.CONTAINS
            ):
                ways = "it is yes or no" if column.kind is Kind.FLAG else "use =, != or contains"
                raise self._error(f"“{column.name}” cannot be compared by “{token.text}”: {ways}.", token)
        elif operator is Operator.CONTAINS:
            raise self._error(f"“{column.name}” is not a text; compare it, such as {_example(column)}.", token)
        return operator

    def _value(self, column: Column, operator: Operator) -> str | float | Period | bool | None:
        token = self._now
        if token is None or token.kind in ("operator", "parenthesis") or token.word in _JOINING:
            raise self._error(f"A value is missing here, such as {_example(column)}.", token)
        self._at += 1
        if token.word == UNKNOWN_WORD and operator in (Operator.EQUAL, Operator.UNEQUAL):
            return None
        if column.is_text:
            return self._written(token).casefold()
        if column.kind is Kind.FLAG:
            if token.word not in _YES:
                raise self._error(f"“{column.name}” is yes or no.", token)
            return _YES[token.word]
        if column.kind is Kind.TIME:
            return self._span(token)
        return self._number(column, token)

    def _written(self, token: _Token) -> str:
        """The text as typed, since ``15m`` and ``20261121-1`` begin like numbers."""
        if token.kind == "string":
            return token.text[1:-1]
        whole = _BARE_VALUE.match(self._text, token.start)
        end = token.end if whole is None else max(token.end, whole.end())
        while self._now is not None and self._now.start < end:
            self._at += 1
        return self._text[token.start : end].strip()

    def _number(self, column: Column, token: _Token) -> float:
        if token.kind != "number":
            raise self._error(f"“{column.name}” is compared with a number, such as {_example(column)}.", token)
        number = float(token.text[: len(token.text) - len(token.unit)].strip().replace(",", "").replace("−", "-"))
        factors = {Kind.SHARE: {"": 1.0, "%": 0.01}, Kind.BYTES: _BYTES, Kind.AGE: _AGES}.get(column.kind, {"": 1.0})
        unit = token.unit.casefold()
        if unit not in factors:
            raise self._error(f"“{column.name}” is not measured in {token.unit}; write {_example(column)}.", token)
        return number * factors[unit]

    def _span(self, token: _Token) -> Period:
        zone = self._moment.zone
        typed = token.text.strip("\"'")
        if token.word in ("this", "last") and self._now is not None and self._now.word in ("week", "month"):
            typed = f"{token.word} {self._now.word}"
            self._at += 1
        named = _named_span(typed.casefold(), self._moment)
        if named is not None:
            return named
        try:
            moment = datetime.fromisoformat(typed)
        except ValueError:
            ways = "2026-11-21, “2026-11-21 14:30”, today, yesterday or last week"
            raise self._error(f"Write a time as {ways}.", token) from None
        if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            raise self._error(f"Years run from {_FIRST_YEAR} to {_LAST_YEAR} here.", token)
        return _span(moment.replace(tzinfo=None), zone, is_day=len(typed) == len("2026-11-21"))

    def _error(self, sentence: str, token: _Token | None) -> FilterError:
        if token is None:
            return FilterError(sentence, len(self._text), len(self._text))
        return FilterError(sentence, token.start, token.end)


def _named_span(name: str, moment: Moment) -> Period | None:
    """The period of ``last week`` and the like; a week begins on Monday. None for other names."""
    if name not in _NAMED_TIMES:
        return None
    now = calendar_moment(moment.now_ms).astimezone(moment.zone)
    today = datetime(now.year, now.month, now.day)  # noqa: DTZ001 - placed in its zone below
    monday, first = today - timedelta(days=today.weekday()), today.replace(day=1)
    match name:
        case "today" | "yesterday":
            return _span(today - timedelta(days=name == "yesterday"), moment.zone, is_day=True)
        case "this week" | "last week":
            begin = monday - timedelta(days=7 * (name == "last week"))
            return _between(begin, begin + timedelta(days=7), moment.zone)
        case "last month":
            return _between((first - timedelta(days=1)).replace(day=1), first, moment.zone)
    return _between(first, (first + timedelta(days=31)).replace(day=1), moment.zone)


def _span(start: datetime, zone: tzinfo | None, *, is_day: bool) -> Period:
    """A period from a naive time; a day ends where the next begins, which is not always 24 hours later."""
    return _between(start, start + (timedelta(days=1) if is_day else timedelta(minutes=1)), zone)


def _between(start: datetime, stop: datetime, zone: tzinfo | None) -> Period:
    """The period between two naive times."""

    def milliseconds(moment: datetime) -> int:
        placed = moment.astimezone() if zone is None else moment.replace(tzinfo=zone)
        return round(placed.timestamp() * 1000)

    return Period(milliseconds(start), milliseconds(stop))


def _nearest(word: str) -> str:
    close = difflib.get_close_matches(word, BY_NAME, n=1)
    return f"; did you mean “{close[0]}”?" if close else f". There are: {', '.join(each.name for each in COLUMNS)}"


def _example(column: Column) -> str:
    values = {
        Kind.NUMBER: "> 500",
        Kind.SHARE: "> 1 %",
        Kind.BYTES: "< 5 MB",
        Kind.TIME: ">= 2026-11-21",
        Kind.AGE: "< 7 d",
        Kind.TEXT: "contains word",
        Kind.TAGS: "= word",
        Kind.LINES: "contains word",
        Kind.FLAG: "= yes",
    }
    return f"“{column.name} {values[column.kind]}”"


@dataclass(frozen=True, slots=True)
class Completion:
    """The suggestions for the text from `start` to the cursor."""

    start: int
    words: tuple[str, ...]


def complete(text: str, cursor: int) -> Completion:
    """Column names, operators or conjunctions that may follow at the cursor."""
    before = text[:cursor]
    fragment = re.search(r"[^\W\d]\w*$", before)
    start = cursor if fragment is None else fragment.start()
    typed = before[start:].casefold()
    try:
        tokens = _read(before[:start])
    except FilterError:
        return Completion(start, ())
    following = _following([] if tokens is _PLAIN else tokens)
    return Completion(start, tuple(word for word in following if word.startswith(typed) and word != typed))


def _following(tokens: Sequence[_Token]) -> Sequence[str]:
    names = [column.name for column in COLUMNS]
    last = tokens[-1] if tokens else None
    if last is None or last.text == "(" or last.word in _JOINING:
        return [*names, "not"]
    column = BY_NAME.get(last.word)
    if column is not None:
        return ["contains"] if column.is_text else ["and", "or"] if column.kind is Kind.FLAG else []
    if last.kind == "operator" or last.word == "contains":
        compared = BY_NAME.get(tokens[-2].word) if len(tokens) > 1 else None
        values = {Kind.TIME: _NAMED_TIMES, Kind.FLAG: tuple(_YES)[::2]}
        return () if compared is None else values.get(compared.kind, ())
    return ["and", "or"]
