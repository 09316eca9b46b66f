"""How the exchanges lay out their files: a row for each form of `core.market.history.forms.exchanges`."""

from __future__ import annotations

from core.market.history.candle_table import ReadOptions
from tests.core.market.history.forms.layouts import HALF_HOUR, MINUTE, Layout, rows

_TRADES = ReadOptions(interval=MINUTE)
_BINANCE = (
    "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore"
)
_STREAM = "t,T,s,i,f,L,o,c,h,l,v,n,x,q,V,Q,B"
_OKX = "instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm"
_BITMEX = "timestamp,symbol,open,high,low,close,trades,volume,vwap,lastSize,turnover,homeNotional,foreignNotional"
_BYBIT = "timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional"
_UPBIT = (
    "market,candle_date_time_utc,candle_date_time_kst,opening_price,high_price,low_price,trade_price,timestamp,"
    "candle_acc_trade_price,candle_acc_trade_volume,unit"
)
_POLONIEX = (
    "low,high,open,close,amount,quantity,buyTakerAmount,buyTakerQuantity,tradeCount,ts,weightedAverage,interval,"
    "startTime,closeTime"
)
_DERIBIT = "trade_seq,trade_id,timestamp,tick_direction,price,mark_price,instrument_name,index_price,direction,amount"

EXCHANGE_LAYOUTS = (
    Layout(
        form="",
        file="klines.csv",
        line=lambda r: f"{r.ms},{r.ohlcv},{r.end_ms - 1},{r.turnover},9,1,1,0",
    ),
    Layout(form="", file="XBTUSD_1.csv", line=lambda r: f"{r.s},{r.ohlcv},9"),
    Layout(
        form="kraken-candles", file="kraken.csv", line=lambda r: f"{r.s},{r.ohlc},{(r.high + r.low) / 2},{r.volume},9"
    ),
    Layout(form="", file="bybit.csv", line=lambda r: f"{r.ms},{r.ohlcv},{r.turnover}", is_newest_first=True),
    Layout(form="", file="okx_swap.csv", line=lambda r: f"{r.ms},{r.ohlc},{100 * r.volume},{r.volume},{r.turnover},1"),
    Layout(form="", file="BTCUSDT-1min-2021-05-11.csv", line=lambda r: f"{r.s},{r.ohlc},{r.turnover},{r.volume}"),
    Layout(
        form="binance-coinm",
        file="BTCUSD_PERP-1m.csv",
        head=_BINANCE,
        line=lambda r: f"{r.ms},{r.ohlc},{round(r.volume * 600)},{r.end_ms - 1},{r.volume},9,1,1,0",
    ),
    Layout(
        form="binance-coinm",
        file="BTCUSD_PERP-1m-2021-03-01.csv",
        line=lambda r: f"{r.ms},{r.ohlc},{round(r.volume * 600)},{r.end_ms - 1},{r.volume},9,1,1,0",
    ),
    Layout(
        form="binance-coinm-trades",
        file="BTCUSD_PERP-trades-2021-03-01.csv",
        trade=lambda t: f"{4_700_000_000 + t.number},{t.price},{t.number + 1},{t.amount},{t.ms},{t.flag}",
        options=_TRADES,
    ),
    Layout(  # its names say which amount is the coin's
        form="",
        file="coinm_trades.csv",
        head="id,price,qty,base_qty,time,is_buyer_maker",
        trade=lambda t: f"{7000 + t.number},{t.price},{t.number + 1},{t.amount},{t.ms},{t.flag}",
        options=_TRADES,
    ),
    Layout(
        form="binance-coinm-aggtrades",
        file="BTCUSD_PERP-aggTrades-2024-03-01.csv",
        head="agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker",
        trade=lambda t: f"{7000 + t.number},{t.price},{t.amount},{t.number},{t.number},{t.ms},{t.flag}",
        options=_TRADES,
    ),
    Layout(
        form="okx-api-trades",
        file="okx_trades.csv",
        symbol="BTC-USDT-SWAP",
        head="instId,side,sz,px,tradeId,ts",
        trade=lambda t: f"BTC-USDT-SWAP,{t.side},{t.amount},{t.price},{7000 + t.number},{t.ms}",
        options=_TRADES,
    ),
    Layout(
        form="",
        file="hyperliquid_fills.csv",
        symbol="BTC",
        head="coin,px,sz,side,time,tid",
        trade=lambda t: f"BTC,{t.price},{t.amount},B,{t.ms},{900 + t.number}",
        options=_TRADES,
    ),
    Layout(
        form="gate-futures",
        file="gate_futures.csv",
        head="t,v,c,h,l,o,sum",
        line=lambda r: f"{r.s},{r.volume},{r.close},{r.high},{r.low},{r.open},{r.turnover / 1e4}",
    ),
    Layout(
        form="phemex-candles",
        file="phemex.csv",
        line=lambda r: f"{r.s},60,{r.open},{r.ohlcv},{r.turnover}",
    ),
    Layout(
        form="",
        file="coinapi_trades.csv",
        symbol="BITSTAMP_SPOT_BTC_USD",
        head="symbol_id;time_exchange;time_coinapi;uuid;price;size;taker_side",
        trade=lambda t: (
            f"BITSTAMP_SPOT_BTC_USD;{t.text('%Y-%m-%dT%H:%M:%S')}.1234560Z;{t.text('%Y-%m-%dT%H:%M:%S')}.2234560Z;"
            f"a{t.number};{t.price};{t.amount};{t.side.upper()}"
        ),
        options=_TRADES,
    ),
    Layout(  # conditions such as "12,37" are no decimal commas
        form="",
        file="polygon_trades.csv",
        symbol="AAPL",
        head="ticker,conditions,exchange,id,participant_timestamp,price,size",
        trade=lambda t: f'AAPL,"12,37",11,{7000 + t.number},{t.ms * 1_000_000},{t.price},{t.amount}',
        options=_TRADES,
    ),
    Layout(
        form="deribit-trades",
        file="options.csv",
        symbol="BTC-29MAR24-50000-C",
        head=_DERIBIT,
        trade=lambda t: (
            f"{t.number},{7000 + t.number},{t.ms},1,{t.price},0.1,BTC-29MAR24-50000-C,9,{t.side},{t.amount}"
        ),
        options=_TRADES,
    ),
    Layout(
        form="binance-trades",
        file="BTCUSDT-trades-2024-03-01.csv",
        trade=lambda t: f"{7000 + t.number},{t.price},{t.amount},{t.price * t.amount},{t.ms},{t.flag},True",
        options=_TRADES,
    ),
    Layout(
        form="binance-usdm-trades",
        file="BTCUSDT-trades-2021-03-01.csv",
        trade=lambda t: f"{4_700_000_000 + t.number},{t.price},{t.amount},{t.price * t.amount},{t.ms},{t.flag}",
        options=_TRADES,
    ),
    Layout(
        form="binance-aggtrades",
        file="BTCUSDT-aggTrades-2024-03-01.csv",
        trade=lambda t: (
            f"{7000 + t.number},{t.price},{t.amount},{9 * t.number},{9 * t.number + 8},{t.ms},{t.flag},True"
        ),
        options=_TRADES,
    ),
    Layout(  # the number of a trade that would be a moment of 1975
        form="binance-usdm-aggtrades",
        file="SOLUSDT-aggTrades-2022-03-01.csv",
        trade=lambda t: (
            f"{95_000_000 + t.number},{t.price},{t.amount},{180_000_000 + 9 * t.number},{180_000_008 + 9 * t.number},"
            f"{t.ms},{t.flag}"
        ),
        options=_TRADES,
    ),
    Layout(
        form="binance-stream-trades",
        file="trades_ws.csv",
        symbol="ABCUSDT",
        head="e,E,s,t,p,q,T,m,M",
        trade=lambda t: (
            f"trade,{t.ms + 5},ABCUSDT,{120_000_000 + 7 * t.number},{t.price},{t.amount},{t.ms},{t.flag},True"
        ),
        options=_TRADES,
    ),
    Layout(
        form="binance-stream-aggtrades",
        file="aggtrades.csv",
        head="a,p,q,f,l,T,m,M",
        trade=lambda t: f"{7000 + t.number},{t.price},{t.amount},{t.number},{t.number},{t.ms},{t.flag},True",
        options=_TRADES,
    ),
    Layout(
        form="binance-stream-candles",
        file="klines_ws.csv",
        symbol="BTCUSDT",
        head=_STREAM,
        line=lambda r: (
            f"{r.ms},{r.end_ms - 1},BTCUSDT,1m,1,2,{r.open},{r.close},{r.high},{r.low},{r.volume},9,True,1,1,1,0"
        ),
    ),
    Layout(
        form="hyperliquid",
        file="hyperliquid_BTC_1m.csv",
        symbol="BTC",
        head="T,c,h,i,l,n,o,s,t,v",
        line=lambda r: f"{r.end_ms - 1},{r.close},{r.high},1m,{r.low},9,{r.open},BTC,{r.ms},{r.volume}",
    ),
    Layout(
        form="bitmex-candles",
        file="bitmex_XBTUSD_1m.csv",
        symbol="XBTUSD",
        head=_BITMEX,
        line=lambda r: (
            f"{r.end('%Y-%m-%dT%H:%M:%S.000Z')},XBTUSD,{r.ohlc},5,{round(r.turnover)},{r.close},1,1,{r.volume},"
            f"{round(r.turnover)}"
        ),
    ),
    Layout(  # an inverse contract, of which `size` counts dollars
        form="bybit-trades",
        file="BTCUSD2024-03-01.csv",
        symbol="BTCUSD",
        head=_BYBIT,
        trade=lambda t: (
            f"{t.ms / 1000:.4f},BTCUSD,Buy,{round(t.price * t.amount)},{t.price},PlusTick,m-{t.number},1,{t.amount},1"
        ),
        options=_TRADES,
    ),
    Layout(
        form="bybit-metatrader",
        file="BTCUSDT_1_2024-03-01_2024-03-31.csv",
        line=lambda r: f"{r.text('%Y.%m.%d %H:%M', 'Etc/GMT-3')},{r.ohlcv}",
    ),
    Layout(
        form="okx-candles",
        file="BTC-USDT-SWAP-candlesticks-2024-03-01.csv",
        symbol="BTC-USDT-SWAP",
        head=_OKX,
        line=lambda r: f"BTC-USDT-SWAP,{r.ohlc},{100 * r.volume},{r.volume},{r.turnover},{r.ms},1",
    ),
    Layout(
        form="okx-candles",
        file="BTC-USDT-candlesticks-2024-03-01.csv",
        symbol="BTC-USDT",
        head=_OKX,
        line=lambda r: f"BTC-USDT,{r.ohlc},{r.volume},{r.turnover},{r.turnover},{r.ms},1",
    ),
    Layout(
        form="okx-trades",
        file="BTC-USDT-trades-2024-03-01.csv",
        symbol="BTC-USDT",
        head="instrument_name,trade_id,side,price,size,created_time",
        trade=lambda t: f"BTC-USDT,{7000 + t.number},{t.side},{t.price},{t.amount},{t.ms}",
        options=_TRADES,
    ),
    Layout(
        form="",
        file="BTC-USDT-trades-2022-03-01.csv",
        head="trade_id/撮合id,side/交易方向,size/数量,price/价格,created_time/成交时间",
        trade=lambda t: f"{7000 + t.number},{t.side},{t.amount},{t.price},{t.ms}",
        options=_TRADES,
    ),
    Layout(
        form="bitget-trades",
        file="BTCUSDT_SPBL_20250101_001.csv",
        head="trade_id,timestamp,price,side,volume(quote),size(base)",
        trade=lambda t: f"{7000 + t.number},{t.ms},{t.price},{t.side},{t.price * t.amount},{t.amount}",
        options=_TRADES,
    ),
    Layout(
        form="htx-candles",
        file="htx.csv",
        head="id,open,close,low,high,amount,vol,count",
        line=lambda r: f"{r.s},{r.open},{r.close},{r.low},{r.high},{r.volume},{r.turnover},9",
    ),
    Layout(
        form="htx-trades",
        file="BTCUSDT-trade-2021-05-11.csv",
        trade=lambda t: f"{102_176_219_713 + t.number},{t.price},{t.amount},{t.ms},{t.side}",
        options=_TRADES,
    ),
    Layout(
        form="upbit",
        file="upbit.csv",
        symbol="KRW-BTC",
        head=_UPBIT,
        line=lambda r: (
            f"KRW-BTC,{r.text('%Y-%m-%dT%H:%M:%S')},{r.text('%Y-%m-%dT%H:%M:%S', 'Asia/Seoul')},{r.ohlc},"
            f"{r.end_ms - 1000},{r.turnover},{r.volume},1"
        ),
        is_newest_first=True,
    ),
    Layout(
        form="pyupbit",
        file="pyupbit_KRW-BTC.csv",
        head=",open,high,low,close,volume,value",
        line=lambda r: f"{r.text('%Y-%m-%d %H:%M:%S', 'Asia/Seoul')},{r.ohlcv},{r.turnover}",
    ),
    Layout(
        form="gate-candles",
        file="gateio_BTC_USDT.csv",
        line=lambda r: f"{r.s},{r.turnover},{r.close},{r.high},{r.low},{r.open},{r.volume},true",
    ),
    Layout(
        form="gate-dump",
        file="BTC_USDT-202509.csv",
        line=lambda r: f"{r.s},{r.volume},{r.close},{r.high},{r.low},{r.open}",
    ),
    Layout(
        form="gate-trades",
        file="BTC_USDT-deals-202509.csv",
        trade=lambda t: f"{t.ms / 1000:.6f},{9_000_000 + t.number},{t.price},{t.amount},{1 + t.number % 2}",
        options=_TRADES,
    ),
    Layout(
        form="coinbase-candles",
        file="coinbase_BTC-USD.csv",
        line=lambda r: f"{r.s},{r.low},{r.high},{r.open},{r.close},{r.volume}",
        is_newest_first=True,
    ),
    Layout(
        form="open-close-high-low",
        file="bitfinex_BTCUSD_1m.csv",
        line=lambda r: f"{r.ms},{r.open},{r.close},{r.high},{r.low},{r.volume}",
    ),
    Layout(
        form="open-close-high-low",
        file="kucoin_BTC-USDT_1m.csv",
        line=lambda r: f"{r.s},{r.open},{r.close},{r.high},{r.low},{r.volume},{r.turnover}",
    ),
    Layout(
        form="trades-side",
        file="trades.csv",
        trade=lambda t: f"{t.ms},{t.price},{t.amount},{t.side}",
        options=_TRADES,
    ),
    Layout(
        form="trades-side-first",
        file="trades.csv",
        trade=lambda t: f"{t.ms},{t.side},{t.price},{t.amount}",
        options=_TRADES,
    ),
    Layout(
        form="freqtrade-trades",
        file="BTC_USDT-trades.csv",
        trade=lambda t: f"{t.ms},{7000 + t.number},,{t.side},{t.price},{t.amount},{t.price * t.amount}",
        options=_TRADES,
    ),
    Layout(
        form="deribit-candles",
        file="deribit.csv",
        head="ticks,open,high,low,close,volume,cost",
        line=lambda r: f"{r.ms},{r.ohlcv},{r.turnover}",
    ),
    Layout(
        form="kraken-trades",
        file="kraken_trades.csv",
        trade=lambda t: f"{t.price},{t.amount},{t.ms / 1000:.9f},{t.side[0]},m,,{7000 + t.number}",
        options=_TRADES,
    ),
    Layout(
        form="poloniex-candles",
        file="poloniex.csv",
        line=lambda r: (
            f"{r.low},{r.high},{r.open},{r.close},{r.turnover},{r.volume},0,0,9,{r.end_ms - 1},{r.close},MINUTE_1,"
            f"{r.ms},{r.end_ms - 1}"
        ),
    ),
    Layout(
        form="poloniex-legacy",
        file="poloniex_BTC_ETH.csv",
        head="date,high,low,open,close,volume,quoteVolume,weightedAverage",
        line=lambda r: f"{r.s},{r.high},{r.low},{r.open},{r.close},{r.turnover},{r.volume},{r.close}",
        candles=rows(interval=HALF_HOUR),
    ),
    Layout(
        form="poloniex-named",
        file="poloniex_named.csv",
        head=_POLONIEX,
        line=lambda r: (
            f"{r.low},{r.high},{r.open},{r.close},{r.turnover},{r.volume},0,0,9,{r.end_ms - 7},{r.close},MINUTE_1,"
            f"{r.ms},{r.end_ms - 1}"
        ),
    ),
    Layout(  # amounts in dollars
        form="deribit-trades",
        file="deribit_trades.csv",
        symbol="BTC-PERPETUAL",
        head=_DERIBIT,
        trade=lambda t: (
            f"{t.number},{7000 + t.number},{t.ms},0,{t.price},1,BTC-PERPETUAL,1,{t.side},{t.price * t.amount}"
        ),
        options=_TRADES,
    ),
    Layout(
        form="tardis-trades",
        file="bitmex_trades_XBTUSD.csv",
        symbol="XBTUSD",
        head="exchange,symbol,timestamp,local_timestamp,id,side,price,amount",
        trade=lambda t: f"bitmex,XBTUSD,{t.ms}000,{t.ms + 7}000,m-{t.number},{t.side},{t.price},{t.price * t.amount}",
        options=_TRADES,
    ),
    Layout(
        form="cryptocompare",
        file="cc_BTC_USD_1h.csv",
        head="time,high,low,open,volumefrom,volumeto,close,conversionType,conversionSymbol",
        line=lambda r: f"{r.s},{r.high},{r.low},{r.open},{r.volume},{r.turnover},{r.close},direct,",
    ),
    Layout(
        form="cryptocompare-table",
        file="bitfinex-1h-btc-usd.csv",
        head="Date,Open,High,Low,Close,VolumeFrom,VolumeTo",
        line=lambda r: f"{r.text('%Y-%m-%d %H:%M:%S')},{r.ohlc},{r.volume},{r.turnover}",
    ),
)
