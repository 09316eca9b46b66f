"""Classifies when a change of a setting takes effect: at once, also while a model trains, or at the next start of
something."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from core.settings.tree import Settings


class WhenApplied(Enum):
    AT_ONCE = auto()
    NEXT_TRAINING = auto()
    """The next start of training, which continues the run."""
    NEW_RUN = auto()
    """The next start of training, which begins a run: another model has other weights."""
    NEXT_PROGRAM_START = auto()


SENT_TO_TRAINER = (("training", "learning_rate"), ("gradients", "clip_norm"), ("training", "duty_percent"))
"""A running trainer takes these by a command."""
_OF_THE_WINDOW = frozenset({"appearance", "backups", "chart", "notifications", "paper"})
_RULES = frozenset({"keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes"})
"""Settings of the clean-up of checkpoints."""
_BEFORE_THE_WINDOW = frozenset({("appearance", "interface_percent"), ("appearance", "font")})


def when_applied(group: str, name: str) -> WhenApplied:
    if (group, name) in _BEFORE_THE_WINDOW:
        return WhenApplied.NEXT_PROGRAM_START
    if group in _OF_THE_WINDOW or (group, name) in SENT_TO_TRAINER or name in _RULES:
        return WhenApplied.AT_ONCE
    return WhenApplied.NEW_RUN if group == "model" else WhenApplied.NEXT_TRAINING


def is_at_once(group: str, name: str) -> bool:
    return when_applied(group, name) is WhenApplied.AT_ONCE


def with_changes_at_once(used: Settings, changed: Settings) -> Settings:
    """The settings of a running trainer, with the changes that it takes at once."""
    merged = replace(used, watchlist=changed.watchlist, checkpoints=changed.checkpoints)
    for group, name in SENT_TO_TRAINER:
        value = getattr(getattr(changed, group), name)
        merged = replace(merged, **{group: replace(getattr(merged, group), **{name: value})})
    return merged
