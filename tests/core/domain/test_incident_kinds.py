"""Kinds of incidents, those of other versions included."""

from __future__ import annotations

import pickle

import pytest

from core.domain.incident_kinds import IncidentKind


@pytest.mark.parametrize("stored", ["loss spike", "a kind of another version", ""])
def test_each_stored_kind_is_read_as_it_is_and_sent_on(stored: str) -> None:
    kind = IncidentKind(stored)
    sent = pickle.loads(pickle.dumps(kind))
    assert type(sent) is IncidentKind and sent == kind == stored == f"{kind}" and len({kind, sent, stored}) == 1
    assert (kind in IncidentKind.__members__.values()) is (stored == "loss spike")
