"""The recovery for a diverged model: the last healthy checkpoint, and the settings it was trained with."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Any

from core.checkpoints.retention import CHANGE
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Diagnosis, Disease, DivergenceRecovery, SettingChange
from core.settings.tree import Settings
from core.training.doctor.divergence_rule import RECENT, Divergence
from core.training.doctor.remedies import text

_UNFIT = frozenset(
    disease.value
    for disease in (
        Disease.DIVERGED,
        Disease.EXPLODING,
        Disease.VANISHING,
        Disease.NOT_FINITE,
        Disease.UPDATES_TOO_LARGE,
        Disease.DEAD_LAYERS,
    )
)
"""Verdicts that rule a checkpoint out for recovery."""
_LIVE = (("training", "learning_rate"), ("gradients", "clip_norm"))
"""Settings that take effect at the next step; others need a restart of the trainer."""
NAMES = {"learning_rate": "the learning rate", "clip_norm": "the clip threshold"}
"""Used in sentences."""

SettingsOf = Callable[[str], dict[str, Any] | None]


def with_recovery(
    verdict: Diagnosis,
    newest_first: Sequence[CheckpointInfo],
    found: Divergence,
    now: Settings,
    settings_of: SettingsOf,
) -> Diagnosis:
    """Add to the verdict on a diverged model the remedy of one button.

    newest_first: the run's checkpoints. now: the current settings. settings_of: a stored set of settings by its id.
    """
    healthy = next((info for info in newest_first if _is_healthy(info, found.sound_until)), None)
    changes = () if healthy is None else _changed_since(healthy, now, settings_of)
    if healthy is not None and found.is_answered:  # only the restore is left; settings lowered meanwhile stay
        changes = tuple(change for change in changes if float(change.value) < _in_force(change, now))
    elif not changes and verdict.change is not None and (healthy is None or found.changed_at is None):
        changes = (verdict.change,)  # it diverged at the checkpoint's own settings, so they must change too
    if healthy is None:
        return replace(verdict, recovery=DivergenceRecovery(changes))
    way = DivergenceRecovery(changes, healthy.checkpoint_id, healthy.step)
    return replace(verdict, advice=_advice(way, now), change=changes[0] if changes else None, recovery=way)


def diverged_since(newest_first: Iterable[CheckpointInfo], resumed_id: str | None) -> int | None:
    """The step of the setting change after which a resumed model had diverged; None if it had not."""
    until_resumed = list(dropwhile(lambda info: info.checkpoint_id != resumed_id, newest_first))
    if not until_resumed or until_resumed[0].health != Disease.DIVERGED:
        return None
    found: int | None = None
    for info in until_resumed:
        if info.reason == CHANGE and info.health != Disease.DIVERGED:
            if found is not None and info.step < found - RECENT:
                break
            found = info.step  # several changes in a row count as one
    return found


def differing_settings(
    restored: CheckpointInfo | None, now: Settings, settings_of: SettingsOf, set_back: Collection[str]
) -> dict[str, tuple[float, float]]:
    """Settings that differ from those that a restored checkpoint was trained with: current value, then the
    checkpoint's.

    set_back: the names of those that were set back with it.
    """
    changes = () if restored is None else _changed_since(restored, now, settings_of)
    return {
        change.name: (_in_force(change, now), float(change.value)) for change in changes if change.name not in set_back
    }


def _is_healthy(info: CheckpointInfo, sound_until: int | None) -> bool:
    """Whether it is fit for recovery: by the step it was saved at, or else by the doctor's verdict then."""
    if sound_until is None:
        return info.is_known_good and info.health == Disease.HEALTHY
    return info.is_known_good and info.step <= sound_until and info.health not in _UNFIT


def _changed_since(healthy: CheckpointInfo, now: Settings, settings_of: SettingsOf) -> tuple[SettingChange, ...]:
    """Changes from the current settings to those that it was trained with."""
    then = None if healthy.settings_id is None else settings_of(healthy.settings_id)
    changes = []
    for group, name in _LIVE:
        value = None if then is None else then.get(group, {}).get(name)
        if isinstance(value, int | float) and not math.isclose(value, getattr(getattr(now, group), name)):
            changes.append(SettingChange(group, name, float(value)))
    return tuple(changes)


def _in_force(change: SettingChange, now: Settings) -> float:
    return float(getattr(getattr(now, change.group), change.name))


def _advice(way: DivergenceRecovery, now: Settings) -> str:
    parts = [
        f"set {NAMES[change.name]} back from {text(_in_force(change, now))} to {text(float(change.value))}"
        for change in way.changes
    ]
    parts.append(f"restore the checkpoint of step {way.checkpoint_step:,}, the last healthy one")
    sentence = " and ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}. All training since then is lost."
