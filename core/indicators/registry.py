"""How each indicator is named and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from core.indicators.spec import IndicatorKind, IndicatorSpec, Parameter, parameters_of


class Drawing(StrEnum):
    """How an output is drawn."""

    LINE = "line"
    BAND_EDGE = "band edge"
    HISTOGRAM = "histogram"


class Place(StrEnum):
    """Where an indicator is drawn: over the candles, at their prices, or in a pane of its own beneath them."""

    PRICE_PANE = "price pane"
    OWN_PANE = "own pane"


@dataclass(frozen=True, slots=True)
class Output:
    """One row of `IndicatorSeries.values`."""

    name: str
    drawing: Drawing = Drawing.LINE


@dataclass(frozen=True, slots=True)
class IndicatorInfo:
    """All that a dialog, a legend and a pane need to know of a kind.

    `levels` are drawn as fixed lines, `fixed_range` is the pane's whole scale where it has one. `has_price_unit`:
    values are prices or differences of prices, and are written with the market's decimals.
    """

    kind: IndicatorKind
    title: str
    short: str
    words: str
    outputs: tuple[Output, ...]
    place: Place
    has_price_unit: bool = True
    levels: tuple[float, ...] = ()
    fixed_range: tuple[float, float] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What can be set, in a dialog's order."""
        return parameters_of(self.kind)


_INFOS = (
    IndicatorInfo(
        kind=IndicatorKind.SMA,
        title="Simple moving average",
        short="SMA",
        words="The mean of the newest prices.",
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    IndicatorInfo(
        kind=IndicatorKind.EMA,
        title="Exponential moving average",
        short="EMA",
        words="A mean in which a price counts the less the older it is.",
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    IndicatorInfo(
        kind=IndicatorKind.BOLLINGER,
        title="Bollinger bands",
        short="BB",
        words="The mean of the newest prices, and so many standard deviations above and below it.",
        outputs=(Output("upper", Drawing.BAND_EDGE), Output("middle"), Output("lower", Drawing.BAND_EDGE)),
        place=Place.PRICE_PANE,
    ),
    IndicatorInfo(
        kind=IndicatorKind.VWAP,
        title="Volume-weighted average price",
        short="VWAP",
        words="What was paid on average since the session began.",
        outputs=(Output("average"),),
        place=Place.PRICE_PANE,
    ),
    IndicatorInfo(
        kind=IndicatorKind.RSI,
        title="Relative strength index",
        short="RSI",
        words="The share of gains in all changes of the price, in percent.",
        outputs=(Output("strength"),),
        place=Place.OWN_PANE,
        has_price_unit=False,
        levels=(30.0, 70.0),
        fixed_range=(0.0, 100.0),
    ),
    IndicatorInfo(
        kind=IndicatorKind.MACD,
        title="Moving average convergence divergence",
        short="MACD",
        words="How far a fast average lies above a slow one, and how that compares with its own average.",
        outputs=(Output("line"), Output("signal"), Output("histogram", Drawing.HISTOGRAM)),
        place=Place.OWN_PANE,
        levels=(0.0,),
    ),
    IndicatorInfo(
        kind=IndicatorKind.ATR,
        title="Average true range",
        short="ATR",
        words="How far the price usually goes within a candle, jumps since the close before it included.",
        outputs=(Output("range"),),
        place=Place.OWN_PANE,
    ),
)

INDICATORS: Mapping[IndicatorKind, IndicatorInfo] = MappingProxyType({info.kind: info for info in _INFOS})
"""All indicators, in the order in which a menu shows them."""


def label(spec: IndicatorSpec) -> str:
    """The short name with its settings, as ``RSI 14`` or ``EMA 20 hl2``; the source only where it is not the usual."""
    parts = [INDICATORS[spec.kind].short]
    for parameter in parameters_of(spec.kind):
        value = spec.parameters()[parameter.name]
        if parameter.name != "source" or value != parameter.default:
            parts.append(value if isinstance(value, str) else f"{value:g}")
    return " ".join(parts)
