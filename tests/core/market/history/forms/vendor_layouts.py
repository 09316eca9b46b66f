"""How vendors, terminals and programs lay out their files: rows for `core.market.history.forms.vendors`."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from core.market.history.candle_table import ReadOptions
from core.market.history.forms.form import Stamp
from tests.core.market.history.forms.layouts import (
    DAY,
    FIVE_MINUTES,
    HALF_HOUR,
    HOUR,
    MINUTE,
    Layout,
    Row,
    rows,
)

NEW_YORK = "America/New_York"
_US = "%m/%d/%Y"
_IN_NEW_YORK = ReadOptions(zone=ZoneInfo(NEW_YORK))
_IN_ATHENS = ReadOptions(zone=ZoneInfo("Europe/Athens"))
_STOOQ = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>"
_MT5 = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>"
_CMC = "timeOpen;timeClose;timeHigh;timeLow;name;open;high;low;close;volume;marketCap;circulatingSupply;timestamp"
_AKSHARE = "日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅,涨跌幅,涨跌额,换手率"


def _ms(zone: str, *parts: int) -> int:
    return round(datetime(*parts, tzinfo=ZoneInfo(zone)).timestamp() * 1000)  # type: ignore[misc,arg-type]


def _whole(row: Row, factor: float) -> str:
    return ",".join(str(round(price * factor)) for price in (row.open, row.high, row.low, row.close))


def _cmc(row: Row) -> str:
    day = row.text("%Y-%m-%d")
    times = f'"{day}T00:00:00.000Z";"{day}T23:59:59.999Z";"{day}T12:00:00.000Z";"{day}T06:00:00.000Z"'
    return f'{times};"2781";{row.ohlcv.replace(",", ";")};1;1;"{day}T23:59:59.999Z"'


_SHANGHAI_MS = _ms("Asia/Shanghai", 2024, 6, 18, 9, 30)
_NASDAQ_MS = _ms(NEW_YORK, 2024, 1, 16, 9, 30)
_MARCH_OR_APRIL_MS = _ms(NEW_YORK, 2024, 3, 4, 9, 30)
"""03/04/2024: nothing but the form tells which is the month."""
_MIDNIGHT_MS = _ms("UTC", 2018, 4, 6)
_LEAN_DAY_MS = _ms(NEW_YORK, 2014, 6, 5)

VENDOR_LAYOUTS = (
    Layout(
        form="stooq-pl",
        file="btcpln_d.csv",
        head="Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen",
        line=lambda r: f"{r.text('%Y-%m-%d')},{r.ohlcv}",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="investing-de",
        file="BTC_EUR Historische Daten.csv",
        head='"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"',
        line=lambda r: ",".join(
            f'"{cell}"'.replace(".", ",") if place else f'"{cell}"'
            for place, cell in enumerate(
                (r.text("%d.%m.%Y"), r.close, r.open, r.high, r.low, f"{r.volume / 1000:.4f}K", "0.10%")
            )
        ),
        candles=rows(interval=DAY),
    ),
    Layout(
        form="ariva",
        file="wkn_BASF11_historic.csv",
        head="Datum;Erster;Hoch;Tief;Schlusskurs;Stuecke;Volumen",
        line=lambda r: f"{r.text('%Y-%m-%d')};{r.ohlcv.replace(',', ';').replace('.', ',')};9",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="boursorama",
        file="AIRBUS.txt",
        head="date\touv\thaut\tbas\tclot\tvol\tdevise\t",
        line=lambda r: f"{r.text('%d/%m/%Y %H:%M')}\t{r.ohlcv}\tEUR\t".replace(",", "\t"),
        candles=rows(interval=DAY),
    ),
    Layout(
        form="metastock",
        file="aapl.txt",
        symbol="AAPL",
        head="<TICKER>,<PER>,<DTYYYYMMDD>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>",
        line=lambda r: f"AAPL,I,{r.text('%Y%m%d,%H%M', NEW_YORK)},{r.ohlcv},0",
        options=_IN_NEW_YORK,
    ),
    Layout(
        form="metastock-lines",
        file="aapl_lines.txt",
        symbol="AAPL",
        line=lambda r: f"AAPL,D,{r.text('%Y%m%d')},000000,{r.ohlcv},0",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="sierra-ticks",
        file="ES_ticks.txt",
        head="Date, Time, Open, High, Low, Last, Volume, NumberOfTrades",
        trade=lambda t: (
            f"{t.text('%Y/%m/%d, %H:%M:%S')}.000000, 0, {t.price + 0.25}, {t.price - 0.25}, {t.price}, {t.amount}, 1"
        ),
        options=ReadOptions(interval=MINUTE),
    ),
    Layout(
        form="coinmarketcap",
        file="Bitcoin_historical_data_coinmarketcap.csv",
        head=_CMC,
        line=_cmc,
        candles=rows(interval=DAY),
        is_newest_first=True,
    ),
    Layout(
        form="coinmarketcap-kaggle",
        file="coin_Bitcoin.csv",
        symbol="BTC",
        head="SNo,Name,Symbol,Date,High,Low,Open,Close,Volume,Marketcap",
        line=lambda r: (
            f"{r.number + 1},Bitcoin,BTC,{r.text('%Y-%m-%d')} 23:59:59,{r.high},{r.low},{r.open},{r.close},{r.volume},1"
        ),
        candles=rows(interval=DAY),
    ),
    Layout(
        form="coingecko",
        file="coingecko_bitcoin_ohlc.csv",
        line=lambda r: f"{r.end_ms},{r.ohlc}",
        candles=rows(interval=HALF_HOUR),
        volume=lambda r: 0.0,
    ),
    Layout(
        form="googlefinance",
        file="GOOG.csv",
        head="Date,Open,High,Low,Close,Volume",
        line=lambda r: f"{r.text('%-m/%-d/%Y')} {'13' if r.number == 9 else '16'}:00:00,{r.ohlcv}",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="yahoo-crypto",
        file="BTC-USD.csv",
        head="Date,Open,High,Low,Close,Adj Close,Volume",
        line=lambda r: f"{r.text('%Y-%m-%d')},{r.ohlc},{r.close},{r.turnover}",
        candles=rows(interval=DAY),
        volume=lambda r: r.turnover,
    ),
    Layout(
        form="date-clock",
        file="EP_1.csv",
        line=lambda r: f"{r.text('%Y%m%d,%H%M')},{r.ohlcv},9",
        candles=rows(start_ms=_ms("UTC", 2024, 3, 4, 14, 30)),
    ),
    Layout(
        form="echarts",
        file="echarts.csv",
        line=lambda r: f"{r.text('%Y/%m/%d')},{r.open},{r.close},{r.low},{r.high},{r.volume}",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="open-close-high-low",
        file="600977_eastmoney.csv",
        line=lambda r: f"{r.text('%Y-%m-%d')},{r.open},{r.close},{r.high},{r.low},{r.volume},{r.turnover}",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="nasdaq",
        file="HistoricalData_1.csv",
        head="Date,Close/Last,Volume,Open,High,Low",
        line=lambda r: f"{r.text(_US)},${r.close},{r.volume},${r.open},${r.high},${r.low}",
        candles=rows(count=12, interval=DAY),  # from 03/01 to 03/12: nothing but the form tells which is the month
        is_newest_first=True,
    ),
    Layout(
        form="barchart",
        file="AAPL_Barchart_Interactive_Chart.csv",
        head="Time,Open,High,Low,Last,Change,%Chg,Volume",
        line=lambda r: f"{r.text('%m/%d/%Y %H:%M', 'America/Chicago')},{r.ohlc},0.1,0.1%,{r.volume}",
        candles=rows(start_ms=_MARCH_OR_APRIL_MS),
        is_newest_first=True,
    ),
    Layout(
        form="histdata-ascii",
        file="DAT_ASCII_EURUSD_M1_202403.csv",
        line=lambda r: f"{r.text('%Y%m%d %H%M%S', 'Etc/GMT+5')},{r.ohlc},0".replace(",", ";"),
        volume=lambda r: 0.0,
    ),
    Layout(
        form="histdata-mt",
        file="DAT_MT_EURUSD_M1_202403.csv",
        line=lambda r: f"{r.text('%Y.%m.%d,%H:%M', 'Etc/GMT+5')},{r.ohlc},0",
        volume=lambda r: 0.0,
    ),
    Layout(
        form="ninjatrader",
        file="ES 03-24.Last.txt",
        line=lambda r: f"{r.end('%Y%m%d %H%M%S')},{r.ohlcv}".replace(",", ";"),
    ),
    Layout(
        form="metatrader4",
        file="EURUSD1.csv",
        line=lambda r: f"{r.text('%Y.%m.%d,%H:%M', 'Europe/Athens')},{r.ohlcv}",
        options=_IN_ATHENS,
    ),
    Layout(
        form="metatrader5",
        file="EURUSD_M1.csv",
        head=_MT5,
        line=lambda r: f"{r.text('%Y.%m.%d,%H:%M:%S', 'Europe/Athens')},{r.ohlcv},0,3".replace(",", "\t"),
        options=_IN_ATHENS,
    ),
    Layout(
        form="metatrader5",
        file="EURUSD_Daily.csv",
        head=_MT5.replace("<TIME>\t", ""),
        line=lambda r: f"{r.text('%Y.%m.%d')},{r.ohlcv},0,3".replace(",", "\t"),
        candles=rows(interval=DAY),
    ),
    Layout(
        form="kibot",
        file="AAPL.txt",
        line=lambda r: f"{r.text('%m/%d/%Y,%H:%M', NEW_YORK)},{r.ohlcv}",
        candles=rows(start_ms=_ms(NEW_YORK, 2024, 1, 2, 9, 30)),
    ),
    Layout(
        form="strategyquant",
        file="EURUSD_M1_sq.csv",
        line=lambda r: f"{r.text('%Y%m%d,%H:%M:%S')},{r.ohlcv}",
    ),
    Layout(
        form="tradestation",
        file="@ES_1min.txt",
        head='"Date","Time","Open","High","Low","Close","Up","Down"',
        line=lambda r: f"{r.end('%m/%d/%Y,%H:%M', NEW_YORK)},{r.ohlc},{r.volume / 4},{r.volume * 3 / 4}",
        candles=rows(start_ms=_MARCH_OR_APRIL_MS),
        options=_IN_NEW_YORK,
    ),
    Layout(
        form="tradestation-short",
        file="@ES_hhmm.txt",
        head='"Date","Time",O,H,L,"Close","Volume","OpenInt"',
        line=lambda r: f"{r.end('%m/%d/%Y,%H%M', NEW_YORK)},{r.ohlcv},0",
        candles=rows(start_ms=_MARCH_OR_APRIL_MS),
        options=_IN_NEW_YORK,
    ),
    Layout(
        form="tradestation-oi",
        file="@ES_d.txt",
        head='"Date","Time","Open","High","Low","Close","Vol","OI"',
        line=lambda r: f"{r.text(_US)},17:00,{r.ohlcv},9",
        candles=[row for row in rows(interval=DAY) if row.number % 7 not in (1, 2)],  # without weekends
    ),
    Layout(
        form="tradestation-oi",
        file="@ES_1min_oi.txt",
        head='"Date","Time","Open","High","Low","Close","Vol","OI"',
        line=lambda r: f"{r.end('%m/%d/%Y,%H:%M', NEW_YORK)},{r.ohlcv},9",
        candles=rows(start_ms=_MARCH_OR_APRIL_MS),
        options=_IN_NEW_YORK,
    ),
    Layout(
        form="multicharts",
        file="mc.txt",
        head="<Date>, <Time>, <Open>, <High>, <Low>, <Close>, <Volume>",
        line=lambda r: f"{r.end('%m/%d/%Y,%H:%M:%S', NEW_YORK)},{r.ohlcv}",
        candles=rows(start_ms=_MARCH_OR_APRIL_MS),
        options=_IN_NEW_YORK,
    ),
    Layout(
        form="backtrader",
        file="2006-min-005.txt",
        head="Date,Time,Open,High,Low,Close,Volume,OpenInterest",
        line=lambda r: f"{r.end('%Y-%m-%d,%H:%M:%S', 'Europe/Berlin')},{r.ohlcv},0",
        candles=rows(interval=FIVE_MINUTES),
        options=ReadOptions(zone=ZoneInfo("Europe/Berlin"), stamp=Stamp.END),
    ),
    Layout(
        form="stooq",
        file="aapl5.us.txt",
        symbol="AAPL.US",
        head=_STOOQ,
        line=lambda r: f"AAPL.US,5,{r.text('%Y%m%d,%H%M%S', 'Europe/Warsaw')},{r.ohlcv},0",
        candles=rows(interval=FIVE_MINUTES),
    ),
    Layout(
        form="stooq",
        file="aapl.us.txt",
        symbol="AAPL.US",
        head=_STOOQ,
        line=lambda r: f"AAPL.US,D,{r.text('%Y%m%d')},000000,{r.ohlcv},0",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="finam",
        file="SBER.csv",
        symbol="SBER",
        head="<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>",
        line=lambda r: f"SBER,1,{r.text('%Y%m%d,%H%M%S', 'Europe/Moscow')},{r.ohlcv}".replace(",", ";"),
    ),
    Layout(  # times of day that would be moments of 1970
        form="forextester",
        file="EURUSD_040324.txt",
        symbol="EURUSD",
        head="<TICKER>,<DTYYYYMMDD>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>",
        line=lambda r: f"EURUSD,{r.text('%Y%m%d,%H%M00')},{r.ohlcv}",
        candles=rows(start_ms=_ms("UTC", 2024, 3, 4, 10)),
    ),
    Layout(
        form="alphavantage",
        file="intraday_1min_AAPL.csv",
        head="timestamp,open,high,low,close,volume",
        line=lambda r: f"{r.text('%Y-%m-%d %H:%M:%S', NEW_YORK)},{r.ohlcv}",
        candles=rows(start_ms=_NASDAQ_MS),
        is_newest_first=True,
    ),
    Layout(
        form="alphavantage-json",
        file="av.csv",
        head="time,1. open,2. high,3. low,4. close,5. volume",
        line=lambda r: f"{r.text('%Y-%m-%d %H:%M:%S', NEW_YORK)},{r.ohlcv}",
        candles=rows(start_ms=_NASDAQ_MS),
    ),
    Layout(
        form="databento",
        file="glbx.ohlcv-1m.csv",
        symbol="ESH4",
        head="ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol",
        line=lambda r: f"{r.ms}000000,33,1,7,{_whole(r, 1e9)},{r.volume},ESH4",
    ),
    Layout(
        form="databento",
        file="pretty.csv",
        symbol="ESH4",
        head="ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol",
        line=lambda r: f"{r.text('%Y-%m-%dT%H:%M:%S.000000000Z')},33,1,7,{r.ohlcv},ESH4",
    ),
    Layout(
        form="lean-crypto",
        file="20180406_btcusd_minute_trade.csv",
        line=lambda r: f"{r.ms - _MIDNIGHT_MS},{r.ohlcv}",
        candles=rows(start_ms=_MIDNIGHT_MS),
    ),
    Layout(
        form="lean-equity",
        file="20140605_aapl_minute_trade.csv",
        line=lambda r: f"{r.ms - _LEAN_DAY_MS},{_whole(r, 1e4)},{r.volume}",
        candles=rows(start_ms=_ms(NEW_YORK, 2014, 6, 5, 9, 30)),
    ),
    Layout(
        form="lean-equity-bars",
        file="aapl.csv",
        line=lambda r: f"{r.text('%Y%m%d %H:%M', NEW_YORK)},{_whole(r, 1e4)},{r.volume}",
        candles=rows(interval=HOUR),
    ),
    Layout(
        form="lean-equity-bars",
        file="aapl_daily.csv",
        line=lambda r: f"{r.text('%Y%m%d 00:00')},{_whole(r, 1e4)},{r.volume}",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="dukascopy-eet",
        file="EURUSD_1 Min_Bid.csv",
        head="Time (EET),Open,High,Low,Close,Volume ",
        line=lambda r: f"{r.text('%Y.%m.%d %H:%M:%S', 'Europe/Athens')},{r.ohlcv}",
    ),
    Layout(
        form="kronos",
        file="XSHG_5min.csv",
        head="timestamps,open,high,low,close,volume,amount",
        line=lambda r: f"{r.end('%Y-%m-%d %H:%M:%S', 'Asia/Shanghai')},{r.ohlcv},{r.turnover}",
        candles=rows(count=24, interval=FIVE_MINUTES, start_ms=_SHANGHAI_MS),
    ),
    Layout(
        form="baostock",
        file="sh.600000_5.csv",
        head="date,time,code,open,high,low,close,volume,amount,adjustflag",
        line=lambda r: f"{r.end('%Y-%m-%d,%Y%m%d%H%M%S000', 'Asia/Shanghai')},sh.600000,{r.ohlcv},{r.turnover},3",
        candles=rows(count=24, interval=FIVE_MINUTES, start_ms=_SHANGHAI_MS),
    ),
    Layout(
        form="baostock",
        file="sh.600000.csv",
        head="date,code,open,high,low,close,preclose,volume,amount,adjustflag,turn,tradestatus,pctChg,isST",
        line=lambda r: f"{r.text('%Y-%m-%d')},sh.600000,{r.ohlc},1,{r.volume},{r.turnover},3,1,1,1,0",
        candles=rows(interval=DAY),
    ),
    Layout(
        form="sina",
        file="sh600519_1m.csv",
        head=",day,open,high,low,close,volume",
        line=lambda r: f"{r.number},{r.end('%Y-%m-%d %H:%M:%S', 'Asia/Shanghai')},{r.ohlcv}",
        candles=rows(count=24, interval=FIVE_MINUTES, start_ms=_SHANGHAI_MS),
    ),
    Layout(  # volumes in lots of 100
        form="akshare",
        file="600519.csv",
        symbol="600519",
        head=_AKSHARE,
        line=lambda r: (
            f"{r.text('%Y-%m-%d')},600519,{r.open},{r.close},{r.high},{r.low},{r.volume},{100 * r.turnover},1,1,1,1"
        ),
        candles=rows(interval=DAY),
        volume=lambda r: 100 * r.volume,
    ),
    Layout(
        form="tushare",
        file="000001.SZ.csv",
        symbol="000001.SZ",
        head=",ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount",
        line=lambda r: f"{r.number},000001.SZ,{r.text('%Y%m%d')},{r.ohlc},1,1,1,{r.volume},{r.turnover / 10}",
        candles=rows(interval=DAY),
        is_newest_first=True,
        volume=lambda r: 100 * r.volume,
    ),
    Layout(
        form="joinquant",
        file="600519.XSHG.csv",
        head=",open,close,high,low,volume,money",
        line=lambda r: (
            f"{r.end('%Y-%m-%d %H:%M:%S', 'Asia/Shanghai')},{r.open},{r.close},{r.high},{r.low},{r.volume},{r.turnover}"
        ),
        candles=rows(start_ms=_SHANGHAI_MS),
    ),
)
