"""Which checkpoints are better than others, and which are worth more than no model at all."""

from __future__ import annotations

from core.diagnosis import Disease
from core.events import CheckpointInfo

FULL_SCORE = 300
"""Candles that a checkpoint's score is over, where there are so many, so that no lucky candle is ever "best"."""


def is_fully_scored(info: CheckpointInfo) -> bool:
    """A score over fewer candles jumps about: it is the best only while no other is over all of them."""
    return info.scored >= FULL_SCORE


def is_wrecked(info: CheckpointInfo) -> bool:
    """Whether its model had diverged, or its training was in trouble when it was saved."""
    return not info.is_known_good or info.health == Disease.DIVERGED


def is_worse_than_none(info: CheckpointInfo) -> bool:
    """Than no model: it loses to "no change", or its part in the ghosts to the simple rules alone. Such a one is never
    the best. What is not known counts for neither."""
    return any(measured is not None and measured < 0.0 for measured in (info.skill, info.model_gain))
