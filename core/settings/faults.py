"""Sentences about invalid values of settings: the value, and the permitted ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNKNOWN = frozenset({"unexpected_keyword_argument", "extra_forbidden"})
"""Pydantic's error types for an unknown setting."""
_MISSING = frozenset({"missing", "missing_argument"})
_LONGEST_VALUE = 60
_A_TABLE = "a table of names and values"
_WANTED = {
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "finite_number": "a number that is not infinite",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string_pattern_mismatch": "a text that fits the pattern {pattern}",
    "string_too_short": "a text of at least {min_length} letters",
    "string_too_long": "a text of at most {max_length} letters",
    "string": "a text",
    "too_short": "of at least {min_length} entries",
    "too_long": "of at most {max_length} entries",
    "list": "a list",
    "tuple": "a list",
    "dict": _A_TABLE,
    "mapping": _A_TABLE,
    "dataclass": _A_TABLE,
}
"""By pydantic's error type, or by its part before the first underscore."""


def sentence_of(problem: Mapping[str, Any]) -> str:
    """The sentence for one error of a pydantic ValidationError, without a full stop."""
    kind = str(problem["type"])
    if kind in UNKNOWN:
        return "this version has no such setting"
    if kind in _MISSING:
        return "it is missing"
    wanted = _WANTED.get(kind) or _WANTED.get(kind.partition("_")[0])
    context = problem.get("ctx", {})
    if wanted is None:  # our own validators have a sentence
        return str(context.get("error", problem["msg"]))
    return f"it is {shown_value(problem.get('input'))}, and has to be {wanted.format_map(context)}"


def shown_value(value: object) -> str:
    """The value as in a settings file, on one line and shortened."""
    if isinstance(value, dict):
        return _A_TABLE
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = f"'{value}'" if isinstance(value, str) else str(value)
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
