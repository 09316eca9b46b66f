"""Incidents that come again and again: those of one episode are one row with a count (`Incident.count`)."""

from __future__ import annotations

REPEATING = frozenset(
    {"loss spike", "step skipped", "bad batch", "out of memory", "forecast failed", "checkpoint not written"}
)
"""The kinds of the incidents that may come with each step."""
