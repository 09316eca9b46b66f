"""What settings are called for people, and when a change of one takes effect."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

from pydantic import ValidationError

from core.domain.diagnosis import SettingChange
from core.settings.faults import sentence_of
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from desktop.ui.translation import translate

_AT_ONCE = frozenset({("training", "learning_rate"), ("training", "duty_percent"), ("gradients", "clip_norm")})
_AT_START = frozenset({("appearance", "interface_percent"), ("appearance", "font")})
_RULES = frozenset({"keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes"})


def words(name: str) -> str:
    """``learning_rate`` as ``Learning rate``."""
    return name.replace("_", " ").capitalize()


@cache
def _titles() -> dict[str, str]:
    """Where a setting, or a group of them, is called otherwise than its name."""
    groups = all_field_infos(Settings)
    infos = [groups, *(all_field_infos(type(getattr(Settings(), name))) for name in groups)]
    return {name: info.title for each in infos for name, info in each.items() if info.title}


def english_title(name: str) -> str:
    """What a setting or a group of them is called, in a form and in a sentence."""
    return _titles().get(name, words(name))


def title(name: str) -> str:
    """The same in the user's language."""
    return translate("Settings", english_title(name))


def effect(group: str, name: str) -> str:
    """When a change of this setting takes effect, in words."""
    if (group, name) in _AT_START:
        return translate("Settings", "at the next start of the program")
    if is_at_once(group, name):
        return translate("Settings", "immediately")
    if group == "model":
        return translate("Settings", "at the next start of training, as a new run")
    return translate("Settings", "at the next start of training")


def is_at_once(group: str, name: str) -> bool:
    """True where a change needs no new start."""
    if (group, name) in _AT_START:
        return False
    return (
        group in ("appearance", "backups", "chart", "notifications", "paper")
        or (group, name) in _AT_ONCE
        or name in _RULES
    )


def setting(settings: Settings, group: str, name: str) -> float | int | str | None:
    """The value of one setting. Raises ValueError, in a sentence, for one that there is not."""
    branch = getattr(settings, group, None)
    if branch is None or name not in {field.name for field in fields(branch)}:
        text = translate("Settings", "This version has no setting “{0}: {1}”.")
        raise ValueError(text.format(title(group), title(name)))
    value: float | int | str | None = getattr(branch, name)
    return value


def with_change(settings: Settings, change: SettingChange) -> Settings:
    """The tree with one setting changed. Raises ValueError, in a sentence, for a change that it does not allow."""
    setting(settings, change.group, change.name)
    try:
        branch = replace(getattr(settings, change.group), **{change.name: change.value})
    except ValidationError as error:
        text = translate("Settings", "{0} cannot be {1}: {2}.")
        raise ValueError(text.format(title(change.name), change.value, sentence_of(error.errors()[0]))) from error
    changes = {change.group: branch}
    return replace(settings, **changes)
