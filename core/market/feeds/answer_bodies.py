"""Judges the bodies of an exchange's answers, as ccxt makes an empty list of whatever it does not know: a proxy's page,
nothing at all, an error in a new form. An answer without candles counts only if it holds a list."""

from __future__ import annotations

import json
import re
from typing import Any

from core.domain.plain_text import plain
from core.market.feeds.trouble import NotCandlesError, VenueError

_BRACKETS = ("{}", "[]")
_SHOWN_CHARACTERS = 60
_TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_DEEPEST = 3
_MESSAGE_KEYS = frozenset({"error", "errors", "ma", "message", "msg"})
"""Lists under these keys hold errors."""
_FAILED = frozenset({"error", "err", "fail", "failed", "false"})
_HARMLESS = frozenset({"", "success", "succeed", "ok"})
_SUCCEEDED = frozenset({"ok", "success", "true"})
_STATUS_KEYS = ("status", "result", "success", "ok", "s")
_CODE_KEYS = ("code", "rc", "retCode", "error_code")
_NO_DATA = "no_data"
"""TradingView's status of an empty list."""


def require_data(body: str, name: str) -> None:
    """Raises VenueError unless the body has the form of JSON. Only its ends are read: a list of markets has
    megabytes."""
    text = body.strip()
    is_value = text.isdecimal() or (len(text) > 1 and text[0] == text[-1] == '"')  # an exchange's time may be one
    if is_value or text[:1] + text[-1:] in _BRACKETS:
        return
    raise VenueError(
        _sentence(text, name, "with a page or a text instead of its data"), is_brief=True, is_of_venue=True
    )


def require_candles(body: str, name: str) -> None:
    """Raises VenueError unless an answer in which ccxt found no candles is an empty list or a list of other candles."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    has_no_data = isinstance(answer, dict) and _NO_DATA in _statuses(answer)
    if not (has_no_data or (_holds_list(answer) and not _has_failed(answer))):
        sentence = _sentence(body.strip(), name, "with something else than candles")
        raise NotCandlesError(sentence, is_brief=True, is_of_venue=True)


def _sentence(text: str, name: str, what: str) -> str:
    title = _TITLE.search(text)
    shown = " ".join(plain(title[1] if title else text, _SHOWN_CHARACTERS).split()) or "nothing"
    return (
        f"{name} answered {what}: {shown} - a network's login page, a firewall or a fault of the exchange may be the "
        "reason."
    )


def _holds_list(answer: Any, depth: int = 0) -> bool:
    """Whether there is a list of rows or of numbers, or an empty one; or nothing besides a success code."""
    if isinstance(answer, list):
        return not answer or isinstance(answer[0], list | dict | int | float)
    if not isinstance(answer, dict) or depth >= _DEEPEST:
        return False
    parts = [part for key, part in answer.items() if key not in _MESSAGE_KEYS]
    if any(_holds_list(part, depth + 1) for part in parts if part):
        return True
    return any(part == [] for part in parts) or (_has_succeeded(answer) and None in parts)


def _has_failed(answer: Any) -> bool:
    if not isinstance(answer, dict):
        return False
    message = next((answer[key] for key in _MESSAGE_KEYS if isinstance(answer.get(key), str)), "")
    has_code = any(answer.get(key) is not None for key in _CODE_KEYS)
    is_refusal = has_code and message.casefold() not in _HARMLESS and not _has_succeeded(answer)
    return is_refusal or bool(_statuses(answer) & _FAILED) or bool(answer.get("error"))


def _has_succeeded(answer: dict[str, Any]) -> bool:
    codes = {str(answer[key]) for key in _CODE_KEYS if answer.get(key) is not None}
    return bool(_statuses(answer) & _SUCCEEDED) or any(code.strip("0") in ("", "2") for code in codes)


def _statuses(answer: dict[str, Any]) -> set[str]:
    return {str(answer[key]).casefold() for key in _STATUS_KEYS if isinstance(answer.get(key), str | bool)}
