"""One indicator's configuration: its kind and a value for each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.indicators.parameters import IndicatorError, Source, Value
from core.indicators.registry import INDICATORS, Indicator


@dataclass(frozen=True, slots=True)
class IndicatorSpec:
    """A kind and a value for each of its parameters, in their order; make one with `of` or `from_json`."""

    kind: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Raises IndicatorError for an invalid value."""
        row = _row(self.kind)
        if len(row.parameters) != len(self.values):
            raise IndicatorError(f"{self.kind} takes {len(row.parameters)} values, not {len(self.values)}.")
        checked = tuple(parameter.checked(value) for parameter, value in zip(row.parameters, self.values, strict=True))
        object.__setattr__(self, "values", checked)
        if row.objection is not None and (objection := row.objection(self.numbers())):
            raise IndicatorError(objection)

    @classmethod
    def of(cls, kind: str, /, **values: object) -> IndicatorSpec:
        """Make one with these values by name, and defaults for the others. Raises IndicatorError."""
        parameters = _row(kind).parameters
        names = [parameter.name for parameter in parameters]
        for name in values:
            if name not in names:
                raise IndicatorError(f"{kind} has no parameter '{name}'; it has {', '.join(names)}.")
        chosen = (parameter.checked(values.get(parameter.name, parameter.default)) for parameter in parameters)
        return cls(kind, tuple(chosen))

    @classmethod
    def from_json(cls, data: object) -> IndicatorSpec:
        """Read the output of `to_json`; missing values get their default. Raises IndicatorError for anything else."""
        if not isinstance(data, Mapping) or not isinstance(data.get("parameters", {}), Mapping):
            raise IndicatorError(f"An indicator is written as {{'kind': ..., 'parameters': {{...}}}}, not as {data!r}.")
        unknown = [str(key) for key in data if key not in ("kind", "parameters")]
        if unknown:
            raise IndicatorError(f"An indicator has a kind and parameters; '{unknown[0]}' is not known.")
        values = {str(name): value for name, value in data.get("parameters", {}).items()}
        return cls.of(_row(data.get("kind")).kind, **values)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "parameters": self.parameters()}

    def parameters(self) -> dict[str, Value]:
        """The values by name."""
        names = (parameter.name for parameter in INDICATORS[self.kind].parameters)
        return dict(zip(names, self.values, strict=True))

    def numbers(self) -> dict[str, float]:
        """The numeric values by name; a whole one is an int."""
        return {name: value for name, value in self.parameters().items() if not isinstance(value, str)}

    @property
    def source(self) -> Source | None:
        """The candle price that it is computed from; None if there is no choice (VWAP, ATR)."""
        found = self.parameters().get("source")
        return None if found is None else Source(str(found))

    @property
    def label(self) -> str:
        """The short name with its settings, as ``RSI 14`` or ``EMA 20 hl2``; the source only if it is not the
        default."""
        row = INDICATORS[self.kind]
        parts = [row.short]
        for parameter, value in zip(row.parameters, self.values, strict=True):
            if parameter.name != "source" or value != parameter.default:
                parts.append(value if isinstance(value, str) else f"{value:g}")
        return " ".join(parts)


def _row(kind: object) -> Indicator:
    if not isinstance(kind, str) or kind not in INDICATORS:
        raise IndicatorError(f"There is no indicator {kind!r}; there are {', '.join(INDICATORS)}.")
    return INDICATORS[kind]
