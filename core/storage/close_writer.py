"""Writes the scores and forecasts of all markets of a close: each table's rows by one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.regimes import RegimeProbabilities
from core.storage.evidence_blocks import EvidenceBlock
from core.storage.record_tables import FORECASTS
from core.storage.record_writer import TrainingRecord, add_conditions, add_scores, add_sealed
from core.storage.records import StoredForecast, StoredScore
from core.storage.rows import condition_row, forecast_values

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True, eq=False)
class MarketRows:
    """What a close adds to the record of one market."""

    record: TrainingRecord
    scores: Sequence[StoredScore]
    evidence: Sequence[EvidenceBlock]
    forecast: StoredForecast
    conditions: RegimeProbabilities | None
    """The market's regime at the forecast's origin, if it is known."""
    next_regime: RegimeProbabilities | None
    """What the model forecasts for the next candle."""


def add_close(db: Database, markets: Sequence[MarketRows]) -> list[int]:
    """Store what is new; existing rows are kept. Needs an open transaction, and each market once.

    Returns how many one-step scores of each market were new. Raises as `TrainingRecord.add_scores` does.
    """
    one_step = [[score for score in each.scores if score.horizon == 1] for each in markets]
    further = [[score for score in each.scores if score.horizon != 1] for each in markets]
    numbers = [each.record.number for each in markets]
    new = add_scores(db, list(zip(numbers, one_step, strict=True)))
    add_scores(db, list(zip(numbers, further, strict=True)))
    for each in markets:
        if each.evidence:
            each.record.add_evidence(each.evidence)
    forecasts = [forecast_values(each.record.run_id, each.record.number, each.forecast) for each in markets]
    add_sealed(db, FORECASTS, forecasts)
    regimes = [
        (each.record.run_id, *condition_row(each.forecast.origin_open_time_ms, each.conditions, each.next_regime))
        for each in markets
        if each.conditions is not None
    ]
    add_conditions(db, regimes)
    return new
