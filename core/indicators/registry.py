"""The indicators, one row each, from which dialog, menu, legend, pane, settings and computation follow. A kind is
stored in the settings, so it must never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from core.indicators.parameters import Anchor, Choice, Number, Parameter, Source

Numbers = Mapping[str, float]
"""The numeric parameters by name."""


class Drawing(StrEnum):
    """How an output is drawn."""

    LINE = "line"
    BAND_EDGE = "band edge"
    HISTOGRAM = "histogram"
    DOTS = "dots"


class Place(StrEnum):
    """The pane of an indicator: over the candles, or a separate one below them."""

    PRICE_PANE = "price pane"
    OWN_PANE = "own pane"


class Unit(StrEnum):
    """The unit of its values: prices or price differences, with the market's decimals; volumes, to about three digits;
    or plain numbers."""

    PRICE = "price"
    VOLUME = "volume"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Output:
    """One row of `IndicatorSeries.values`."""

    name: str
    drawing: Drawing = Drawing.LINE


@dataclass(frozen=True, slots=True)
class Call:
    """A function of TA-Lib (https://ta-lib.org/functions/), by its name there.

    inputs: the parts of each candle that it reads: open, high, low, close, volume, or the source that the user chose.
    arguments: its further arguments, in order; a word is the parameter of that name.
    """

    function: str
    inputs: tuple[str, ...] = ("source",)
    arguments: tuple[str | float, ...] = ("period",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator:
    """One row of the table.

    calls: the functions that compute it, their outputs in order; none for those in `series.OUR_OWN`.
    warm_up: how many candles have no value yet, in all outputs. is_scanning: the time for a candle grows with the
    period. scale and shift: an output is scale x TA-Lib's + shift. levels are drawn as fixed lines, fixed_range is the
    pane's whole scale, if any. objection: a sentence if values do not go together, else empty.
    """

    kind: str
    title: str
    short: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    calls: tuple[Call, ...] = ()
    warm_up: Callable[[Numbers], float]
    outputs: tuple[Output, ...]
    place: Place
    unit: Unit = Unit.PRICE
    is_scanning: bool = False
    scale: float = 1.0
    shift: float = 0.0
    levels: tuple[float, ...] = ()
    fixed_range: tuple[float, float] | None = None
    objection: Callable[[Numbers], str] | None = None

    @property
    def inks(self) -> tuple[str, ...]:
        """The outputs with a configurable colour: band edges share the middle line's, bars have the market's."""
        own = (Drawing.LINE, Drawing.DOTS)
        return tuple(output.name for output in self.outputs if output.drawing in own)


_LONGEST_PERIOD = 5000
_LONGEST_SCAN = 500
"""The longest period of functions whose cost per candle grows with it: a million candles take most of a second."""
_SOURCE = Choice("source", "source", Source.CLOSE.value, tuple(source.value for source in Source))
_HIGH_LOW = ("high", "low")
_HIGH_LOW_CLOSE = (*_HIGH_LOW, "close")
_SIMPLE = 0
"""TA-Lib's code of a simple moving average."""
_BANDS = (Output("upper", Drawing.BAND_EDGE), Output("middle"), Output("lower", Drawing.BAND_EDGE))


def _period(default: int, name: str = "period", title: str = "period", minimum: int = 2) -> Number:
    return Number(name, title, default, minimum, _LONGEST_PERIOD)


def _scanned(default: int) -> Number:
    return Number("period", "period", default, 2, _LONGEST_SCAN)


_OVER_PRICES = (
    Indicator(
        kind="sma",
        title="Simple moving average",
        short="SMA",
        description="The mean of the last prices.",
        parameters=(_period(20), _SOURCE),
        calls=(Call("SMA"),),
        warm_up=lambda given: given["period"] - 1,
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    Indicator(
        kind="ema",
        title="Exponential moving average",
        short="EMA",
        description="A mean with exponentially decreasing weights. Faster than SMA.",
        parameters=(_period(20), _SOURCE),
        calls=(Call("EMA"),),
        warm_up=lambda given: given["period"] - 1,
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    Indicator(
        kind="wma",
        title="Weighted moving average",
        short="WMA",
        description="The mean of the last prices, the newest counting most.",
        parameters=(_period(20), _SOURCE),
        calls=(Call("WMA"),),
        warm_up=lambda given: given["period"] - 1,
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    Indicator(
        kind="bollinger",
        title="Bollinger bands",
        short="BB",
        description="The mean of the last prices, with bands a number of standard deviations above and below it.",
        parameters=(
            _period(20),
            Number("deviations", "band distance", 2.0, 0.1, 10.0, False, "standard deviations", 0.1),
            _SOURCE,
        ),
        calls=(Call("BBANDS", arguments=("period", "deviations", "deviations", _SIMPLE)),),
        warm_up=lambda given: given["period"] - 1,
        outputs=_BANDS,
        place=Place.PRICE_PANE,
    ),
    Indicator(
        kind="donchian",
        title="Donchian channel",
        short="DC",
        description="The highest high and the lowest low of the last candles, and their midpoint.",
        parameters=(_scanned(20),),
        calls=(Call("DONCHIAN", _HIGH_LOW),),
        warm_up=lambda given: given["period"] - 1,
        outputs=_BANDS,
        place=Place.PRICE_PANE,
        is_scanning=True,
    ),
    Indicator(
        kind="sar",
        title="Parabolic SAR",
        short="SAR",
        description="Stop and reverse: a trailing stop below a rising market, above a falling one.",
        parameters=(
            Number("acceleration", "acceleration", 0.02, 0.001, 1.0, is_whole=False, unit="", step=0.01),
            Number("maximum", "maximum acceleration", 0.2, 0.001, 1.0, is_whole=False, unit="", step=0.01),
        ),
        calls=(Call("SAR", _HIGH_LOW, ("acceleration", "maximum")),),
        warm_up=lambda _given: 1,
        outputs=(Output("stop", Drawing.DOTS),),
        place=Place.PRICE_PANE,
    ),
    Indicator(
        kind="vwap",
        title="Volume-weighted average price",
        short="VWAP",
        description="The average price paid since the session began.",
        parameters=(Choice("anchor", "session", Anchor.DAY.value, tuple(anchor.value for anchor in Anchor)),),
        warm_up=lambda _given: 0,
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
)
_IN_OWN_PANES = (
    Indicator(
        kind="rsi",
        title="Relative strength index",
        short="RSI",
        description="Momentum, 0 to 100: above 70 overbought, below 30 oversold.",
        parameters=(_period(14), _SOURCE),
        # With the same averages CMO is 100 (gains - losses) / (gains + losses), and 0 without any; TA-Lib's RSI is
        # 0 then, as if all had fallen.
        calls=(Call("CMO"),),
        scale=0.5,
        shift=50.0,
        warm_up=lambda given: given["period"],
        outputs=(Output("strength"),),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        levels=(30.0, 70.0),
        fixed_range=(0.0, 100.0),
    ),
    Indicator(
        kind="macd",
        title="Moving average convergence divergence",
        short="MACD",
        description="A fast average minus a slow one, and its own average, the signal.",
        parameters=(
            _period(12, "fast", "fast period"),
            _period(26, "slow", "slow period", minimum=3),
            _period(9, "signal", "signal period"),
            _SOURCE,
        ),
        calls=(Call("MACD", arguments=("fast", "slow", "signal")),),
        warm_up=lambda given: given["slow"] + given["signal"] - 2,
        outputs=(Output("line"), Output("signal"), Output("histogram", Drawing.HISTOGRAM)),
        place=Place.OWN_PANE,
        levels=(0.0,),
        objection=lambda given: (
            ""
            if given["fast"] < given["slow"]
            else f"The fast period of MACD ({given['fast']}) must be below the slow one ({given['slow']})."
        ),
    ),
    Indicator(
        kind="atr",
        title="Average true range",
        short="ATR",
        description="The average range of a candle, including gaps from the previous close.",
        parameters=(_period(14, minimum=1),),
        calls=(Call("ATR", _HIGH_LOW_CLOSE),),
        warm_up=lambda given: given["period"],
        outputs=(Output("range"),),
        place=Place.OWN_PANE,
    ),
    Indicator(
        kind="stochastic",
        title="Stochastic oscillator",
        short="Stoch",
        description="The close within the range of the last candles, 0 to 100: above 80 overbought, below 20 oversold.",
        parameters=(
            _scanned(14),
            _period(3, "smoothing", "smoothing of %K", minimum=1),
            _period(3, "average", "smoothing of %D", minimum=1),
        ),
        calls=(Call("STOCH", _HIGH_LOW_CLOSE, ("period", "smoothing", _SIMPLE, "average", _SIMPLE)),),
        warm_up=lambda given: given["period"] + given["smoothing"] + given["average"] - 3,
        outputs=(Output("%K"), Output("%D")),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        is_scanning=True,
        levels=(20.0, 80.0),
        fixed_range=(0.0, 100.0),
    ),
    Indicator(
        kind="williams_r",
        title="Williams %R",
        short="%R",
        description="The close within the last candles' range, −100 to 0: above −20 overbought, below −80 oversold.",
        parameters=(_scanned(14),),
        calls=(Call("WILLR", _HIGH_LOW_CLOSE),),
        warm_up=lambda given: given["period"] - 1,
        outputs=(Output("place"),),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        is_scanning=True,
        levels=(-80.0, -20.0),
        fixed_range=(-100.0, 0.0),
    ),
    Indicator(
        kind="cci",
        title="Commodity channel index",
        short="CCI",
        description="Distance of the price from its mean, in units of the usual one: unusual beyond 100 or −100.",
        parameters=(_scanned(20),),
        calls=(Call("CCI", _HIGH_LOW_CLOSE),),
        warm_up=lambda given: given["period"] - 1,
        outputs=(Output("index"),),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        is_scanning=True,
    ),
    Indicator(
        kind="roc",
        title="Rate of change",
        short="ROC",
        description="Percentage change of the price over the last candles.",
        parameters=(_period(10, minimum=1), _SOURCE),
        calls=(Call("ROC"),),
        warm_up=lambda given: given["period"],
        outputs=(Output("change"),),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
    ),
    Indicator(
        kind="adx",
        title="Average directional index",
        short="ADX",
        description="Strength of the trend, 0 to 100: above 25 strong. +DI above -DI: upwards.",
        parameters=(_period(14),),
        calls=tuple(Call(function, _HIGH_LOW_CLOSE) for function in ("ADX", "PLUS_DI", "MINUS_DI")),
        warm_up=lambda given: 2 * given["period"] - 1,
        outputs=(Output("ADX"), Output("+DI"), Output("-DI")),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        levels=(25.0,),
        fixed_range=(0.0, 100.0),
    ),
    Indicator(
        kind="mfi",
        title="Money flow index",
        short="MFI",
        description="RSI weighted by volume, 0 to 100: above 80 overbought, below 20 oversold.",
        parameters=(_period(14),),
        calls=(Call("MFI", (*_HIGH_LOW_CLOSE, "volume")),),
        warm_up=lambda given: given["period"],
        outputs=(Output("flow"),),
        place=Place.OWN_PANE,
        unit=Unit.NUMBER,
        levels=(20.0, 80.0),
        fixed_range=(0.0, 100.0),
    ),
    Indicator(
        kind="obv",
        title="On-balance volume",
        short="OBV",
        description="The volume of rising minus falling candles. Its direction matters, not its level.",
        parameters=(),
        calls=(Call("OBV", ("close", "volume"), ()),),
        warm_up=lambda _given: 0,
        outputs=(Output("balance"),),
        place=Place.OWN_PANE,
        unit=Unit.VOLUME,
    ),
)

INDICATORS: Mapping[str, Indicator] = MappingProxyType({row.kind: row for row in (*_OVER_PRICES, *_IN_OWN_PANES)})
"""All indicators by kind, in menu order: those over the candles first."""
