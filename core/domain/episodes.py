"""Incidents that repeat: those of one episode share a row with a count (`Incident.count`)."""

from __future__ import annotations

REPEATING = frozenset(
    {"loss spike", "step skipped", "bad batch", "out of memory", "forecast failed", "checkpoint not written"}
)
"""Kinds of incidents that may occur at every step."""
