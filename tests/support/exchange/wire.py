"""Binance's wire formats of REST answers and streams (binance-spot-api-docs, July 2026)."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from core.domain.candle import Candle, Interval
from tests.support.tape import TapeTrade

_BAD_REQUEST = 400


def kline_row(candle: Candle, interval: Interval) -> list[Any]:
    """One row of GET /klines."""
    numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    close_ms = candle.open_time_ms + interval.duration_ms - 1
    return [candle.open_time_ms, *map(text, numbers), close_ms, "0.0", 10, "0.0", "0.0", "0"]


def kline_event(candle: Candle, interval: Interval, symbol_id: str, now_ms: int, is_final: bool) -> dict[str, Any]:
    """A message of <symbol>@kline_<interval>."""
    kline = {
        "t": candle.open_time_ms,
        "T": candle.open_time_ms + interval.duration_ms - 1,
        "s": symbol_id,
        "i": str(interval),
        "f": 100,
        "L": 200,
        "o": text(candle.open),
        "c": text(candle.close),
        "h": text(candle.high),
        "l": text(candle.low),
        "v": text(candle.volume),
        "n": 100,
        "x": is_final,
        "q": "1.0000",
        "V": "500",
        "Q": "0.500",
        "B": "0",
    }
    return {"e": "kline", "E": now_ms, "s": symbol_id, "k": kline}


def trade_row(trade: TapeTrade) -> dict[str, Any]:
    """One row of GET /trades and /historicalTrades."""
    price, amount = text(trade.price), text(trade.amount)
    return {
        "id": trade.id,
        "price": price,
        "qty": amount,
        "quoteQty": text(trade.price * trade.amount),
        "time": trade.time_ms,
        "isBuyerMaker": _is_buyer_maker(trade),
        "isBestMatch": True,
    }


def aggregate_row(trade: TapeTrade) -> dict[str, Any]:
    """One row of GET /aggTrades: here, each trade is an aggregate by itself."""
    return {
        "a": trade.id,
        "p": text(trade.price),
        "q": text(trade.amount),
        "f": trade.id,
        "l": trade.id,
        "T": trade.time_ms,
        "m": _is_buyer_maker(trade),
        "M": True,
    }


def trade_event(trade: TapeTrade, symbol_id: str, now_ms: int) -> dict[str, Any]:
    """A message of <symbol>@trade."""
    row = {"p": text(trade.price), "q": text(trade.amount), "T": trade.time_ms, "m": _is_buyer_maker(trade), "M": True}
    return {"e": "trade", "E": now_ms, "s": symbol_id, "t": trade.id, **row}


def aggregate_event(trade: TapeTrade, symbol_id: str, now_ms: int) -> dict[str, Any]:
    """A message of <symbol>@aggTrade."""
    return {"e": "aggTrade", "E": now_ms, "s": symbol_id, **aggregate_row(trade)}


def description(symbol: str) -> dict[str, Any]:
    """One market in GET /exchangeInfo."""
    base, quote = symbol.split("/")
    return {
        "symbol": base + quote,
        "status": "TRADING",
        "baseAsset": base,
        "baseAssetPrecision": 8,
        "quoteAsset": quote,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "orderTypes": ["LIMIT", "MARKET"],
        "icebergAllowed": True,
        "isSpotTradingAllowed": True,
        "isMarginTradingAllowed": False,
        "filters": [
            {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000", "tickSize": "0.01"},
            {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
        ],
        "permissions": [],
        "permissionSets": [["SPOT"]],
    }


def refusal(code: int, sentence: str) -> web.Response:
    """Binance's answer to an invalid request."""
    return web.json_response({"code": code, "msg": sentence}, status=_BAD_REQUEST)


def text(number: float) -> str:
    return f"{number:.8f}"


def _is_buyer_maker(trade: TapeTrade) -> bool:
    return trade.id % 2 == 0
