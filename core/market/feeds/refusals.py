"""Recognises an exchange's refusals by their texts: ccxt has no class for many, or mistakes one for another."""

from __future__ import annotations

import re

from core.market.feeds.exchange_facts import Refusal, facts_of

_LONGEST_TEXT = 20_000
_NOUNS = "(symbol|pair|instrument|product|market)"
_PLACES = "(location|countr|region|jurisdiction)"
_WORDS = {
    Refusal.RATE: r"too many|rate.?limit|frequency limit|too frequent|request limit",
    Refusal.LOCATION: (
        rf"restricted {_PLACES}|regulatory restriction|unavailable in (the u\.?s|your)|your {_PLACES}"
        rf"|{_PLACES}\w* (is |are )?not (supported|served|available|allowed)|geo.?(block|restrict)"
        r"|error code: 1009\b"  # Cloudflare's: "country or region banned"
    ),
    Refusal.AGE: r"too long ago|too (old|far back)",
    Refusal.MAINTENANCE: r"maintenance",
    Refusal.MARKET: (
        rf"\b(unknown|invalid|nonexistent|unsupported|not supported|not a valid) [\w ]{{0,20}}{_NOUNS}"
        rf"|{_NOUNS}\w* ?(id|name)? ?(is|was|does|do)? ?(an? )?"
        r"(invalid|unknown|unsupported|nonsupport|required|delisted"
        r"|(not|n't) (a )?(exist|found|valid|support|available|provided|known))"
    ),
}
"""Patterns of refusals in any exchange's message, in this order."""
_MARKET_LACKS = r"{name}\W{{0,2}} (does not exist|doesn't exist|(is )?not exist|not found|is invalid|is not valid)"
_PATTERNS = {refusal: re.compile(words, re.IGNORECASE) for refusal, words in _WORDS.items()}
_PASSING = re.compile(r"temporar|try again|later", re.IGNORECASE)
_COUNT = re.compile(r"(\d[\d,_]*) (?:points|candles|klines|bars)", re.IGNORECASE)
_UNTIL = re.compile(r"(?:until|expires at|after)\D{0,20}(\d{13})\b", re.IGNORECASE)


def refusal_of(venue: str, text: str, market_name: str = "") -> Refusal | None:
    """The reason in an exchange's message. market_name: the exchange's name for the requested market."""
    text = text[:_LONGEST_TEXT]
    packed = "".join(text.split())
    for words, refusal in facts_of(venue).refusals.items():
        if "".join(words.split()) in packed:
            return refusal
    found = next((refusal for refusal, pattern in _PATTERNS.items() if pattern.search(text)), None)
    if found is None and market_name:
        lacks = _MARKET_LACKS.format(name=re.escape(market_name))
        found = Refusal.MARKET if re.search(lacks, text, re.IGNORECASE) else None
    is_lasting = found in (Refusal.MARKET, Refusal.LOCATION)
    return None if is_lasting and _PASSING.search(text) else found


def names_interval(text: str, names: tuple[str, ...]) -> bool:
    """Whether a refused request's message names the requested interval; numbers alone may mean anything."""
    telling = (name for name in names if not name.isdecimal())
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in telling)


def listed_count(text: str) -> int | None:
    """How many candles back the exchange answers, by its refusal of an older one."""
    found = _COUNT.search(text)
    return None if found is None else int(re.sub(r"\D", "", found[1]))


def until_ms(text: str) -> int | None:
    """The end of a ban, by its message."""
    found = _UNTIL.search(text[:_LONGEST_TEXT])
    return None if found is None else int(found[1])
