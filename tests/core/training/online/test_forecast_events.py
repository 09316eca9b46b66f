"""The quantiles, and what experts alone forecast, travel with the event of a forecast as the stored arrays say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import ForecastMade
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, SEASONAL, Quantiles
from core.forecast.ghosts import ghosts
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.online.forecast_events import expert_ghosts, quantiles_of
from core.training.online.issued_forecast import from_stored
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.candles import MINUTE


def test_each_expert_is_drawn_from_its_own_quantiles(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    events = rigs.feed(session, rigs.CANDLES[21:23])
    session.close()
    made = [event for event in events if isinstance(event, ForecastMade)][-1]
    assert made.experts is not None
    assert set(made.experts.names) == {name for place, name in enumerate(EXPERTS) if place != SEASONAL}
    with_db = open_database(DataFolder(tmp_path).database)
    committed = RecordReader(with_db, made.run_id).forecast_of(made.origin_open_time_ms)
    with_db.close()
    assert committed is not None
    stored = from_stored(committed, MINUTE)
    again = stored.event(made.run_id)
    assert again.experts is not None and again.experts.names == (EXPERTS[MODEL], EXPERTS[REFERENCE])
    for place, expert in enumerate((MODEL, REFERENCE)):
        natural = stored.quantiles.experts[place]
        wanted = ghosts(natural, made.origin_close, made.origin_open_time_ms, MINUTE)
        found = expert_ghosts(made, EXPERTS[expert], MINUTE)
        assert found == expert_ghosts(again, EXPERTS[expert], MINUTE)
        assert [ghost.open_time_ms for ghost in found] == [ghost.open_time_ms for ghost in made.ghosts]
        for one, other in zip(found, wanted, strict=True):
            assert one.close_quantiles == pytest.approx(other.close_quantiles, rel=1e-6)
            assert (one.high, one.low) == pytest.approx((other.high, other.low), rel=1e-6)
    others = {expert_ghosts(made, name, MINUTE) for name in made.experts.names}
    assert len(others) > 3 and expert_ghosts(made, EXPERTS[SEASONAL], MINUTE) == ()
    assert expert_ghosts(replace(made, experts=None), EXPERTS[MODEL], MINUTE) == ()


def test_the_quantiles_of_a_stored_forecast_are_those_of_its_event_to_the_last_digit(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    session = session_after(tmp_path, 21)
    made = [event for event in rigs.feed(session, rigs.CANDLES[21:23]) if isinstance(event, ForecastMade)][-1]
    session.close()
    with_db = open_database(DataFolder(tmp_path).database)
    stored = RecordReader(with_db, made.run_id).forecast_of(made.origin_open_time_ms)
    with_db.close()
    assert stored is not None
    again, found = from_stored(stored, MINUTE).drawn(made.run_id), quantiles_of(made)
    assert found is not None and again.quantiles == made.quantiles
    assert np.array_equal(found, stored.quantiles.shown)
    left = np.where(np.arange(found.shape[2]) == 1, np.nan, found)
    thinned = replace(stored, quantiles=Quantiles(left, stored.quantiles.experts[:0]))
    assert quantiles_of(from_stored(thinned, MINUTE).drawn(made.run_id)) is None
