"""Common configuration of all settings groups."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, TypeVar, cast

from pydantic import ConfigDict, Field
from pydantic.fields import FieldInfo

CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
"""The configuration of the settings' dataclasses: no unknown keys, no NaN and no infinity."""

OWN_DIALOG: dict[str, Any] = {"has_own_dialog": True}
"""Marks a setting that is changed at its place of use, not in the Preferences."""

SECRET: dict[str, Any] = {"is_secret": True}
"""Marks a setting that is written to the settings file alone, and not shown while nobody edits it."""

VenueId = Annotated[str, Field(pattern=r"^[a-z0-9_]{2,40}$")]
"""An exchange's ccxt id."""

_UNITS = {f"_{unit}": unit for unit in ("bp", "candles", "days", "ms", "samples", "steps")}
_UNITS |= {"_hours": "h", "_minutes": "min", "_percent": "%", "_seconds": "s"}
"""Units by the end of a setting's name."""

T = TypeVar("T")


def setting(
    default: T,
    title: str,
    description: str,
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    unit: str = "",
    examples: tuple[str, ...] = (),
    has_own_dialog: bool = False,
    is_secret: bool = False,
) -> T:
    """One setting: file, validation, Preferences, search, translation and docs follow from it.

    ge, gt, le, lt: the ends of its range, as in pydantic. unit: needed only if the name does not end with it.
    examples: values that a form offers beside a free text.
    """
    ends: dict[str, Any] = {"ge": ge, "gt": gt, "le": le, "lt": lt}
    marks: dict[str, Any] = {"unit": unit, "has_own_dialog": has_own_dialog, "is_secret": is_secret}
    ends = {name: end for name, end in ends.items() if end is not None}
    marks = {name: mark for name, mark in marks.items() if mark}
    ends |= {"examples": list(examples)} if examples else {}
    info = Field(default=default, title=title, description=description, json_schema_extra=marks or None, **ends)
    return cast(T, info)


def all_field_infos(group: type) -> dict[str, FieldInfo]:
    """The fields of a settings class in their order, also those with a separate dialog."""
    described = cast(dict[str, FieldInfo], vars(group)["__pydantic_fields__"])
    return {field.name: described[field.name] for field in fields(group)}


def unit_of(name: str, info: FieldInfo) -> str:
    """The unit of a setting; empty for a choice, a text or a bare number."""
    marks = info.json_schema_extra
    marked = str(marks.get("unit", "")) if isinstance(marks, dict) else ""
    return marked or next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")
