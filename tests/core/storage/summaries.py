"""A summary of scores to store."""

from __future__ import annotations

from typing import Any


def summary(checkpoint_id: str, skill: float | None = 0.01) -> dict[str, Any]:
    """The stored part of the output of `evaluate --checkpoint --json`."""
    found = {"skill": {"value": skill, "ci95": None if skill is None else [skill - 0.02, skill + 0.02]}}
    return {
        "checkpoint": {"id": checkpoint_id, "learns": False},
        "file": "later.csv",
        "interval": "1m",
        "candles": 500,
        "judged": 480,
        "watched": {"close": found, "range": found, "coverage_90": {"value": 0.9}, "direction": {"value": None}},
    }
