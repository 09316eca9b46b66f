"""The symbols closest to a mistyped one, as a question for the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

USUAL_QUOTES = ("USDT", "USD", "USDC", "EUR", "BTC", "ETH")
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
    quote = symbol.upper().partition("/")[2]
    rank = USUAL_QUOTES.index(quote) if quote in USUAL_QUOTES else len(USUAL_QUOTES)
    return rank, len(symbol), symbol


def _similar_spelling(symbol: str, symbols: Sequence[str]) -> list[str]:
    letters = {_letters(each): each for each in reversed(symbols)}
    return [letters[each] for each in difflib.get_close_matches(_letters(symbol), letters, n=_MOST)]


def _letters(symbol: str) -> str:
    return "".join(letter for letter in symbol.upper() if letter.isalnum())
