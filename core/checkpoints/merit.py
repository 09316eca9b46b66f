"""Whether a checkpoint is better than no model."""

from __future__ import annotations

from core.domain.diagnosis import Disease
from core.domain.events import CheckpointInfo


def is_wrecked(info: CheckpointInfo) -> bool:
    """Whether its model had diverged, or its training had a problem when it was saved."""
    return not info.is_known_good or info.health == Disease.DIVERGED


def is_worse_than_none(info: CheckpointInfo) -> bool:
    """Whether the model loses to "no change", or adds nothing to the simple rules. Such a checkpoint is never the best.
    Unknown values count for neither."""
    return any(measured is not None and measured < 0.0 for measured in (info.skill, info.model_gain))
