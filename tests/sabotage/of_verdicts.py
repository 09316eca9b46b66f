"""Faults in the verdict of a sweep."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "winner-chosen-on-the-part-that-judges",
        "core/sweeps/winner.py",
        "means = self.choosing.losses.mean(axis=0)",
        "means = self.judging.losses.mean(axis=0)",
    ),
    Fault(
        "interval-of-a-sweep-not-widened",
        "core/sweeps/dependence.py",
        "missed = 1.0 - float((short[differs] / long[differs]).mean())",
        "missed = 1.0 - float((long[differs] / long[differs]).mean())",
    ),
    Fault(
        "restless-setting-hides-the-others",
        "core/sweeps/best_of_many.py",
        "scaled = differences[:, differs] / deviations[differs]",
        "scaled = differences[:, differs]",
    ),
    Fault(
        "larger-quantity-counts-more",
        "core/sweeps/pooling.py",
        "np.divide(0.5, units, out=np.zeros(2), where=units > LEAST_LOSS)",
        "np.divide(0.5, units.mean(), out=np.zeros(2), where=units > LEAST_LOSS)",
    ),
    Fault(
        "setting-without-its-hardest-file-is-compared",
        "core/sweeps/pooling.py",
        "if not present[n] or present[n] != complete}",
        "if not present[n]}",
    ),
    Fault(
        "best-setting-ranked-last",
        "core/sweeps/report.py",
        'float("inf") if skill is None else -skill',
        'float("inf") if skill is None else skill',
    ),
)
