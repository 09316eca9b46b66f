"""Makes a ccxt object do as the table of facts says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.market.feeds.exchange_facts import facts_of


def correct(exchange: Any) -> None:
    """Set the names, options and abilities of a new ccxt object, and the cells that its candles are read from."""
    facts = facts_of(exchange.id)
    exchange.timeframes = {**(exchange.timeframes or {}), **facts.timeframes}
    exchange.options = exchange.deep_extend(exchange.options, facts.options)
    exchange.has = {**exchange.has, **dict.fromkeys(facts.lacks, False)}
    if facts.row_cells:
        _correct_rows(exchange, facts.row_cells)


def _correct_rows(exchange: Any, cells: Mapping[int | str, int | str]) -> None:
    parse = exchange.parse_ohlcv

    def parse_ohlcv(row: Any, market: Any = None) -> Any:
        return parse(_moved(row, cells), market)

    exchange.parse_ohlcv = parse_ohlcv


def _moved(row: Any, cells: Mapping[int | str, int | str]) -> Any:
    """The row with its right cells where ccxt looks. A right cell that is missing leaves an empty one: what the wrong
    one has is another quantity. An exchange's lists and its dictionaries are read apart."""
    if isinstance(row, dict):
        named = {wrong: row.get(right) for wrong, right in cells.items() if isinstance(wrong, str)}
        return {**row, **named}
    if isinstance(row, list):
        places = {wrong: right for wrong, right in cells.items() if isinstance(wrong, int)}
        return [_cell(row, places.get(place, place)) for place in range(len(row))]
    return row


def _cell(row: list[Any], place: int | str) -> Any:
    return row[place] if isinstance(place, int) and place < len(row) else None
