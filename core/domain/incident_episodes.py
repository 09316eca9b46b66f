"""Incidents that repeat: those of one episode share a row with a count (`Incident.count`)."""

from __future__ import annotations

from core.domain.events import RESTORED, ROLLED_BACK

REPEATING = frozenset(
    {"loss spike", "step skipped", "bad batch", "out of memory", "forecast failed", "checkpoint not written"}
)
"""Kinds of incidents that may occur at every step."""
ENDS_OF_EPISODES = (RESTORED, ROLLED_BACK)
"""Kinds of incidents after which none joins an earlier episode: the model is another one."""
