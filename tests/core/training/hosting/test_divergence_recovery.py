"""A diverged model in a real session: reported, and recovered with the settings and checkpoint of the verdict."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch

from core.domain.diagnosis import Diagnosis, Disease, DivergenceRecovery, SettingChange
from core.domain.events import Incident, StepDone, TrainerEvent
from core.domain.incident_kinds import IncidentKind
from core.evaluation.summary import summarise
from core.settings.tree import CheckpointSettings, Settings
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import (
    ApplyDeletions,
    ApplyRetention,
    RestoreCheckpoint,
    SetClipNorm,
    SetLearningRate,
    StopSession,
    TrainerCommand,
)
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.support.candles import random_walk

RATE = 1e-3
SETTINGS = dataclasses.replace(
    rigs.SMALL,
    training=dataclasses.replace(rigs.SMALL.training, learning_rate=RATE),
    checkpoints=CheckpointSettings(every_steps=10, keep_newest=2, keep_best=1, keep_every_steps=0),
)
CANDLES = random_walk(400)
HEALTHY = 75
"""Candles before the change: no multiple of the checkpoints' spacing."""


_KEPT = 71
"""Candles of the folder that all begin with: a session continues from its newest checkpoint, that of step 70."""


@pytest.fixture(scope="module")
def healthy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("healthy")
    session = started(root)
    fed(session, _KEPT)
    session.close()
    return root


@pytest.fixture
def place(healthy_folder: Path, tmp_path: Path) -> Path:
    """A copy of a run that is well."""
    return Path(shutil.copytree(healthy_folder, tmp_path / "data"))


def well(place: Path, settings: Settings = SETTINGS) -> TrainingService:
    """The run, after HEALTHY candles."""
    session = started(place, settings)
    fed(session, HEALTHY)
    assert session.status().step == HEALTHY - 1
    return session


def started(root: Path, settings: Settings = SETTINGS) -> TrainingService:
    session = rigs.service(root, settings)
    session.opening_events()
    return session


def fed(session: TrainingService, stop: int) -> list[TrainerEvent]:
    """The events of the remaining candles up to `stop`."""
    position = session.status().position_ms
    return rigs.feed(session, [one for one in CANDLES[:stop] if position is None or one.open_time_ms > position])


def verdicts(events: Iterable[TrainerEvent]) -> list[Diagnosis]:
    return [event for event in events if isinstance(event, Diagnosis)]


def named(events: Iterable[TrainerEvent]) -> Diagnosis:
    """The first verdict that it has diverged."""
    return next(one for one in verdicts(events) if one.disease is Disease.DIVERGED)


def weights(session: TrainingService) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in session._session.engine.model.state_dict().items()}


def is_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize(
    ("orders", "taken_back"),
    [
        pytest.param([SetLearningRate(1.0)], {"learning_rate": RATE}, marks=pytest.mark.slow),
        ([SetClipNorm(1e6), SetLearningRate(1.0)], {"learning_rate": RATE, "clip_norm": 1.0}),
        pytest.param([SetLearningRate(0.5), SetLearningRate(1.0)], {"learning_rate": RATE}, marks=pytest.mark.slow),
    ],
    ids=["rate", "rate and clip", "rate, twice"],
)
def test_a_harmful_change_is_named_and_can_be_reverted(
    place: Path, orders: list[TrainerCommand], taken_back: dict[str, float]
) -> None:
    session = well(place)
    step, before = session.status().step, weights(session)
    answers = [event for order in orders for event in session.handle(order)]
    (kept,) = rigs.saved(answers)
    assert (kept.step, kept.reason) == (step, "change"), "the state is saved before the change"
    found = named(fed(session, HEALTHY + 20))
    assert found.step <= step + 20 and found.recovery is not None
    assert {change.name: change.value for change in found.recovery.changes} == taken_back
    assert (found.recovery.checkpoint_id, found.recovery.checkpoint_step) == (kept.checkpoint_id, step)
    assert f"restore the checkpoint of step {step}" in found.advice

    assert not is_same(before, weights(session))
    *settings, restore = go_back(found.recovery)
    between = [verdict for order in settings for verdict in verdicts(session.handle(order))][-1]
    assert between.disease is Disease.DIVERGED and between.change is None, "not another tenth of the rate"
    assert between.recovery == DivergenceRecovery((), kept.checkpoint_id, step)
    answers = list(session.handle(restore))
    parts = {
        "learning_rate": " The learning rate was set back to 0.001.",
        "clip_norm": " The clip threshold was set back to 1.",
    }
    also = "".join(words for name, words in parts.items() if name in taken_back)
    assert restore_sentence(answers) == f"The checkpoint of step {step} was restored on request.{also}"
    assert verdicts(answers)[-1].disease is Disease.UNKNOWN, "at once, not at the next tenth step"
    assert is_same(before, weights(session))
    status = session.status()
    assert (status.learning_rate, status.clip_norm) == (RATE, 1.0)
    later = verdicts(fed(session, HEALTHY + 85))
    assert Disease.HEALTHY in {one.disease for one in later}
    assert Disease.DIVERGED not in {one.disease for one in later}
    session.close()


def go_back(way: DivergenceRecovery) -> list[TrainerCommand]:
    """The command of the button."""
    make = {"learning_rate": SetLearningRate, "clip_norm": SetClipNorm}
    orders: list[TrainerCommand] = [make[change.name](float(change.value)) for change in way.changes]
    assert way.checkpoint_id is not None
    return [*orders, RestoreCheckpoint(way.checkpoint_id, way.changes)]


def restore_sentence(events: Iterable[TrainerEvent]) -> str:
    """The incident of the restore."""
    return next(
        event.what_happened for event in events if isinstance(event, Incident) and event.kind == IncidentKind.RESTORED
    )


def test_a_restore_that_resets_a_lowered_rate_is_reported(place: Path) -> None:
    session = well(place)
    whole = rigs.saved_now(session)
    assert restore_sentence(session.handle(RestoreCheckpoint(whole.checkpoint_id))).endswith(
        f"of step {whole.step} was restored on request."
    )
    session._session.engine.rate_factor = 0.25  # as the recovery ladder lowers it
    sentence = restore_sentence(session.handle(RestoreCheckpoint(whole.checkpoint_id)))
    assert sentence.endswith(f"of step {whole.step} was restored on request. The learning rate was set back to 0.001.")
    session.close()


@pytest.mark.slow
def test_a_further_change_does_not_make_a_diverged_run_healthy(place: Path) -> None:
    """The issue's: a rate of 1, then of 0.9. Neither that, nor a dozen checkpoints, nor a restart makes it green."""
    session = well(place)
    (kept,) = rigs.saved(session.handle(SetLearningRate(1.0)))
    fed(session, HEALTHY + 20)
    answers = session.handle(SetLearningRate(0.9))
    assert rigs.saved(answers) == [], "a wreck is nothing to go back to"
    assert named(answers).recovery == DivergenceRecovery(
        (SettingChange("training", "learning_rate", RATE),), kept.checkpoint_id, kept.step
    )
    found = verdicts(fed(session, HEALTHY + 150))
    assert {one.disease for one in found} == {Disease.DIVERGED}
    assert rigs.saved_now(session).health == Disease.DIVERGED
    session.close()

    at_rate = dataclasses.replace(SETTINGS.training, learning_rate=0.9)
    again = rigs.service(place, dataclasses.replace(SETTINGS, training=at_rate))
    found = named(again.opening_events())
    assert found.recovery is not None and found.recovery.checkpoint_id == kept.checkpoint_id, "it was kept"
    assert found.recovery.changes == (SettingChange("training", "learning_rate", RATE),)
    for order in go_back(found.recovery):
        again.handle(order)
    assert Disease.DIVERGED not in {one.disease for one in verdicts(fed(again, HEALTHY + 210))}
    again.close()


def test_restored_checkpoints_are_kept_and_diverged_ones_deleted_first(place: Path) -> None:
    """The walk's: the checkpoint in the banner was deleted at the next save, and a diverged one stayed."""
    session = well(place)
    (healthy,) = rigs.saved(session.handle(SetLearningRate(1.0)))
    way = named(fed(session, HEALTHY + 40)).recovery
    assert way is not None and way.checkpoint_id == healthy.checkpoint_id in kept_ids(session)
    answers = [event for order in go_back(way) for event in session.handle(order)]
    copy = rigs.saved(answers)[-1]
    assert (copy.reason, copy.health, copy.parent_id) == ("restore", healthy.health, healthy.checkpoint_id)
    fed(session, HEALTHY + 75)
    assert {healthy.checkpoint_id, copy.checkpoint_id} <= kept_ids(session), "nothing newer is known to be healthy"
    session.handle(ApplyRetention(SETTINGS.checkpoints, at_once=True))
    assert {healthy.checkpoint_id, copy.checkpoint_id} <= kept_ids(session)
    assert all(info.health != Disease.DIVERGED for info in session._writer.kept() if not info.is_in_use)
    session.close()


def test_an_offered_checkpoint_cannot_be_deleted_manually(place: Path) -> None:
    """The window asks for it; it goes once there is nothing to go back from."""
    at_once = dataclasses.replace(SETTINGS.checkpoints, undo_minutes=0)
    session = well(place, dataclasses.replace(SETTINGS, checkpoints=at_once))
    (healthy,) = rigs.saved(session.handle(SetLearningRate(1.0)))
    way = named(fed(session, HEALTHY + 20)).recovery
    assert way is not None
    CheckpointRows(session._db).request_deletion([healthy.checkpoint_id], at_ms=0)
    session.handle(ApplyDeletions())
    assert healthy.checkpoint_id in kept_ids(session)
    for order in go_back(way):
        session.handle(order)
    assert healthy.checkpoint_id not in kept_ids(session), "as was asked; its copy is in use"
    session.close()


def kept_ids(session: TrainingService) -> set[str]:
    return {info.checkpoint_id for info in session._writer.kept()}


@pytest.mark.slow
def test_a_restored_diverged_model_is_reported_by_its_anchor(place: Path) -> None:
    session = well(place)
    (sound,) = rigs.saved(session.handle(SetLearningRate(1.0)))
    fed(session, HEALTHY + 20)
    wreck = rigs.saved_now(session)
    session.handle(SetLearningRate(RATE))
    session.handle(RestoreCheckpoint(sound.checkpoint_id))
    fed(session, HEALTHY + 100)
    session.handle(RestoreCheckpoint(wreck.checkpoint_id))
    found = named(fed(session, HEALTHY + 120))
    assert found.recovery is not None and found.recovery.checkpoint_id is not None
    (back_to,) = [info for info in session._writer.kept() if info.checkpoint_id == found.recovery.checkpoint_id]
    assert back_to.health == Disease.HEALTHY and back_to.checkpoint_id != wreck.checkpoint_id
    session.close()


def test_a_rate_lowered_as_advised_is_not_raised_again(place: Path) -> None:
    """It diverged at the settings of the checkpoint, so a tenth of the rate is part of the way back."""
    session = well(place)
    with torch.no_grad():
        for value in session._session.engine.model.parameters():
            value.mul_(30.0)
    found = named(fed(session, HEALTHY + 30))
    assert found.recovery is not None and found.recovery.checkpoint_id is not None
    assert found.recovery.changes == (SettingChange("training", "learning_rate", RATE / 10),)
    lowered, restore = go_back(found.recovery)
    assert verdicts(session.handle(lowered))[-1].recovery == dataclasses.replace(found.recovery, changes=())
    assert verdicts(session.handle(restore))[-1].disease is Disease.UNKNOWN
    session.close()


def test_without_a_healthy_checkpoint_a_lower_rate_is_offered(tmp_path: Path) -> None:
    training = dataclasses.replace(SETTINGS.training, learning_rate=1.0)
    session = started(tmp_path, dataclasses.replace(SETTINGS, training=training))
    found = named(fed(session, 40))
    assert found.recovery == DivergenceRecovery((SettingChange("training", "learning_rate", 0.1),))
    session.close()


def test_a_diverged_run_gives_one_incident_and_one_row_of_spikes(place: Path) -> None:
    session = well(place)
    session.handle(SetLearningRate(1.0))
    events = fed(session, HEALTHY + 40)
    incidents = [event for event in events if isinstance(event, Incident)]
    assert {one.kind for one in incidents} == {"gradient doctor", "loss spike"}
    assert all(not one.what_it_cost.startswith(("Nothing", "Perhaps")) for one in incidents)
    (doctors,) = [one for one in incidents if one.kind == "gradient doctor"]
    assert "worse than without it" in doctors.what_it_cost
    spikes = [one for one in incidents if one.kind == "loss spike"]
    assert len(spikes) > 1 and len({one.episode for one in spikes}) == 1 and spikes[-1].count == len(spikes)
    stored = session._record.reader.incidents()
    assert [one for one in stored if one.kind == "loss spike"] == [spikes[-1]]
    assert any(isinstance(event, StepDone) for event in events)
    spikes_stored = [one for one in summarise(session._db, session._run)["incidents"] if one["kind"] == "loss spike"]
    assert [(one["count"], one["at_ms"] <= one["last_at_ms"]) for one in spikes_stored] == [(len(spikes), True)]
    session.close()


def test_a_diverged_run_offers_the_same_recovery_after_a_restart(place: Path) -> None:
    """Its newest steps may say nothing of it: here they are healthy, and only what is stored says that it is none."""
    session = well(place)
    (kept,) = rigs.saved(session.handle(SetLearningRate(2.0 * RATE)))
    fed(session, HEALTHY + 20)
    (last,) = rigs.saved(session.handle(StopSession()))
    session.close()
    with open_database(DataFolder(place).database) as db:
        db.execute("UPDATE checkpoints SET health = 'diverged' WHERE checkpoint_id = ?", (last.checkpoint_id,))
        db.conn.commit()
    again = rigs.service(place, SETTINGS)
    (verdict,) = verdicts(again.opening_events())
    assert verdict.disease is Disease.DIVERGED and verdict.recovery is not None
    assert verdict.recovery.checkpoint_id == kept.checkpoint_id
    again.close()
