"""Which checkpoint is the best, and which can never be."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Disease


def is_wrecked(info: CheckpointInfo) -> bool:
    """Whether its model had diverged, or its training had a problem when it was saved. All others are sound."""
    return not info.is_known_good or info.health == Disease.DIVERGED


def proven_gain(info: CheckpointInfo) -> float | None:
    """What its model adds, if the interval excludes zero, on either side; else None."""
    if info.gain_low is None or info.gain_high is None:
        return None
    return info.model_gain if info.gain_low > 0.0 or info.gain_high < 0.0 else None


def is_proven_to_add(info: CheckpointInfo) -> bool:
    return info.gain_low is not None and info.gain_low > 0.0


def best_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """Of the sound checkpoints that are proven to add, the one with the highest score; while there is none, of all that
    are not proven to take away. The newest of equals; None without any.

    What a checkpoint adds is measured over all candles of its line of weights, so it hardly falls in a model that has
    just got worse; its score does.
    """
    ranked = by_skill(newest_first)
    unproven = (info for info in ranked if proven_gain(info) is None)
    return next(filter(is_proven_to_add, ranked), None) or next(unproven, None)


def lowest_loss_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """The sound checkpoint with the lowest finite windowed loss; the newest of equals; None if there is none."""
    known = [info for info in newest_first if not is_wrecked(info) and info.loss is not None and isfinite(info.loss)]
    return min(known, key=lambda info: info.loss or 0.0, default=None)


def by_skill(newest_first: Sequence[CheckpointInfo]) -> list[CheckpointInfo]:
    """The sound checkpoints with a finite skill, the highest first; of equals, the newest first."""
    known = [info for info in newest_first if not is_wrecked(info) and info.skill is not None and isfinite(info.skill)]
    return sorted(known, key=lambda info: info.skill or 0.0, reverse=True)
