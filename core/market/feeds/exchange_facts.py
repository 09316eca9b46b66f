"""What differs from exchange to exchange, one row each, with the source of every value.

A missing row, or a field left at its default, means: as ccxt says.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeFacts:
    """source: where the values are documented or were seen, with version or date.

    listed_rows: how many of its newest candles a request can reach; None: as far back as asked.
    """

    source: str
    listed_rows: int | None = None


FACTS: dict[str, ExchangeFacts] = {
    "kraken": ExchangeFacts(
        source="Kraken REST OHLC: up to 720 of the most recent entries, whatever `since` is", listed_rows=720
    ),
}
"""By ccxt's id."""

_NOTHING_KNOWN = ExchangeFacts(source="")


def facts_of(venue: str) -> ExchangeFacts:
    """The row of an exchange, by ccxt's id; one of defaults for others."""
    return FACTS.get(venue, _NOTHING_KNOWN)
