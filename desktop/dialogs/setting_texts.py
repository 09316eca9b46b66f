"""Names of settings for people, facts about them from the tree itself, and when a change takes effect."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from functools import cache

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from core.domain.diagnosis import SettingChange
from core.settings.faults import sentence_of
from core.settings.group import all_field_infos, unit_of
from core.settings.tree import Settings, to_dict
from core.settings.when_applied import WhenApplied, when_applied
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
"""Settings that the program chooses unless they are set."""
EXPERIMENTAL = frozenset(
    {("training", "poor_forecast_weight"), ("training", "wrong_direction_weight"), ("gradients", "noise")}
)
"""Settings that no measurement has found a use for: forms fold them away."""


def spaced(name: str) -> str:
    """``learning_rate`` as ``Learning rate``."""
    return name.replace("_", " ").capitalize()


@cache
def _titles() -> dict[str, str]:
    """The titles of settings, and of groups of them, that differ from their names."""
    groups = all_field_infos(Settings)
    infos = [groups, *(all_field_infos(type(getattr(Settings(), name))) for name in groups)]
    return {name: info.title for each in infos for name, info in each.items() if info.title}


def english_title(name: str) -> str:
    """The name of a setting or group of settings, in a form and in a sentence."""
    return _titles().get(name, spaced(name))


def title(name: str) -> str:
    """The `english_title` in the user's language."""
    return translate("Settings", english_title(name))


def effect(group: str, name: str) -> str:
    """When a change of this setting takes effect, in words."""
    match when_applied(group, name):
        case WhenApplied.NEXT_PROGRAM_START:
            return translate("Settings", "at the next start of the program")
        case WhenApplied.AT_ONCE:
            return translate("Settings", "immediately")
        case WhenApplied.NEW_RUN:
            return translate("Settings", "at the next start of training, as a new run")
        case WhenApplied.NEXT_TRAINING:
            return translate("Settings", "at the next start of training")


def setting(settings: Settings, group: str, name: str) -> float | int | str | None:
    """The value of one setting. Raises ValueError with a sentence if it does not exist."""
    branch = getattr(settings, group, None)
    if branch is None or name not in {field.name for field in fields(branch)}:
        text = translate("Settings", "This version has no setting “{0}: {1}”.")
        raise ValueError(text.format(title(group), title(name)))
    value: float | int | str | None = getattr(branch, name)
    return value


def with_change(settings: Settings, change: SettingChange) -> Settings:
    """The tree with one setting changed. Raises ValueError with a sentence for an invalid change."""
    setting(settings, change.group, change.name)
    try:
        branch = replace(getattr(settings, change.group), **{change.name: change.value})
    except ValidationError as error:
        text = translate("Settings", "{0} cannot be {1}: {2}.")
        raise ValueError(text.format(title(change.name), change.value, sentence_of(error.errors()[0]))) from error
    changes = {change.group: branch}
    return replace(settings, **changes)


def unit(name: str, info: FieldInfo) -> str:
    """The unit of a setting, in the user's language; empty if it has none."""
    english = unit_of(name, info)
    return translate("Settings", english) if english else ""


def description(info: FieldInfo) -> str:
    return translate("SettingDescriptions", info.description) if info.description else ""


def default(group: str, name: str) -> str:
    value = to_dict(Settings())[group][name]
    if isinstance(value, bool):
        return translate("Settings", "yes") if value else translate("Settings", "no")
    if value is None or value in ([], {}):
        return translate("Settings", "none")
    if isinstance(value, list):
        return ", ".join(str(each["symbol"]) if isinstance(each, dict) else str(each) for each in value)
    return number(value) if isinstance(value, int | float) else str(value)


def span_of(info: FieldInfo) -> str:
    """``from 1 to 64``, ``above 0 to 1``; empty if there are no bounds."""
    found = ((text, getattr(rule, bound, None)) for rule in info.metadata for bound, text in _BOUNDS.items())
    return " ".join(translate("Settings", text).format(number(value)) for text, value in found if value is not None)


def facts(group: str, name: str, info: FieldInfo) -> str:
    """``Default 30 s, from 1 to 3,600.`` Empty if there is nothing to add to what an editor shows."""
    text = default(group, name)
    if to_dict(Settings())[group][name] is None:
        text = translate("Settings", "automatic") if (group, name) in _AUTOMATIC else text
        if span := span_of(info):
            bounds = f"{span} {unit(name, info)}".rstrip()
            text = translate("Settings", "{0}; else {1}").format(text, bounds)
    elif info.annotation is not bool:
        singular, span = _SINGULAR.get(unit_of(name, info)), span_of(info)
        measure = unit(name, info) if singular is None or text != "1" else translate("Settings", singular)
        text = f"{text}{f' {measure}' if measure else ''}{f', {span}' if span else ''}"
    return translate("Settings", "Default: {0}.").format(text)


def number(value: float) -> str:
    """The shortest form of a number without an exponent: ``10,000``, ``0.00003``, ``0.01``."""
    exact = Decimal(value if isinstance(value, int) else f"{value:g}")
    return f"{exact:,f}"
