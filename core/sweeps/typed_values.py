"""The values of a setting as a person types them: a list, ``32, 64``, or a range, ``0.0001 to 0.01 in 5, log``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from core.settings.faults import sentence_of
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from core.sweeps.errors import SweepError
from core.sweeps.plan import Scalar, SettingRange, Values, plan_of, shown

GROUPS = ("model", "training", "online", "gradients", "recovery")
"""Groups of settings that can change a forecast."""
_OF_SWEEPS = frozenset(
    {
        *("training.seed", "training.device", "training.host", "training.start_from", "training.threads"),
        *("model.challengers", "model.name"),
    }
)
"""Other fields of a plan have them, or they are the same in all cells."""
_RANGE = re.compile(
    r"(?P<start>\S+)\s+to\s+(?P<stop>\S+?)(?:\s+in\s+(?P<steps>\d+)(?:\s+steps)?)?(?P<log>\s*,?\s+log)?", re.IGNORECASE
)
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def sweepable() -> dict[str, FieldInfo]:
    """The settings that a sweep may vary, by their dotted keys."""
    infos = {
        f"{group}.{name}": info
        for group in GROUPS
        for name, info in all_field_infos(type(getattr(Settings(), group))).items()
    }
    return {
        key: info for key, info in infos.items() if key not in _OF_SWEEPS and get_origin(info.annotation) is not tuple
    }


def read_values(key: str, text: str, *, needs_steps: bool = True) -> Values:
    """Raises ValueError with a sentence. needs_steps: of a range in a grid."""
    typed = text.strip()
    info = sweepable()[key]
    if found := _RANGE.fullmatch(typed):
        return _range(info, found, needs_steps)
    values = tuple(_scalar(info, each) for each in _SEPARATOR.split(typed) if each)
    if not values:
        raise ValueError("type one value or several, such as 32, 64, or a range, such as 16 to 64 in 4")
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{shown(twice)} is there twice; name each value once")
    return values


def values_text(values: Values) -> str:
    """What `read_values` reads as these values."""
    if not isinstance(values, SettingRange):
        return ", ".join(map(_word, values))
    steps = "" if values.steps is None else f" in {values.steps}"
    return f"{_word(values.start)} to {_word(values.stop)}{steps}{', log' * (values.scale == 'log')}"


def values_data(values: Values) -> Any:
    """Plain data, as `plan_of` takes it."""
    if not isinstance(values, SettingRange):
        return list(values)
    return {"from": values.start, "to": values.stop, "steps": values.steps, "scale": values.scale}


def read_seeds(text: str) -> tuple[int, ...]:
    """``0, 1, 2`` or ``0 to 4``. Raises ValueError with a sentence."""
    if found := re.fullmatch(r"\s*(\d+)\s+to\s+(\d+)\s*", text):
        first, last = map(int, found.groups())
        if not 0 <= last - first < 1000:
            raise ValueError("seeds from the smaller to the larger, at most 1,000 of them")
        return tuple(range(first, last + 1))
    try:
        return tuple(int(each) for each in _SEPARATOR.split(text.strip()) if each)
    except ValueError:
        raise ValueError("type whole numbers, such as 0, 1, 2, or 0 to 4") from None


def _range(info: FieldInfo, found: re.Match[str], needs_steps: bool) -> SettingRange:
    if needs_steps and found["steps"] is None:
        raise ValueError(f"a range needs its number of values, such as {found[0].strip()} in 4")
    start, stop = _scalar(info, found["start"]), _scalar(info, found["stop"])
    if isinstance(start, bool | str) or isinstance(stop, bool | str):
        raise ValueError("only numbers have a range; name each value")
    scale = "log" if found["log"] else "linear"
    steps = None if found["steps"] is None else int(found["steps"])
    return _checked_range({"from": start, "to": stop, "steps": steps, "scale": scale})


def _checked_range(data: dict[str, Any]) -> SettingRange:
    try:
        values = plan_of({"files": ["x"], "settings": {"x": data}}).settings["x"]
    except SweepError as error:
        raise ValueError(str(error).rpartition("x: ")[2].rstrip(".")) from error
    assert isinstance(values, SettingRange)
    return values


def _scalar(info: FieldInfo, text: str) -> Scalar:
    """One value in the setting's type and range."""
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[(info.annotation, Field(), *info.metadata)])  # type: ignore[arg-type]
    try:
        value: Scalar = adapter.validate_python(text)
    except ValidationError as error:
        raise ValueError(sentence_of(error.errors()[0])) from error
    return value


def _word(value: Scalar) -> str:
    """A number without an exponent, and with all of its digits."""
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def words_of(info: FieldInfo) -> Sequence[str]:
    """The choices of a setting that has some: all of them make its values."""
    if info.annotation is bool:
        return ("false", "true")
    return [str(each) for each in get_args(info.annotation)] if get_origin(info.annotation) is not None else []
