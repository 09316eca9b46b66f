"""Faults in the cells of a sweep, and in handing them out."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "cell-blamed-for-a-lost-scheduler",
        "core/sweeps/runner.py",
        "self._deaths[number] += outcome.is_death",
        "self._deaths[number] += 1",
    ),
    Fault(
        "candle-at-the-split-in-the-first-part",
        "core/sweeps/cell.py",
        "Part.FIRST: times < file.split_ms",
        "Part.FIRST: times <= file.split_ms",
    ),
    Fault(
        "changed-file-evaluated",
        "core/sweeps/cell.py",
        "if found != sha256:",
        "if not found:",
    ),
    Fault(
        "warm-up-in-the-first-part",
        "core/sweeps/sources.py",
        "left_out = WARM_UP if count > WARM_UP + FEWEST_FOR_AN_EDGE else 0",
        "left_out = 0",
    ),
    Fault(
        "search-for-the-worst-settings",
        "core/sweeps/guided.py",
        "self._study.tell(trial, score)",
        "self._study.tell(trial, -score)",
    ),
)
