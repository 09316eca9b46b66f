"""A day of feed events, for tests and pictures of its panel."""

from __future__ import annotations

from core.domain.candle import Candle, Interval, Market
from core.market.feeds.base import FeedState, FeedStatus, FeedVitals, MissingCandles, RejectedMessage
from core.settings.tree import MarketSettings
from desktop.state.run_state import RunState
from tests.desktop.scenario import NOW_MS

MARKET = Market("binance", "BTC/USDT", Interval.parse("1m"))
MINUTE_MS = 60_000
RAW = (
    '{"e":"kline","E":1795234501004,"s":"BTCUSDT","k":{"t":1795234500000,"T":1795234559999,"s":"BTCUSDT","i":"1m",'
    '"o":"64250.11","c":"0.00000000","h":"64251.00","l":"64249.20","v":"12.1","n":311,"x":false}}'
)
CANNOT_REACH = "Binance cannot be reached: no network, or its address is blocked."


def vitals(**changes: object) -> FeedVitals:
    """Of a healthy connection, a second old."""
    known = {
        "at_ms": NOW_MS - 400,
        "venue": "binance",
        "messages": 48_211,
        "trades": 131_020,
        "rejected": 5,
        "reconnects": 2,
        "back_filled": 14,
        "corrected": 1,
        "missing": 3,
        "last_message_ms": NOW_MS - 600,
        "last_trade_ms": NOW_MS - 7_200,
        "clock_offset_ms": -212.4,
        "request_ms": 84.2,
        "close_delay_ms": 412.0,
    }
    return FeedVitals(**{**known, **changes})  # type: ignore[arg-type]


def connected(state: RunState) -> None:
    """From choosing the market until it is live."""
    record = state.feed_record
    record.begin(MarketSettings())
    record.opened(MARKET)
    for ago, feed_state, sentence in (
        (2_000_000, FeedState.CONNECTING, "Requesting BTC/USDT from Binance."),
        (1_999_000, FeedState.CATCHING_UP, "Fetching 1,000 candles from Binance."),
        (1_997_000, FeedState.LIVE, "Receiving BTC/USDT 1m candles from Binance."),
    ):
        state.markets.on_feed_event(state.market, FeedStatus(feed_state, sentence, NOW_MS - ago))


def eventful(state: RunState) -> None:
    """Live, after an outage, a gap, a correction and five rejected messages."""
    connected(state)
    record = state.feed_record
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, CANNOT_REACH, NOW_MS - 900_000, retry_at_ms=NOW_MS - 896_000)
    )
    record.add_report(MissingCandles(NOW_MS - 30 * MINUTE_MS, 3))
    back = "Receiving BTC/USDT 1m candles from Binance. 14 candles back-filled."
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.LIVE, back, NOW_MS - 720_000))
    record.add_corrected(Candle(NOW_MS - 20 * MINUTE_MS, 64_250.1, 64_261.0, 64_240.0, 64_255.5, 12.3))
    for number, reason in enumerate(("price not above zero", "time off the grid", "unknown fields") * 2):
        if number < 5:
            record.add_report(RejectedMessage(NOW_MS - (60 - number) * 9_000, reason, RAW))
    record.add_report(vitals())


def refused(state: RunState) -> None:
    """The venue does not serve this location."""
    connected(state)
    sentence = "Binance does not serve this location (451). Choose another exchange, or replay a file."
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.FAILED, sentence, NOW_MS - 45_000))
