"""Which checkpoint is the best, and which can never be."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Disease


def is_wrecked(info: CheckpointInfo) -> bool:
    """Whether its model had diverged, or its training had a problem when it was saved. All others are sound."""
    return not info.is_known_good or info.health == Disease.DIVERGED


def is_worse_than_none(info: CheckpointInfo) -> bool:
    """Whether the model loses to "no change", or adds nothing to the simple rules. Such a checkpoint is never the best.
    Unknown values count for neither."""
    return any(measured is not None and measured < 0.0 for measured in (info.skill, info.model_gain))


def best_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """The sound checkpoint with the highest finite skill, without those worse than no model; the newest of equals; None
    if there is none."""
    return next((info for info in by_skill(newest_first) if not is_worse_than_none(info)), None)


def lowest_loss_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """The sound checkpoint with the lowest finite windowed loss; the newest of equals; None if there is none."""
    known = [info for info in newest_first if not is_wrecked(info) and info.loss is not None and isfinite(info.loss)]
    return min(known, key=lambda info: info.loss or 0.0, default=None)


def by_skill(newest_first: Sequence[CheckpointInfo]) -> list[CheckpointInfo]:
    """The sound checkpoints with a finite skill, the highest first; of equals, the newest first."""
    known = [info for info in newest_first if not is_wrecked(info) and info.skill is not None and isfinite(info.skill)]
    return sorted(known, key=lambda info: info.skill or 0.0, reverse=True)
