"""The symbols closest to a mistyped one, as a question for the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_USUAL_QUOTES = ("USDT", "USD", "USDC", "EUR", "BTC", "ETH")
_MOST = 3


def near_symbols(symbol: str, known: Iterable[str]) -> list[str]:
    """At most three, best first: the same base in a similar quote currency (USDT for USD), else in another one, else
    the swapped pair, else the most similar spelling."""
    base, _, quote = symbol.upper().partition("/")
    symbols = sorted(set(known), key=_usual_first)
    of_base = [each for each in symbols if each.upper().partition("/")[0] == base]
    similar = [each for each in of_base if _is_similar(each.upper().partition("/")[2], quote)]
    swapped = [each for each in symbols if each.upper() == f"{quote}/{base}"]
    return (similar or of_base or swapped or _similar_spelling(symbol, symbols))[:_MOST]


def did_you_mean(near: Sequence[str]) -> str:
    """“ Did you mean A, B or C?”, with a leading space; if there are none, an example of a symbol."""
    if not near:
        return " Symbols are written like BTC/USDT."
    *first, last = near
    return f" Did you mean {', '.join(first)} or {last}?" if first else f" Did you mean {last}?"


def _is_similar(quote: str, wanted: str) -> bool:
    return bool(quote and wanted) and (quote.startswith(wanted) or wanted.startswith(quote))


def _usual_first(symbol: str) -> tuple[int, int, str]:
    return quote_rank(symbol.upper().partition("/")[2]), len(symbol), symbol


def _similar_spelling(symbol: str, symbols: Sequence[str]) -> list[str]:
    spelt = {letters(each): each for each in reversed(symbols)}
    return [spelt[each] for each in difflib.get_close_matches(letters(symbol), spelt, n=_MOST)]


def letters(text: str) -> str:
    """Its letters and digits, in upper case."""
    return "".join(letter for letter in text.upper() if letter.isalnum())


def quote_rank(quote: str) -> int:
    """0 for the most common quote currency."""
    return _USUAL_QUOTES.index(quote) if quote in _USUAL_QUOTES else len(_USUAL_QUOTES)
