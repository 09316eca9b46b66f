"""Whose forecasts are combined, in the order of the expert axis of all arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.forecast.quantities import FloatArray

EXPERTS = ("model", "reference")
MODEL, REFERENCE = range(len(EXPERTS))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One forecast in natural units. shown [H, Q, L], experts [E, H, Q, L]."""

    shown: FloatArray
    experts: FloatArray

    @property
    def are_finite(self) -> bool:
        """Whether every number is one."""
        return bool(np.isfinite(self.shown).all() and np.isfinite(self.experts).all())
