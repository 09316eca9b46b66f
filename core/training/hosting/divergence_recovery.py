"""What takes a diverged model back: the last healthy checkpoint, and the settings that were in force with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Any

from core.domain.diagnosis import Diagnosis, Disease, DivergenceRecovery, SettingChange
from core.domain.events import CheckpointInfo
from core.settings.tree import Settings
from core.storage.retention import CHANGE
from core.training.doctor.divergence import RECENT, Divergence
from core.training.doctor.remedies import text

_ILL = frozenset(
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
"""What the doctor may not have said of a checkpoint that is gone back to."""
_LIVE = (("training", "learning_rate"), ("gradients", "clip_norm"))
"""Settings that take effect at the next step; others change nothing until a trainer is started."""
NAMES = {"learning_rate": "the learning rate", "clip_norm": "the clip threshold"}
"""In a sentence."""

SettingsOf = Callable[[str], dict[str, Any] | None]


def with_recovery(
    verdict: Diagnosis,
    newest_first: Sequence[CheckpointInfo],
    found: Divergence,
    now: Settings,
    settings_of: SettingsOf,
) -> Diagnosis:
    """The verdict on a diverged model with what one button does about it.

    newest_first: the run's kept checkpoints. now: the settings in force. settings_of: a stored set of settings by its
    id.
    """
    healthy = next((info for info in newest_first if _is_healthy(info, found.sound_until)), None)
    changes = () if healthy is None else _changed_since(healthy, now, settings_of)
    if healthy is not None and found.is_answered:  # the restore alone is left; what was lowered meanwhile stays so
        changes = tuple(change for change in changes if float(change.value) < _in_force(change, now))
    elif not changes and verdict.change is not None and (healthy is None or found.changed_at is None):
        changes = (verdict.change,)  # as it was it would diverge again; a change that was taken back already did it
    if healthy is None:
        return replace(verdict, recovery=DivergenceRecovery(changes))
    way = DivergenceRecovery(changes, healthy.checkpoint_id, healthy.step)
    return replace(verdict, advice=_advice(way, now), change=changes[0] if changes else None, recovery=way)


def diverged_since(newest_first: Iterable[CheckpointInfo], resumed_id: str | None) -> int | None:
    """The step at which a setting was changed that a resumed model had diverged of; None where it had not."""
    until_resumed = list(dropwhile(lambda info: info.checkpoint_id != resumed_id, newest_first))
    if not until_resumed or until_resumed[0].health != Disease.DIVERGED:
        return None
    found: int | None = None
    for info in until_resumed:
        if info.reason == CHANGE and info.health != Disease.DIVERGED:
            if found is not None and info.step < found - RECENT:
                break
            found = info.step  # several in a row count as one
    return found


def left_as_set(
    restored: CheckpointInfo | None, now: Settings, settings_of: SettingsOf, set_back: Collection[str]
) -> dict[str, tuple[float, float]]:
    """The settings that stay other than those that a restored checkpoint was learned with: as they are, as they were.

    set_back: the names of those that were set back with it.
    """
    changes = () if restored is None else _changed_since(restored, now, settings_of)
    return {
        change.name: (_in_force(change, now), float(change.value)) for change in changes if change.name not in set_back
    }


def _is_healthy(info: CheckpointInfo, sound_until: int | None) -> bool:
    """Whether it is worth going back to: by when it was saved, or else by what the doctor said then."""
    if sound_until is None:
        return info.is_known_good and info.health == Disease.HEALTHY
    return info.is_known_good and info.step <= sound_until and info.health not in _ILL


def _changed_since(healthy: CheckpointInfo, now: Settings, settings_of: SettingsOf) -> tuple[SettingChange, ...]:
    """What takes the settings that are in force back to those that it was learned with."""
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
    return f"{sentence[0].upper()}{sentence[1:]}. What was learned since then is lost."
