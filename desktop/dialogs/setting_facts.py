"""What may be said of a setting from the tree itself: its default, what it may be, its unit."""

from __future__ import annotations

from decimal import Decimal

from pydantic.fields import FieldInfo

from core.settings.group import unit_of
from core.settings.tree import Settings, to_dict
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_BOUNDS = {
    "ge": QT_TRANSLATE_NOOP("Settings", "from {0}"),
    "gt": QT_TRANSLATE_NOOP("Settings", "above {0}"),
    "le": QT_TRANSLATE_NOOP("Settings", "to {0}"),
    "lt": QT_TRANSLATE_NOOP("Settings", "to below {0}"),
}
_SINGULAR = {
    "candles": QT_TRANSLATE_NOOP("Settings", "candle"),
    "steps": QT_TRANSLATE_NOOP("Settings", "step"),
    "threads": QT_TRANSLATE_NOOP("Settings", "thread"),
    "samples": QT_TRANSLATE_NOOP("Settings", "sample"),
    "micro-batches": QT_TRANSLATE_NOOP("Settings", "micro-batch"),
    "checkpoints": QT_TRANSLATE_NOOP("Settings", "checkpoint"),
    "days": QT_TRANSLATE_NOOP("Settings", "day"),
}

_AUTOMATIC = frozenset({("appearance", "interface_percent"), ("market", "speed")})
"""Where none is set, the program finds it."""


def unit(name: str, info: FieldInfo) -> str:
    """The unit of a setting, in the user's language; empty where it has none."""
    english = unit_of(name, info)
    return translate("Settings", english) if english else ""


def description(info: FieldInfo) -> str:
    """What it is for, in the user's language."""
    return translate("SettingDescriptions", info.description) if info.description else ""


def default(group: str, name: str) -> str:
    """The default, for people."""
    value = to_dict(Settings())[group][name]
    if isinstance(value, bool):
        return translate("Settings", "yes") if value else translate("Settings", "no")
    if value is None or value in ([], {}):
        return translate("Settings", "none")
    if isinstance(value, list):
        return ", ".join(str(each["symbol"]) if isinstance(each, dict) else str(each) for each in value)
    return number(value) if isinstance(value, int | float) else str(value)


def span_of(info: FieldInfo) -> str:
    """``from 1 to 64``, ``above 0 to 1``; empty where there are no bounds."""
    found = ((words, getattr(rule, bound, None)) for rule in info.metadata for bound, words in _BOUNDS.items())
    return " ".join(translate("Settings", words).format(number(value)) for words, value in found if value is not None)


def facts(group: str, name: str, info: FieldInfo) -> str:
    """``Default 30 s, from 1 to 3,600.`` Empty where there is nothing to add to what an editor shows."""
    said = default(group, name)
    if to_dict(Settings())[group][name] is None:
        said = translate("Settings", "automatic") if (group, name) in _AUTOMATIC else said
        if span := span_of(info):
            bounds = f"{span} {unit(name, info)}".rstrip()
            said = translate("Settings", "{0}; else {1}").format(said, bounds)
    elif info.annotation is not bool:
        measure, span = _unit_after(said, name, info), span_of(info)
        said = f"{said}{f' {measure}' if measure else ''}{f', {span}' if span else ''}"
    return translate("Settings", "Default: {0}.").format(said)


def _unit_after(value: str, name: str, info: FieldInfo) -> str:
    """1 candle, 2 candles."""
    singular = _SINGULAR.get(unit_of(name, info))
    return unit(name, info) if singular is None or value != "1" else translate("Settings", singular)


def number(value: float) -> str:
    """As short as it can be, without an exponent: ``10,000``, ``0.00003``, ``0.01``."""
    exact = Decimal(value if isinstance(value, int) else f"{value:g}")
    return f"{exact:,f}"
