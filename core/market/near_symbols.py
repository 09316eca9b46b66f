"""The symbols that come closest to a mistyped one, as a question for the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

USUAL_QUOTES = ("USDT", "USD", "USDC", "EUR", "BTC", "ETH")
_MOST = 3


def near_symbols(symbol: str, known: Iterable[str]) -> list[str]:
    """At most three, the best first: the same base in a like currency (USDT for USD), else in another one, else the
    pair the other way round, else whatever is written nearly so."""
    base, _, quote = symbol.upper().partition("/")
    symbols = sorted(set(known), key=_usual_first)
    of_base = [each for each in symbols if each.upper().partition("/")[0] == base]
    alike = [each for each in of_base if _is_alike(each.upper().partition("/")[2], quote)]
    swapped = [each for each in symbols if each.upper() == f"{quote}/{base}"]
    return (alike or of_base or swapped or _written_nearly_so(symbol, symbols))[:_MOST]


def did_you_mean(near: Sequence[str]) -> str:
    """“ Did you mean A, B or C?”, with the blank before it; without any, how a symbol is written."""
    if not near:
        return " Symbols are written like BTC/USDT."
    *first, last = near
    return f" Did you mean {', '.join(first)} or {last}?" if first else f" Did you mean {last}?"


def _is_alike(quote: str, wanted: str) -> bool:
    return bool(quote and wanted) and (quote.startswith(wanted) or wanted.startswith(quote))


def _usual_first(symbol: str) -> tuple[int, int, str]:
    quote = symbol.upper().partition("/")[2]
    rank = USUAL_QUOTES.index(quote) if quote in USUAL_QUOTES else len(USUAL_QUOTES)
    return rank, len(symbol), symbol


def _written_nearly_so(symbol: str, symbols: Sequence[str]) -> list[str]:
    letters = {_letters(each): each for each in reversed(symbols)}
    return [letters[each] for each in difflib.get_close_matches(_letters(symbol), letters, n=_MOST)]


def _letters(symbol: str) -> str:
    return "".join(letter for letter in symbol.upper() if letter.isalnum())
