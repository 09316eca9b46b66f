"""The retention of checkpoints, as pure functions of the table's rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.checkpoints.best import best_of, by_skill, is_wrecked, lowest_loss_of
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Disease
from core.settings.tree import CheckpointSettings

CHANGE = "change"
"""The reason of a checkpoint saved before a change of settings."""
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The configurable rules that keep a checkpoint; one is enough. Zero turns the last two off."""

    keep_newest: int
    keep_best: int
    keep_every_steps: int = 0
    keep_hours: int = 0


def rules_of(settings: CheckpointSettings) -> Rules:
    return Rules(settings.keep_newest, settings.keep_best, settings.keep_every_steps, settings.keep_hours)


def with_rules(now: CheckpointSettings, rules: CheckpointSettings) -> CheckpointSettings:
    """The settings with these rules of retention; when checkpoints are written does not change."""
    return replace(rules, every_steps=now.every_steps, catch_up_seconds=now.catch_up_seconds)


def reasons_to_keep(
    newest_first: Sequence[CheckpointInfo],
    rules: Rules,
    now_ms: int,
    in_use: Collection[str] = (),
    offered: str | None = None,
) -> dict[str, tuple[str, ...]]:
    """Short reasons to keep each checkpoint, by id in the order of the rows; without a reason it is deleted.

    The best, the newest, the newest known good, the newest healthy ones, and the one saved before the newest change of
    settings are always kept, so that a failing run cannot displace good checkpoints. The rows come as
    `CheckpointRows.list` returns them. in_use: other checkpoints in use, or open in the window. offered: the checkpoint
    offered for recovery from divergence.
    """
    good = [info for info in newest_first if info.is_known_good]
    before_change = next((info for info in newest_first if info.reason == CHANGE and not is_wrecked(info)), None)
    newest = _ids(newest_first[: max(1, rules.keep_newest)])
    healthiest = _ids(_healthy_first(newest_first, offered)[: max(1, rules.keep_newest)]) - newest
    best = _ids(by_skill(newest_first)[: max(1, rules.keep_best)])
    champion = best_of(newest_first)
    lowest = lowest_loss_of(newest_first)
    # The first checkpoint of each interval of steps, which does not change as others are added.
    every = rules.keep_every_steps
    spaced = {(info.run_id, info.step // every): info.checkpoint_id for info in newest_first} if every > 0 else {}
    kept_since_ms = now_ms - rules.keep_hours * _HOUR_MS

    def reasons(info: CheckpointInfo) -> tuple[str, ...]:
        id_ = info.checkpoint_id
        held = (
            ("in use", info.is_in_use),
            ("open in the window", id_ in in_use and not info.is_in_use),
            ("offered as a recovery point", id_ == offered),
            ("pinned", info.is_pinned),
            ("has a name, a note or a tag", bool(info.note or info.name or info.tags)),
            ("saved manually", info.reason == "manual"),
            ("among the best", id_ in best or info is champion),
            ("lowest loss", lowest is info),
            ("among the newest", id_ in newest),
            ("newest known good", info in good[:1] and id_ not in newest),
            ("among the newest healthy", id_ in healthiest and info.health == Disease.HEALTHY),
            ("too few healthy ones", id_ in healthiest and info.health != Disease.HEALTHY),
            ("saved before a setting was changed", before_change is info),
            (f"one in {rules.keep_every_steps:,} steps", id_ in spaced.values()),
            (f"younger than {rules.keep_hours:,} h", rules.keep_hours > 0 and info.created_at_ms > kept_since_ms),
        )
        return tuple(words for words, holds in held if holds)

    return {info.checkpoint_id: reasons(info) for info in newest_first}


def checkpoints_to_delete(
    newest_first: Sequence[CheckpointInfo],
    rules: Rules,
    now_ms: int,
    in_use: Collection[str] = (),
    offered: str | None = None,
) -> tuple[str, ...]:
    """Ids without a reason to keep (see `reasons_to_keep`), oldest first."""
    reasons = reasons_to_keep(newest_first, rules, now_ms, in_use, offered)
    return tuple(id_ for id_, held in reversed(reasons.items()) if not held)


def _healthy_first(newest_first: Sequence[CheckpointInfo], offered: str | None) -> list[CheckpointInfo]:
    """The known good checkpoints: healthy ones, ones of unknown health, diverged ones; newest first in each group.
    Checkpoints newer than the offered one belong to the state to recover from."""
    place = next((place for place, info in enumerate(newest_first) if info.checkpoint_id == offered), 0)
    wrecked = _ids(newest_first[:place]) | _ids([info for info in newest_first if info.health == Disease.DIVERGED])

    def rank(info: CheckpointInfo) -> tuple[bool, bool]:
        return info.checkpoint_id in wrecked, info.health != Disease.HEALTHY

    return sorted((info for info in newest_first if info.is_known_good), key=rank)  # stable


def _ids(infos: Sequence[CheckpointInfo]) -> set[str]:
    return {info.checkpoint_id for info in infos}
