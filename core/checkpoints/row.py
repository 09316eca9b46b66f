"""A stored checkpoint with its market, as the browser lists it."""

from __future__ import annotations

from dataclasses import dataclass

from core.checkpoints.evaluation import Evaluation
from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo


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
