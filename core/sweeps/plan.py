"""The plan of a sweep, as SWEEP.toml has it: files, models, settings and seeds, and how their cells are chosen."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass as plain_dataclass
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic.dataclasses import dataclass

from core.settings.devices import DeviceName
from core.settings.faults import sentence_of, shown_value
from core.settings.group import CONFIG
from core.sweeps.errors import SweepError

Scalar = bool | int | float | str
"""A value of a setting."""
NamedValues = tuple[tuple[str, Scalar], ...]
"""Settings by their dotted keys, in the plan's order."""
MOST_STEPS = 1000
MAIN_MODEL = "transformer"
"""As a model of a sweep: the main model without a challenger. Any other is its one challenger."""


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class SettingRange:
    """A range of numbers, both ends included: whole numbers if both ends are.

    steps: how many values a grid takes; a random or guided search draws from all of them.
    """

    start: int | float = Field(validation_alias="from")
    stop: int | float = Field(validation_alias="to")
    steps: int | None = Field(default=None, ge=2, le=MOST_STEPS)
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _ascends(self) -> SettingRange:
        if not self.start < self.stop:
            raise ValueError(f"a range ascends, and {self.start:g} is not below {self.stop:g}")
        if self.scale == "log" and self.start <= 0:
            raise ValueError(f"a range with scale = 'log' begins above 0, and this one at {self.start:g}")
        return self

    @property
    def is_whole(self) -> bool:
        return isinstance(self.start, int) and isinstance(self.stop, int)

    def values(self) -> tuple[Scalar, ...]:
        """The values of a grid, each once. Raises SweepError without `steps`."""
        if self.steps is None:
            raise SweepError(f"A range in a grid needs steps, as in {_EXAMPLE}. Add them.")
        shares = [place / (self.steps - 1) for place in range(self.steps)]
        return tuple(dict.fromkeys(self.at(share) for share in shares))

    def at(self, share: float) -> Scalar:
        """The value at this share of the way, from 0 to 1; the ends exactly."""
        if share in (0.0, 1.0):
            return self.stop if share else self.start
        if self.scale == "log":
            value = self.start * (self.stop / self.start) ** share
        else:
            value = self.start + (self.stop - self.start) * share
        return round(value) if self.is_whole else float(f"{value:.12g}")


Values = tuple[Scalar, ...] | SettingRange
"""The values of one setting: a list, or a range."""


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class SweepPlan:
    """What a sweep computes. Every configuration (model and settings) meets every file and every seed."""

    files: Annotated[tuple[str, ...], Field(min_length=1)]
    """Globs, relative to the plan's folder."""
    models: Annotated[tuple[str, ...], Field(min_length=1)] = (MAIN_MODEL,)
    """Names as for --model; see `MAIN_MODEL`."""
    settings: dict[str, Values] = Field(default_factory=dict)
    """By dotted keys of the settings tree. One value: the same in every cell."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, le=2**63 - 1)], ...], Field(min_length=1)] = (0,)
    together: bool = False
    """One model learns all files; else each file alone."""
    candles: int | None = Field(default=None, ge=1)
    """Only the first candles of each file."""
    first_part: Annotated[float, Field(gt=0.0, lt=1.0)] | str = 0.5
    """The part of each file on which a winner is chosen; the rest judges it. A share of the judged candles, or the
    date (UTC) at which the second part begins."""
    random: int | None = Field(default=None, ge=1, le=100_000)
    """So many configurations drawn at random, instead of a grid."""
    budget: int | None = Field(default=None, ge=1, le=100_000)
    """So many configurations proposed by Optuna, instead of a grid."""
    batch: int = Field(default=8, ge=1, le=1000)
    """So many configurations Optuna proposes at once, before it learns their skills: the same ones, however many
    workers there are."""
    sampler: Literal["tpe", "random", "qmc"] = "tpe"
    storage: Literal["journal", "sqlite"] = "journal"
    """Of Optuna's study, in the sweep's folder."""
    search_seed: int = Field(default=0, ge=0, le=2**32 - 1)
    """Of the random or guided search."""
    device: DeviceName = "cpu"
    """Of every cell. With auto two machines would give different bytes, so it is not allowed."""

    @field_validator("device")
    @classmethod
    def _is_named(cls, device: str) -> str:
        if device == "auto":
            raise ValueError("name the device of all cells, cpu or cuda: on auto their bytes would differ by machine")
        return device

    @model_validator(mode="after")
    def _names_each_once(self) -> SweepPlan:
        for name, values in (("models", self.models), ("seeds", self.seeds)):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise ValueError(f"{name} has {twice} twice; name each once")
        if self.random is not None and self.budget is not None:
            raise ValueError("random and budget exclude each other: the first draws, the second asks Optuna")
        return self

    @property
    def varied(self) -> tuple[str, ...]:
        """The settings with more than one value."""
        return tuple(
            key for key, values in self.settings.items() if isinstance(values, SettingRange) or len(values) > 1
        )


@plain_dataclass(frozen=True, slots=True)
class SweepFile:
    """A candle file of a sweep. name: unique in it. split_ms: the opening time of the first candle of the second
    part."""

    name: str
    path: str
    sha256: str
    interval_ms: int
    candles: int
    split_ms: int


@plain_dataclass(frozen=True, slots=True)
class Configuration:
    """What a sweep compares: a model with settings. number: from 1, in the order in which they were chosen."""

    number: int
    model: str
    settings: NamedValues
    is_default: bool = False
    """Whether it is the one against which the others are compared: the main model with the user's settings, else the
    first."""

    @property
    def text(self) -> str:
        """``gru, model.width 32``"""
        return ", ".join([self.model, *(f"{key} {shown(value)}" for key, value in self.settings)])


@plain_dataclass(frozen=True, slots=True)
class Cell:
    """One evaluation: a configuration on a file (or all, together) with a seed. number: from 1."""

    number: int
    configuration: Configuration
    files: tuple[SweepFile, ...]
    seed: int


def shown(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


_ADAPTER, _RANGES = TypeAdapter(SweepPlan), TypeAdapter(SettingRange)
_EXAMPLE = "{ from = 16, to = 64, steps = 4 }"


def read_plan(path: Path) -> SweepPlan:
    """Raises SweepError with the fault and the next step."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise SweepError(
            f"There is no file {path}. Name the plan of the sweep, as docs/sweeps.md describes."
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SweepError(f"{path} cannot be read as TOML ({error}). Correct it, and try again.") from error
    return plan_of(data, path.name)


def plan_of(data: Mapping[str, Any], name: str = "The plan") -> SweepPlan:
    """The plan from its plain data, also from `plan_data`. Raises SweepError."""
    settings = data.get("settings", {})
    if not isinstance(settings, Mapping):
        raise SweepError(f"{name} is not right. settings is a table of keys and values.")
    values = {key: _values_of(value, f"{name} is not right. {key}:") for key, value in _flattened(settings)}
    lists = {key: _listed(data[key]) for key in ("files", "models", "seeds") if key in data}
    with _explained(f"{name} is not right."):
        return _ADAPTER.validate_python({**data, **lists, **_dated(data), "settings": values})


def plan_data(plan: SweepPlan) -> dict[str, Any]:
    """Plain data, fit for JSON and for `plan_of`."""
    data: dict[str, Any] = _ADAPTER.dump_python(plan, mode="json")
    for key, values in plan.settings.items():
        if isinstance(values, SettingRange):
            ends = {"from": values.start, "to": values.stop, "steps": values.steps, "scale": values.scale}
            data["settings"][key] = ends
    return data


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys of TOML are nested tables; those with an end of a range are values."""
    for key, value in table.items():
        if isinstance(value, Mapping) and not value.keys() & {"from", "to"}:
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _values_of(given: Any, fault: str) -> Values:
    """fault: how a sentence about them begins."""
    if isinstance(given, Mapping):
        with _explained(fault):
            return _RANGES.validate_python(given)
    values = _listed(given)
    if not values:
        raise SweepError(f"{fault} there is no value. Give a list of values, or a range as {_EXAMPLE}.")
    for value in values:
        is_value = isinstance(value, Scalar) and not (isinstance(value, float) and not isfinite(value))
        if not is_value or values.count(value) > 1:
            why = "is there twice; name each value once" if is_value else "is no value of a setting"
            raise SweepError(f"{fault} {shown_value(value)} {why}.")
    return tuple(values)


@contextmanager
def _explained(fault: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        problem = error.errors()[0]
        where = next((f" {part}:" for part in problem["loc"] if isinstance(part, str)), "")
        raise SweepError(f"{fault}{where} {sentence_of(problem)}.") from error


def _dated(data: Mapping[str, Any]) -> dict[str, Any]:
    """A date in TOML needs no quotes; a time of day makes it a datetime, which is a date too."""
    first_part = data.get("first_part")
    return {"first_part": first_part.isoformat()} if isinstance(first_part, date) else {}


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
