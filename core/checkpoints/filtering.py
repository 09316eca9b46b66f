"""The filter of a table, such as the checkpoint browser's: plain words to search for, or a condition in SQLite's words.

A condition is prepared under an authorizer that lets it read the one table that it is about, and nothing else.
"""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.checkpoints.columns import AGE, FLAGS, NAMES, TABLE

LONGEST = 2_000
"""Characters of a filter."""
MOST_INSTRUCTIONS = 10_000_000
"""SQLite instructions, about half a second. A comparison of 10,000 checkpoints needs a fiftieth of them."""
_FUNCTIONS = frozenset(
    {
        *("like", "glob", "instr", "length", "lower", "upper", "substr", "trim", "abs", "round", "min", "max"),
        *("coalesce", "ifnull", "nullif", "count", "avg", "date", "time", "datetime", "julianday", "strftime"),
    }
)
_QUOTED = r"'[^']*'|\"[^\"]*\""
_CONDITION = re.compile(r"[<>=!()]|\b(and|or|not|like|glob|between|isnull|notnull|is\s+(not\s+)?null)\b", re.IGNORECASE)
_AS_SHOWN = re.compile(rf"({_QUOTED})|(\b\d{{4}}-\d\d-\d\d(?: \d\d:\d\d)?\b)|(−)|(?<=\d)\s*%")
_TAG = re.compile(rf"({_QUOTED})|(?<![^\s(])tags?:([^\s()]+)", re.IGNORECASE)
_LIST = r"\b(?!(?:and|or|not)\b)[a-z_]+\s*\([^()]*\)"
_COMMA = re.compile(rf"({_QUOTED}|{_LIST})|(?<![\w.,])(\d+(?:,\d+)+)(?![\w.])", re.IGNORECASE)
"""A number with commas, outside of texts and lists."""
_MAY_BE_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")
_NO_COLUMN = re.compile(r"no such column: (.+)")
_NEAR = re.compile(r"near \"(.+?)\"|unrecognized token: \"(.+)\"")
_IS_TAGGED = "instr(coalesce(tagged, ''), :{}) > 0"
_ONLY_RANKS = re.compile(r"\bscored?\b", re.IGNORECASE)
_NAMED_WORD = re.compile(r"([^\W\d]\w*):.*")
_LISTED = tuple(name for name in NAMES if name not in ("score", "scored") and not name.endswith(("_low", "_high")))
_INCOMPLETE = "The filter is not complete: a value or a parenthesis is missing."
_SELECT = """
SELECT id FROM {} WHERE (
{}
)"""


@dataclass(frozen=True, slots=True)
class Subject:
    """The table that filters are about. It has the columns `id` and `searched`, the text that plain words are searched
    in; if tags are searched, `tagged` too."""

    table: str
    schema: str
    """The statements that create it."""
    names: tuple[str, ...]
    """The columns that may be compared, in the order of the suggestions."""
    flags: frozenset[str]
    """Those that are true or false, and a condition alone."""
    example: str
    """A valid condition, for messages."""
    listed: tuple[str, ...] = ()
    """The columns that a message lists; empty: all."""
    rows: str = ""
    """What to select from, if not the table as it is: a query with `:now_ms`, under the table's name."""


CHECKPOINTS = Subject(
    "checkpoints",
    TABLE,
    NAMES,
    FLAGS,
    "size > 5 and symbol = 'ETH/USDT'",
    _LISTED,
    f"(SELECT *, max(:now_ms - saved_ms, 0) / 86400000.0 AS {AGE} FROM checkpoints) AS checkpoints",
)


class FilterError(ValueError):
    """The filter cannot be used. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the columns, with its parameters."""

    condition: str
    parameters: Mapping[str, str]

    def names(self, column: str) -> bool:
        return re.search(rf"\b{column}\b", self.condition, re.IGNORECASE) is not None


def parse(text: str, *, has_decimal_comma: bool = False, subject: Subject = CHECKPOINTS) -> Filter | None:
    """The filter that was typed; None for an empty text. Raises FilterError, also for one that SQLite refuses.

    has_decimal_comma: whether the user's language writes 0,5 for a half.
    """
    typed = text.encode(errors="ignore").decode().strip()
    if not typed:
        return None
    if len(typed) > LONGEST:
        raise FilterError(f"The filter is longer than {LONGEST:,} characters; make it shorter.")
    unquoted = re.sub(_QUOTED, "", typed)
    is_condition = typed.casefold() in subject.flags or _CONDITION.search(unquoted)
    if is_condition and re.search("['\"]", unquoted):
        raise FilterError("A text in the filter has no closing quotation mark.")
    found = _condition(typed, has_decimal_comma) if is_condition else _search(typed.casefold())
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(subject.schema)
        matching(db, found, 0, subject)
    return found


def _search(typed: str) -> Filter:
    """Each word must occur in some text of a checkpoint; “in use” is one."""
    words = re.findall(r"in use|\S+", typed)
    parameters = {f"word{number}": _tag(word) or word for number, word in enumerate(words)}
    conditions = (_IS_TAGGED if _tag(word) else "instr(searched, :{}) > 0" for word in words)
    condition = " AND ".join(each.format(name) for each, name in zip(conditions, parameters, strict=True))
    return Filter(condition, parameters)


def _condition(typed: str, has_decimal_comma: bool) -> Filter:
    parameters: dict[str, str] = {}

    def tagged(found: re.Match[str]) -> str:
        quoted, tag = found.groups()
        if quoted:
            return str(quoted)
        name = f"tag{len(parameters)}"
        parameters[name] = f" {tag} ".casefold()
        return _IS_TAGGED.format(name)

    def number(found: re.Match[str]) -> str:
        kept, digits = found.groups()
        return str(kept) if kept else _with_point(digits, has_decimal_comma)

    return Filter(_AS_SHOWN.sub(_as_shown, _TAG.sub(tagged, _COMMA.sub(number, typed))), parameters)


def _tag(word: str) -> str | None:
    found = _TAG.fullmatch(word)
    return f" {found.group(2)} " if found and found.group(2) else None


def _with_point(digits: str, has_decimal_comma: bool) -> str:
    """0,5 as 0.5 where the language writes it so. Raises FilterError for what could be another number."""
    point, whole = digits.replace(",", ".", 1), digits.replace(",", "")
    if _MAY_BE_THOUSANDS.fullmatch(digits):
        raise FilterError(f"“{digits}” may be {whole} or {point}: write one of them.")
    if not has_decimal_comma or digits.count(",") > 1:
        raise FilterError(f"“{digits}” is not a number here: it is written without a comma, as 0.5 or 12000.")
    return point


def _as_shown(found: re.Match[str]) -> str:
    """A date needs no quotation marks, a minus may be the one that rows show, and a percent sign after a number is the
    column's own unit."""
    quoted, date, minus = found.groups()
    return str(quoted) if quoted else f"'{date}'" if date else "-" if minus else ""


def matching(db: sqlite3.Connection, condition: Filter, now_ms: int, subject: Subject = CHECKPOINTS) -> set[Any]:
    """The ids that match, of the subject's table. Raises FilterError."""
    db.set_authorizer(partial(_authorized, subject.table))
    db.set_progress_handler(lambda: True, MOST_INSTRUCTIONS)  # ends the query
    try:
        query = _SELECT.format(subject.rows or subject.table, condition.condition)
        return {row[0] for row in db.execute(query, {**condition.parameters, "now_ms": now_ms})}
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise FilterError(_sentence(str(error), subject)) from error
    finally:
        db.set_progress_handler(None, 0)
        db.set_authorizer(None)


def _authorized(
    table: str, action: int, first: str | None, second: str | None, _database: str | None, _cause: str | None
) -> int:
    """Reads of the table, and functions that are on the list: no other table, pragma, file or write."""
    is_read = action == sqlite3.SQLITE_READ and first == table
    is_function = action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS
    return sqlite3.SQLITE_OK if is_read or is_function or action == sqlite3.SQLITE_SELECT else sqlite3.SQLITE_DENY


def _sentence(message: str, subject: Subject) -> str:
    """SQLite's message as a sentence with a way out."""
    if found := _NO_COLUMN.search(message):
        name = found.group(1)
        listed = subject.listed or subject.names
        close = difflib.get_close_matches(name.casefold(), (*listed, *subject.names), n=1)
        way_out = (
            f"did you mean “{close[0]}”?" if close else f"a text needs quotation marks: '{name}'. {_columns(listed)}"
        )
        return f"There is no column “{name}”; {way_out}"
    if found := _NEAR.search(message):
        near = found.group(1) or found.group(2)
        if near == ")":
            return _INCOMPLETE
        return (
            f"The filter cannot be read near “{near}”. Numbers have no unit, and texts are in quotation marks: "
            f"{subject.example}."
        )
    if "incomplete" in message:
        return _INCOMPLETE
    if "interrupted" in message:
        return "The filter takes too long; make it simpler."
    if "authoriz" in message or "prohibited" in message or "no such table" in message:
        return "A filter may only compare the columns of the table."
    return f"The filter cannot be used: {message}."


def hint(condition: Filter | None, matches: int) -> str:
    """Why a valid filter may mean something else to its author, in sentences; empty if there is no doubt. matches: how
    many checkpoints it finds."""
    if condition is None:
        return ""
    words = (_NAMED_WORD.fullmatch(word) for word in condition.parameters.values())
    name = next((found.group(1) for found in words if found and not matches), None)
    if name is not None and name in NAMES:
        return f"No text has “{name}:” in it. To look into this column, compare: {name} like '%night%'."
    if name is not None:
        return f"No text has “{name}:” in it, and there is no such column. {_columns()}"
    if _ONLY_RANKS.search(re.sub(_QUOTED, "", condition.condition)):
        return f"The table does not show the score, which only ranks checkpoints. {_columns()}"
    return ""


def _columns(listed: Sequence[str] = _LISTED) -> str:
    return f"Columns: {', '.join(listed)}."


@dataclass(frozen=True, slots=True)
class Completion:
    """The suggestions for the text from `start` to the cursor."""

    start: int
    words: tuple[str, ...]


def complete(text: str, cursor: int, subject: Subject = CHECKPOINTS) -> Completion:
    """The names of columns that begin with the word before the cursor; all names if there is none."""
    before = text[:cursor]
    fragment = re.search(r"[^\W\d]\w*$", before)
    start = cursor if fragment is None else fragment.start()
    if re.sub(_QUOTED, "", before[:start]).count("'"):
        return Completion(start, ())
    typed = before[start:].casefold()
    return Completion(start, tuple(name for name in subject.names if name.startswith(typed) and name != typed))
