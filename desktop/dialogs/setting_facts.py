"""What may be said of a setting from the tree itself: its default, what it may be, its unit."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from core.settings import Settings, to_dict

_PLAIN: dict[Any, str] = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_LARGEST_SEED = 2**63
_UNITS = {
    ("market", "speed"): "candles/s",
    ("market", "catch_up_candles"): "candles",
    ("model", "context"): "candles",
    ("model", "horizons"): "candles",
    ("training", "warmup_steps"): "steps",
    ("training", "schedule_steps"): "steps",
    ("training", "threads"): "threads",
    ("training", "duty_percent"): "%",
    ("training", "replay_samples"): "samples",
    ("training", "replay_window"): "candles",
    ("online", "twin_age"): "candles",
    ("gradients", "clip_percentile"): "%",
    ("gradients", "accumulation"): "micro-batches",
    ("recovery", "skips_before_rollback"): "steps",
    ("recovery", "rollback_window_steps"): "steps",
    ("recovery", "hang_seconds"): "s",
    ("checkpoints", "every_steps"): "steps",
    ("checkpoints", "catch_up_seconds"): "s",
    ("checkpoints", "keep_newest"): "checkpoints",
    ("checkpoints", "keep_best"): "checkpoints",
    ("checkpoints", "keep_every_steps"): "steps",
    ("checkpoints", "keep_hours"): "h",
    ("checkpoints", "undo_minutes"): "min",
    ("chart", "hindsight_horizon"): "candles",
    ("browser", "widths"): "px",
}


def unit(group: str, name: str) -> str:
    """The unit of a setting; empty for what is chosen, said, or a bare number."""
    return _UNITS.get((group, name), "")


def group_of(settings_class: type) -> str:
    """The name of a group in the tree, by its class; empty for a class that is none."""
    tree = Settings()
    return next((each.name for each in fields(Settings) if type(getattr(tree, each.name)) is settings_class), "")


def default(group: str, name: str) -> str:
    """The default, for people."""
    value = to_dict(Settings())[group][name]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, list):
        return ", ".join(str(each["symbol"]) if isinstance(each, dict) else str(each) for each in value)
    return number(value) if isinstance(value, int | float) else str(value)


def choices(info: FieldInfo) -> tuple[str, ...]:
    """What it can be, where that is a few words."""
    annotation = _inner(info)[0]
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def kind(info: FieldInfo) -> str:
    """What it may be where it is none of a few words: ``a whole number, from 1 to 64``."""
    annotation, is_optional = _inner(info)
    plain = _PLAIN.get(annotation, "a list" if get_origin(annotation) is tuple else "a table")
    span = span_of(info)
    return f"{plain}{f', {span}' if span else ''}{' or none' if is_optional else ''}"


def span_of(info: FieldInfo) -> str:
    """``from 1 to 64``, ``above 0 to 1``; empty where there are no bounds."""
    said = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "to below {}"}
    found = ((bound, getattr(rule, bound, None)) for rule in info.metadata for bound in said)
    return " ".join(said[bound].format(number(value)) for bound, value in found if value is not None)


def facts(group: str, name: str, info: FieldInfo) -> str:
    """``Default 30 s, from 1 to 3,600.`` Empty where there is nothing to add to what an editor shows."""
    if info.annotation is bool:
        return f"Default: {default(group, name)}."
    measure, span = unit(group, name), span_of(info)
    tail = f"{f' {measure}' if measure else ''}{f', {span}' if span else ''}"
    return f"Default: {default(group, name)}{tail}."


def number(value: float) -> str:
    """As short as it can be: ``10,000``, ``3e-05``, ``0.01``."""
    if value == _LARGEST_SEED:
        return "2^63"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}"


def _inner(info: FieldInfo) -> tuple[Any, bool]:
    """The type without None, and whether it may be none."""
    parts = [part for part in get_args(info.annotation) if part is not NoneType]
    is_optional = NoneType in get_args(info.annotation)
    return (parts[0] if is_optional and len(parts) == 1 else info.annotation), is_optional
