"""Scores as bytes round-trip."""

from __future__ import annotations

from dataclasses import replace

from core.storage.packing import RECORD, packed_scores, to_score, unpack_scores
from core.storage.records import SHOWN_LOSSES, StoredScore
from tests.core.storage.samples import score

MOST_BYTES = 72
"""Of one horizon: eight of them with the drawn forecast stay below 2 KB a candle."""


def read(packed: bytes, like: StoredScore) -> StoredScore:
    (record,) = unpack_scores([packed])
    return to_score(record, like.target_open_time_ms, like.version, like.scored_at_ms, b"")


def drawn(base: float) -> dict[str, float]:
    """Numbers that a float32 holds exactly."""
    return {name: base + place / 8.0 for place, name in enumerate(SHOWN_LOSSES.values())}


def test_all_six_quantities_of_the_shown_forecast_round_trip() -> None:
    given = replace(score(3), **drawn(1.0))
    found = read(packed_scores([[given]])[0], given)
    assert found == given and {name: getattr(found, name) for name in drawn(1.0)} == drawn(1.0)


def test_a_record_stays_small() -> None:
    assert RECORD.itemsize <= MOST_BYTES
