"""Sentences about invalid values of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
_LONGEST_VALUE = 60


def sentence_of(problem: Mapping[str, Any]) -> str:
    """The sentence for one error of a pydantic ValidationError, without a full stop."""
    if problem["type"] in _UNKNOWN:
        return "this version has no such setting"
    if "error" in (context := problem.get("ctx", {})):  # from our validators
        return str(context["error"])
    message, value = problem["msg"].replace("Input", "it", 1), problem["input"]
    is_short = value is None or isinstance(value, str | int | float)
    return f"{message[:1].lower()}{message[1:]}" + (f", and is {shown_value(value)}" if is_short else "")


def shown_value(value: object) -> str:
    """The value in one line, shortened."""
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
