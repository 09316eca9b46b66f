"""What an indicator is and how it is set: kinds, their parameters, and one choice of values, as remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

Value = int | float | str


class IndicatorError(ValueError):
    """An indicator cannot be had as asked for. The message is a sentence for the user."""


class IndicatorKind(StrEnum):
    """The indicators there are."""

    SMA = "sma"
    EMA = "ema"
    BOLLINGER = "bollinger"
    VWAP = "vwap"
    RSI = "rsi"
    MACD = "macd"
    ATR = "atr"


class Source(StrEnum):
    """The number of a candle that an indicator is made from."""

    OPEN = "open"
    HIGH = "high"
    LOW = "low"
    CLOSE = "close"
    HL2 = "hl2"
    HLC3 = "hlc3"
    OHLC4 = "ohlc4"


class Anchor(StrEnum):
    """The session, in UTC, at whose beginning VWAP begins anew. A week begins on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that is a number, from `minimum` to `maximum`. `unit` is empty where there is none."""

    name: str
    words: str
    default: int | float
    minimum: int | float
    maximum: int | float
    is_whole: bool = True
    unit: str = "candles"

    def checked(self, value: object) -> int | float:
        """The value, a whole one as an int. Raises IndicatorError where it does not fit."""
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise IndicatorError(f"The {self.words} is a number from {self._range()}, not {value!r}.")
        if not self.minimum <= value <= self.maximum:
            raise IndicatorError(f"The {self.words} was {value}; choose a number from {self._range()}.")
        if not self.is_whole:
            return float(value)
        if value != int(value):
            raise IndicatorError(f"The {self.words} was {value}; choose a whole number from {self._range()}.")
        return int(value)

    def _range(self) -> str:
        return f"{self.minimum} to {self.maximum}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter that is one of a few words."""

    name: str
    words: str
    default: str
    options: tuple[str, ...]

    def checked(self, value: object) -> str:
        """The option. Raises IndicatorError where there is none such."""
        if not isinstance(value, str) or value not in self.options:
            raise IndicatorError(f"The {self.words} is one of {', '.join(self.options)}, not {value!r}.")
        return str(value)


Parameter = Number | Choice

_LONGEST_PERIOD = 5000
_SOURCE = Choice("source", "source", Source.CLOSE.value, tuple(source.value for source in Source))


def _period(default: int, name: str = "period", words: str = "period", minimum: int = 2) -> Number:
    return Number(name, words, default, minimum, _LONGEST_PERIOD)


_PARAMETERS: Mapping[IndicatorKind, tuple[Parameter, ...]] = MappingProxyType(
    {
        IndicatorKind.SMA: (_period(20), _SOURCE),
        IndicatorKind.EMA: (_period(20), _SOURCE),
        IndicatorKind.BOLLINGER: (
            _period(20),
            Number("deviations", "distance of the bands", 2.0, 0.1, 10.0, is_whole=False, unit="standard deviations"),
            _SOURCE,
        ),
        IndicatorKind.VWAP: (Choice("anchor", "session", Anchor.DAY.value, tuple(anchor.value for anchor in Anchor)),),
        IndicatorKind.RSI: (_period(14), _SOURCE),
        IndicatorKind.MACD: (
            _period(12, "fast", "fast period"),
            _period(26, "slow", "slow period", minimum=3),
            _period(9, "signal", "signal period"),
            _SOURCE,
        ),
        IndicatorKind.ATR: (_period(14, minimum=1),),
    }
)


def parameters_of(kind: IndicatorKind) -> tuple[Parameter, ...]:
    """What can be set of this kind, in the order in which a dialog shows it."""
    return _PARAMETERS[kind]


@dataclass(frozen=True, slots=True)
class IndicatorSpec:
    """A kind and a value for each of its parameters, in their order; make one with `of` or `from_json`."""

    kind: IndicatorKind
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Raises IndicatorError where a value does not fit."""
        parameters = parameters_of(self.kind)
        if len(parameters) != len(self.values):
            raise IndicatorError(f"{self.kind.value} takes {len(parameters)} values, not {len(self.values)}.")
        checked = tuple(parameter.checked(value) for parameter, value in zip(parameters, self.values, strict=True))
        object.__setattr__(self, "values", checked)
        if self.kind is IndicatorKind.MACD and self.number("fast") >= self.number("slow"):
            raise IndicatorError(
                f"The fast period of MACD ({self.number('fast')}) must be below the slow one ({self.number('slow')})."
            )

    @classmethod
    def of(cls, kind: IndicatorKind, /, **values: object) -> IndicatorSpec:
        """The kind with these values by name, and defaults for the others. Raises IndicatorError."""
        parameters = parameters_of(kind)
        names = [parameter.name for parameter in parameters]
        for name in values:
            if name not in names:
                raise IndicatorError(f"{kind.value} has no parameter '{name}'; it has {', '.join(names)}.")
        chosen = (parameter.checked(values.get(parameter.name, parameter.default)) for parameter in parameters)
        return cls(kind, tuple(chosen))

    @classmethod
    def from_json(cls, data: object) -> IndicatorSpec:
        """Read what `to_json` wrote; what is left out gets its default. Raises IndicatorError for anything else."""
        if not isinstance(data, Mapping) or not isinstance(data.get("parameters", {}), Mapping):
            raise IndicatorError(f"An indicator is written as {{'kind': ..., 'parameters': {{...}}}}, not as {data!r}.")
        unknown = [str(key) for key in data if key not in ("kind", "parameters")]
        if unknown:
            raise IndicatorError(f"An indicator has a kind and parameters; '{unknown[0]}' is not known.")
        kinds = [kind.value for kind in IndicatorKind]
        if data.get("kind") not in kinds:
            raise IndicatorError(f"There is no indicator {data.get('kind')!r}; there are {', '.join(kinds)}.")
        values = {str(name): value for name, value in data.get("parameters", {}).items()}
        return cls.of(IndicatorKind(data["kind"]), **values)

    def to_json(self) -> dict[str, object]:
        """A plain dict for a JSON file."""
        return {"kind": self.kind.value, "parameters": self.parameters()}

    def parameters(self) -> dict[str, Value]:
        """The values by name."""
        names = (parameter.name for parameter in parameters_of(self.kind))
        return dict(zip(names, self.values, strict=True))

    def number(self, name: str) -> float:
        """A numeric value; a whole one is an int. Raises KeyError where the kind has no such number."""
        value = self.parameters()[name]
        if isinstance(value, str):
            raise KeyError(name)
        return value

    @property
    def source(self) -> Source | None:
        """The number of a candle that it is made from; None where that is not for choice (VWAP, ATR)."""
        found = self.parameters().get("source")
        return None if found is None else Source(str(found))
