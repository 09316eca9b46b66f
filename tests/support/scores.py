"""Scores for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.storage.packing import NUMBERS, at_stored_precision
from core.storage.records import StoredScore


def as_stored(score: StoredScore) -> StoredScore:
    """The score at the precision of the record."""
    numbers = [getattr(score, name) for name in NUMBERS]
    (stored,) = at_stored_precision(np.array([numbers], dtype=np.float64))
    rounded: dict[str, Any] = dict(zip(NUMBERS, stored, strict=True))
    return replace(score, **rounded)
