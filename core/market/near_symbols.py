"""The symbols closest to a mistyped one, as a question for the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_USUAL_QUOTES = ("USDT", "USD", "USDC", "EUR", "BTC", "ETH")
_MOST = 3


def near_symbols(symbol: str, known: Iterable[str]) -> list[str]:
    """At most three similar symbols, best first: the same base in a similar quote currency (USDT for USD), else in
    another one, else the swapped pair, else the most similar spelling."""
    base, _, quote = symbol.upper().partition("/")
    symbols = sorted(set(known), key=lambda each: (quote_rank(each.upper().partition("/")[2]), len(each), each))
    of_base = [each for each in symbols if each.upper().partition("/")[0] == base]
    quotes = ((each, each.upper().partition("/")[2]) for each in of_base)
    similar = [each for each, own in quotes if own and quote and (own.startswith(quote) or quote.startswith(own))]
    swapped = [each for each in symbols if each.upper() == f"{quote}/{base}"]
    if near := similar or of_base or swapped:
        return near[:_MOST]
    spelt = {letters(each): each for each in reversed(symbols)}
    return [spelt[each] for each in difflib.get_close_matches(letters(symbol), spelt, n=_MOST)]


def did_you_mean(near: Sequence[str]) -> str:
    """“ Did you mean A, B or C?”, with a leading space; if there are none, an example of a symbol."""
    if not near:
        return " Symbols are written like BTC/USDT."
    *first, last = near
    return f" Did you mean {', '.join(first)} or {last}?" if first else f" Did you mean {last}?"


def letters(text: str) -> str:
    return "".join(letter for letter in text.upper() if letter.isalnum())


def quote_rank(quote: str) -> int:
    """0 for the most common quote currency."""
    return _USUAL_QUOTES.index(quote) if quote in _USUAL_QUOTES else len(_USUAL_QUOTES)
