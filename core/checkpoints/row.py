"""A stored checkpoint with its market, as the browser lists it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Skills are one candle ahead, against "no change", with their 95 % intervals; None: too few candles."""

    checkpoint_id: str
    at_ms: int
    file: str
    """The file's name, without the folder."""
    interval: str
    candles: int
    judged: int
    learns: bool
    """Whether the model continued to learn during the evaluation."""
    close_skill: float | None
    close_low: float | None
    close_high: float | None
    range_skill: float | None
    range_low: float | None
    range_high: float | None
    coverage: float | None
    direction: float | None
    page: str = ""
    """The report, relative to the data folder."""


def evaluation_of(summary: Mapping[str, Any], at_ms: int, page: str) -> Evaluation:
    """Parse the output of `evaluate --checkpoint --json`. Raises KeyError and TypeError for anything else."""
    close, spread = (_skill(summary["watched"][name]["skill"]) for name in ("close", "range"))
    return Evaluation(
        str(summary["checkpoint"]["id"]),
        at_ms,
        str(summary["file"]),
        str(summary["interval"]),
        int(summary["candles"]),
        int(summary["judged"]),
        bool(summary["checkpoint"]["learns"]),
        *close,
        *spread,
        _finite(summary["watched"]["coverage_90"]["value"]),
        _finite(summary["watched"]["direction"]["value"]),
        page,
    )


def _skill(found: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    low, high = found["ci95"] or (None, None)
    return _finite(found["value"]), _finite(low), _finite(high)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One stored checkpoint, and the market of its run: of several markets the first. `sequence` counts saves in this
    data folder."""

    info: CheckpointInfo
    venue: str
    symbol: str
    interval_ms: int
    sequence: int
    is_archived: bool = False
    """Its run is archived."""
    evaluation: Evaluation | None = None
    """The newest evaluation over a candle file."""
    others: tuple[Market, ...] = ()
    """The further markets that its model had when it was saved; not known of imported ones."""
