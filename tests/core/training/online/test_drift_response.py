"""A drift in a whole session: it is reported once, stored, and the same after a restart."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.events import DriftFound, Incident, Severity, StepDone, TrainerEvent
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import OnlineSettings, Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.commands import SetLearned, SetPaused, StopSession
from core.training.online.drift import ANSWER_STEPS
from tests.core.training import rigs
from tests.support.candles import random_walk

CALM, WILD = 205, 30
"""The first are a little more than the detector wants to have seen."""
SMALLER = replace(
    rigs.SMALL,
    model=replace(rigs.SMALL.model, horizons=1),
    training=replace(rigs.SMALL.training, replay_samples=0),
    checkpoints=replace(rigs.SMALL.checkpoints, every_steps=50),
)


@cache
def candles() -> tuple[Candle, ...]:
    """Volumes that hardly change, then unpredictable ones."""
    walk, generator = random_walk(CALM + WILD, seed=2), np.random.default_rng(3)
    calm, wild = generator.normal(0.0, 0.02, CALM), generator.normal(0.0, 2.5, WILD)
    volumes = 100.0 * np.exp(np.concatenate([calm, wild]))
    return tuple(replace(candle, volume=float(volume)) for candle, volume in zip(walk, volumes, strict=True))


def settings(drift: str, **training: Any) -> Settings:
    online = OnlineSettings(drift=drift, twin_age=0)  # type: ignore[arg-type]
    return replace(SMALLER, online=online, training=replace(SMALLER.training, **training))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has taken the calm candles, and found no drift in them."""
    root = tmp_path_factory.mktemp("calm")
    session = rigs.service(root, settings(drift="mark"))
    assert not of(rigs.feed(session, candles()[:CALM]))
    session.handle(StopSession())
    session.close()
    return root


@pytest.fixture
def root(tmp_path: Path, calm: Path) -> Path:
    """A folder to continue in."""
    shutil.copytree(calm, tmp_path, dirs_exist_ok=True)
    return tmp_path


def of(events: list[TrainerEvent]) -> list[DriftFound]:
    return [event for event in events if isinstance(event, DriftFound)]


def stored(root: Path) -> tuple[list[DriftFound], list[Incident]]:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        reader = RecordReader(db, RunStore(db).list()[0].run_id)
        return reader.drifts(), [incident for incident in reader.incidents() if incident.kind == IncidentKind.DRIFT]


def test_a_drift_is_reported_stored_and_listed_once_even_if_replayed(root: Path) -> None:
    wanted = settings(drift="mark")
    second = rigs.service(root, replace(wanted, checkpoints=replace(wanted.checkpoints, every_steps=1_000)))
    (found, *more) = of(events := rigs.feed(second, candles()[CALM:]))
    second.close()  # as after a kill: the newest checkpoint is from before the drift
    incidents = [event for event in events if isinstance(event, Incident) and event.kind == IncidentKind.DRIFT]
    assert not more and found.loss_after > 1.4 * found.loss_before and found.candles <= WILD
    (incident,) = incidents
    assert incident.severity is Severity.INFO and incident.what_was_done == found.what_was_done
    assert candles()[CALM].open_time_ms < found.candle_open_time_ms
    third = rigs.service(root, wanted)
    (again,) = of(rigs.feed(third, candles()[CALM:]))
    third.close()
    assert replace(again, at_ms=0) == replace(found, at_ms=0)
    assert stored(root) == ([found], incidents)


def test_no_drift_is_detected_if_disabled(root: Path) -> None:
    service = rigs.service(root, settings(drift="off"))
    service.handle(SetPaused(True))
    assert not of(rigs.feed(service, candles()[CALM:]))
    service.close()
    assert stored(root) == ([], [])


@pytest.mark.slow
def test_a_drift_raises_the_rate_temporarily(root: Path) -> None:
    service = rigs.service(root, settings(drift="learn"))
    events = rigs.feed(service, candles()[CALM:])
    service.close()
    rates = {event.candle_open_time_ms: event.learning_rate for event in events if isinstance(event, StepDone)}
    (found,) = of(events)
    before = [rate for opened, rate in rates.items() if opened < found.candle_open_time_ms]
    after = [rate for opened, rate in rates.items() if opened >= found.candle_open_time_ms]
    assert set(before) == {1e-2} and after[0] == pytest.approx(3e-2)
    assert after == sorted(after, reverse=True) and after[-1] > 1e-2 and len(after) < ANSWER_STEPS
    assert "was set to 3 times its value" in found.what_was_done, "it is read when the rate is back, too"


@pytest.mark.parametrize(
    ("command", "because"),
    [(SetPaused(True), "training is paused"), (SetLearned(False, rigs.MARKET), "does not learn from")],
)
def test_where_nothing_is_learned_the_drift_is_reported_without_action(
    root: Path, command: SetPaused | SetLearned, because: str
) -> None:
    service = rigs.service(root, settings(drift="learn"))
    service.handle(command)
    (found,) = of(rigs.feed(service, candles()[CALM:]))
    assert service._session.engine.schedule.factor == 1.0
    service.close()
    assert because in found.what_was_done
