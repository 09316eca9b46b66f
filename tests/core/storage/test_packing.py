"""Scores as bytes round-trip, also those of older versions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.storage.packing import FORMS, NEWEST_FORM, pack_scores, to_score, unpack_scores
from core.storage.records import SHOWN_LOSSES, StoredScore
from tests.core.storage.samples import score

MOST_BYTES = 72
"""Of one horizon: eight of them with the drawn forecast stay below 2 KB a candle."""


def read(form: int, packed: bytes, like: StoredScore) -> StoredScore:
    (record,) = unpack_scores([(form, packed)])
    return to_score(record, like.target_open_time_ms, like.version, like.scored_at_ms, b"")


def drawn(base: float) -> dict[str, float]:
    """Numbers that a float32 holds exactly."""
    return {name: base + place / 8.0 for place, name in enumerate(SHOWN_LOSSES.values())}


def test_all_six_quantities_of_the_shown_forecast_round_trip() -> None:
    given = replace(score(3), **drawn(1.0))
    found = read(NEWEST_FORM, pack_scores([given]), given)
    assert found == given and {name: getattr(found, name) for name in drawn(1.0)} == drawn(1.0)


def test_a_version_1_record_is_read_without_newer_fields() -> None:
    """Its bytes are those that the program before wrote: every field of the first form, and no other."""
    given = replace(score(3), **drawn(1.0))
    newest = np.frombuffer(pack_scores([given]), FORMS[NEWEST_FORM])
    old = np.zeros(1, FORMS[1])
    for name in FORMS[1].names or ():
        old[name] = newest[name]
    found = read(1, old.tobytes(), given)
    assert (found.body_loss, found.upper_wick_loss, found.lower_wick_loss, found.volume_loss) == (None,) * 4
    assert (found.loss, found.range_loss) == (given.loss, given.range_loss)


def test_rows_of_both_versions_are_read_together() -> None:
    given = replace(score(3), **drawn(1.0))
    newest = np.frombuffer(pack_scores([given]), FORMS[NEWEST_FORM])
    old = np.zeros(1, FORMS[1])
    for name in FORMS[1].names or ():
        old[name] = newest[name]
    records = unpack_scores([(1, old.tobytes()), (NEWEST_FORM, newest.tobytes())])
    np.testing.assert_array_equal(records["body_loss"], [np.nan, drawn(1.0)["body_loss"]])
    np.testing.assert_array_equal(records["range_loss"], [drawn(1.0)["range_loss"]] * 2)


def test_a_record_stays_small() -> None:
    assert FORMS[NEWEST_FORM].itemsize <= MOST_BYTES


@pytest.mark.parametrize("form", [0, NEWEST_FORM + 1])
def test_a_newer_version_is_refused(form: int) -> None:
    with pytest.raises(ValueError, match=f"unknown form {form}"):
        unpack_scores([(form, b"")])
