from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.events import TrainerStatus
from core.evaluation.summary import stored_status
from core.settings.tree import OnlineSettings, Settings
from core.storage.runs import RunStore
from tests.core.evaluation.rigs import database
from tests.core.training import rigs
from tests.support.candles import without

AGE = 30
SETTINGS = replace(rigs.SMALL, online=OnlineSettings(twin_age=AGE))


def live_and_stored(root: Path, candles: int, settings: Settings = SETTINGS) -> tuple[TrainerStatus, TrainerStatus]:
    """The status of a session of so many candles, and the one that is read from its record."""
    session = rigs.service(root, settings)
    rigs.feed(session, rigs.CANDLES[:candles])
    live = session.status()
    session.close()
    with database(root) as db:
        return live, stored_status(db, RunStore(db).get(live.run_id), settings)


@pytest.mark.parametrize("candles", [AGE // 2, AGE, AGE + 20])
def test_before_the_trainer_has_started_the_answer_on_learning_is_there(tmp_path: Path, candles: int) -> None:
    live, stored = live_and_stored(tmp_path, candles)
    assert live.markets[0].online is not None and stored.markets[0].online is not None
    assert stored.markets[0].online.gain == live.markets[0].online.gain and stored.markets[0].online.needed == AGE
    has_reference_model = live.markets[0].online.age > AGE
    assert (stored.markets[0].online.age > AGE) is has_reference_model
    assert has_reference_model or stored.markets[0].online.age == live.markets[0].online.age


def test_candles_after_a_gap_are_counted_alike_live_from_the_record_and_after_a_start(tmp_path: Path) -> None:
    session = rigs.service(tmp_path, SETTINGS)
    rigs.feed(session, without(rigs.CANDLES[:40], 15, 25, 26))
    live = session.status()
    session.close()
    restarted = rigs.service(tmp_path, SETTINGS)
    again = restarted.status()
    restarted.close()
    with database(tmp_path) as db:
        stored = stored_status(db, RunStore(db).get(live.run_id), SETTINGS)
    assert (
        live.markets[0].accuracy.after_gap
        == stored.markets[0].accuracy.after_gap
        == again.markets[0].accuracy.after_gap
        == 2
    )
    assert live.markets[0].accuracy.scored - live.markets[0].accuracy.skill_close.n == 2


def test_without_a_reference_model_there_is_no_answer_on_learning(tmp_path: Path) -> None:
    live, stored = live_and_stored(tmp_path, 30, replace(SETTINGS, online=OnlineSettings(twin_age=0)))
    assert live.markets[0].online is stored.markets[0].online is None
