"""Whether a checkpoint is worth more than no model at all."""

from __future__ import annotations

from core.domain.diagnosis import Disease
from core.domain.events import CheckpointInfo


def is_wrecked(info: CheckpointInfo) -> bool:
    """Whether its model had diverged, or its training was in trouble when it was saved."""
    return not info.is_known_good or info.health == Disease.DIVERGED


def is_worse_than_none(info: CheckpointInfo) -> bool:
    """Than no model: it loses to "no change", or its part in the ghosts to the simple rules alone. Such a one is never
    the best. What is not known counts for neither."""
    return any(measured is not None and measured < 0.0 for measured in (info.skill, info.model_gain))
