"""A checkpoint's figures belong to its own line of weights: other models' forecasts and losses do not count."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from core.domain.candle import Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import SystemClock
from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import Incident, TrainerEvent, Trend
from core.evaluation.summary import summarise
from core.settings.tree import CheckpointSettings
from core.storage.checkpoints import CheckpointRows
from core.storage.folder import DataFolder
from core.training.commands import RestoreCheckpoint, SetLearningRate
from core.training.hosting.service import TrainingService
from core.training.online import score_ledger
from tests.core.training import rigs
from tests.support.candles import random_walk

CANDLES = random_walk(420)
HEALTHY = 83
WRECKED = 113
MINUTE_MS = 60_000
WENT_ON_UNTIL = WRECKED + 70
"""Candles after a restore: more than a window, up to past a checkpoint's."""
OTHER = Market("file", "other", Interval(MINUTE_MS))
WINDOW = 60
"""Own scores that a checkpoint needs here: the program's 100 would take twice as long."""
LOSSES = 50
"""The same of losses."""
SETTINGS = dataclasses.replace(
    rigs.SMALL,
    training=dataclasses.replace(rigs.SMALL.training, learning_rate=1e-3),
    checkpoints=CheckpointSettings(every_steps=10, keep_newest=100, keep_best=1, keep_every_steps=0),
)


def fed(session: TrainingService, stop: int) -> list[TrainerEvent]:
    position = session.status().position_ms
    return rigs.feed(session, [one for one in CANDLES[:stop] if position is None or one.open_time_ms > position])


def restored(session: TrainingService, checkpoint_id: str) -> CheckpointInfo:
    (info,) = rigs.saved(session.handle(RestoreCheckpoint(checkpoint_id)))
    assert info.reason == "restore"
    return info


def figures(info: CheckpointInfo) -> tuple[float | None, ...]:
    skill = info.skill, info.skill_low, info.skill_high, info.shown_skill, info.scored
    gain = info.model_gain, info.gain_low, info.gain_high, info.gain_candles
    return *skill, *gain, info.loss, info.coverage, info.direction


_KEPT = 81
"""Candles of the folder that the others start from: a session continues from its newest checkpoint, of step 80."""


@pytest.fixture(scope="module", autouse=True)
def short_window() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_ledger, "_FEWEST_FOR_CHECKPOINT", WINDOW)
        yield


@pytest.fixture(scope="module")
def healthy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("healthy")
    session = rigs.service(root, SETTINGS)
    fed(session, 12)
    rigs.saved_now(session)
    fed(session, _KEPT)
    session.close()
    return root


def well(healthy_folder: Path, root: Path) -> TrainingService:
    """A copy of the healthy run, after HEALTHY candles; it has one manual checkpoint, of step 11."""
    shutil.copytree(healthy_folder, root, dirs_exist_ok=True)
    session = rigs.service(root, SETTINGS)
    fed(session, HEALTHY)
    assert session.status().step == HEALTHY - 1
    return session


@pytest.fixture(scope="module")
def wreck_folder(healthy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("wreck")
    session = well(healthy_folder, root)
    session.handle(SetLearningRate(1.0))
    fed(session, WRECKED)
    rigs.saved_now(session)
    session.close()
    return root


@pytest.fixture
def place(wreck_folder: Path, tmp_path: Path) -> Path:
    """A copy of a run that diverged at a rate of 1."""
    return Path(shutil.copytree(wreck_folder, tmp_path / "data"))


def kept(session: TrainingService, reason: str) -> CheckpointInfo:
    """The newest of this reason."""
    return next(info for info in session._writer.kept() if info.reason == reason)


def resumed(place: Path) -> tuple[TrainingService, CheckpointInfo, CheckpointInfo]:
    """The diverged run, with its checkpoint from before the change and its newest."""
    session = rigs.service(place, SETTINGS)
    healthy, wreck = kept(session, "change"), kept(session, "manual")
    assert healthy.skill is not None and wreck.skill is not None and wreck.skill < healthy.skill - 0.1
    return session, healthy, wreck


@dataclasses.dataclass(frozen=True)
class WentOn:
    """The run after its healthy checkpoint was restored. midway: its folder as of a crash; end: when closed."""

    midway: Path
    end: Path
    run_id: str
    healthy: CheckpointInfo
    wreck: CheckpointInfo
    back: CheckpointInfo
    later: list[CheckpointInfo]
    """Saved while it continued; the last one manually."""


@pytest.fixture(scope="module")
def went_on(wreck_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> WentOn:
    end, midway = tmp_path_factory.mktemp("end"), tmp_path_factory.mktemp("midway")
    shutil.copytree(wreck_folder, end, dirs_exist_ok=True)
    session, healthy, wreck = resumed(end)
    back = restored(session, healthy.checkpoint_id)
    later = rigs.saved(fed(session, WRECKED + 62))
    shutil.copytree(end, midway, dirs_exist_ok=True)
    later += rigs.saved(fed(session, WENT_ON_UNTIL))
    run_id = session.status().run_id
    later.append(rigs.saved_now(session))
    session.close()
    return WentOn(midway, end, run_id, healthy, wreck, back, later)


def test_a_restored_model_has_its_own_figures_without_the_diverged_ones(went_on: WentOn) -> None:
    healthy, wreck = went_on.healthy, went_on.wreck
    assert figures(went_on.back) == figures(healthy) != figures(wreck)
    assert healthy.loss is not None and wreck.skill is not None
    for info in went_on.later:
        own = candles_since(info)
        assert info.gain_candles <= own
        assert info.scored == own, "the candle at which it was restored was forecast by the wreck"
        assert (info.skill is None) is (info.shown_skill is None) is (own < WINDOW)
        assert (info.loss is None) is (own < LOSSES)
        assert info.loss is None or info.loss < 2.0 * healthy.loss
    assert {info.skill is None for info in went_on.later} == {True, False}
    assert all(info.skill > wreck.skill for info in went_on.later if info.skill is not None)


def candles_since(info: CheckpointInfo) -> int:
    """Scored since the restore: forecasts that were made after that candle, of those that have closed."""
    return (info.candle_open_time_ms - CANDLES[WRECKED - 1].open_time_ms) // MINUTE_MS - 1


def test_an_unscored_model_inherits_no_scores(healthy_folder: Path, tmp_path: Path) -> None:
    """Neither does what it saves later: step 10 once had thirteen percent, and soon the trophy."""
    session = well(healthy_folder, tmp_path)
    early = kept(session, "manual")
    best = rigs.saved_now(session)
    assert best.skill is not None and early.skill is None
    back = restored(session, early.checkpoint_id)
    assert early.step == 11 and figures(back) == figures(early) and back.skill is back.shown_skill is back.loss is None
    later = rigs.saved(fed(session, HEALTHY + 42))
    assert later and all(info.skill is info.shown_skill is info.gain_low is None for info in later)
    assert all(info.gain_candles < HEALTHY for info in later)
    assert highest_score(session) not in {info.checkpoint_id for info in [back, *later]}
    session.close()


def highest_score(session: TrainingService) -> str:
    scored = [info for info in session._writer.kept() if info.skill is not None]
    return max(scored, key=lambda info: info.skill or 0.0).checkpoint_id


def test_an_undone_restore_keeps_separate_figures(place: Path) -> None:
    session, healthy, wreck = resumed(place)
    restored(session, healthy.checkpoint_id)
    undone = restored(session, wreck.checkpoint_id)
    assert figures(undone) == figures(wreck)
    fed(session, WRECKED + 4)
    again = restored(session, undone.checkpoint_id)
    assert figures(again) == figures(wreck), "a checkpoint written after a restore can be restored too"
    fed(session, WRECKED + 5)
    assert rigs.saved_now(session).skill is None
    session.close()


def test_a_restart_continues_the_same_line(went_on: WentOn, tmp_path: Path) -> None:
    """Closed by a crash: the same figures as of a run that continued."""
    again = rigs.service(Path(shutil.copytree(went_on.midway, tmp_path / "copy")), SETTINGS)
    fed(again, WENT_ON_UNTIL)
    ends = went_on.later[-1], rigs.saved_now(again)
    again.close()
    assert figures(ends[0]) == figures(ends[1])
    assert ends[1].scored == WENT_ON_UNTIL - WRECKED - 1 > WINDOW and ends[1].skill is not None


@pytest.mark.slow
def test_a_start_from_an_older_checkpoint_claims_no_later_forecasts(went_on: WentOn, tmp_path: Path) -> None:
    """The restored model's checkpoints are damaged: only the diverged model is left, and its forecasts are not those
    in the record for the replayed candles."""
    place = Path(shutil.copytree(went_on.end, tmp_path / "copy"))
    for info in (went_on.back, *went_on.later):
        path = DataFolder(place).absolute(info.file)
        path.write_bytes(path.read_bytes()[:-100])
    again = rigs.service(place, SETTINGS)
    assert again.status().run_id == went_on.run_id and again.status().step == went_on.back.step
    fed(again, WENT_ON_UNTIL + 5)
    wreck = rigs.saved_now(again)
    assert wreck.skill is None and wreck.scored == 4, "of origins since the newest that the other one forecast"
    again.close()


@pytest.mark.faults
def test_a_rollback_begins_another_line(healthy_folder: Path, tmp_path: Path) -> None:
    session = well(healthy_folder, tmp_path)
    assert rigs.saved_now(session).skill is not None
    with torch.no_grad():
        next(session._session.engine.model.parameters()).view(-1)[0] = torch.nan
    events = fed(session, HEALTHY + 30)
    assert sum(isinstance(event, Incident) and event.kind == "rolled back" for event in events) == 1
    after = rigs.saved_now(session)
    assert after.skill is after.loss is None and after.scored == 28
    session.close()


@pytest.mark.slow
def test_another_runs_figures_are_not_taken_over(place: Path, tmp_path: Path) -> None:
    """They are of other candles, perhaps of another market."""
    session = TrainingService(rigs.spec(place, SETTINGS, OTHER), SystemClock())
    rigs.feed(session, CANDLES[: WINDOW + 2])
    theirs = next(info for info in CheckpointRows(session._db).list(first_run(session)) if info.skill is not None)
    assert rigs.saved_now(session).skill is not None
    back = restored(session, theirs.checkpoint_id)
    assert back.skill is back.shown_skill is back.loss is back.coverage is None and back.scored == 0
    session.close()


def first_run(session: TrainingService) -> str:
    return str(session._db.execute("SELECT run_id FROM runs ORDER BY sequence LIMIT 1").fetchone()[0])


def test_a_trend_is_computed_only_within_a_line(place: Path) -> None:
    """Back from 26 to 0.1 is no progress."""
    session, healthy, _ = resumed(place)
    restored(session, healthy.checkpoint_id)
    assert session.status().loss.current is None
    fed(session, WRECKED + 30)
    now, stored = session.status().loss, summarise(session._db, session._run)["loss"]
    assert now.trend is Trend.UNKNOWN and now.current is not None and now.current < 1.0
    assert stored["trend"] == Trend.UNKNOWN.value and stored["current"] == pytest.approx(now.current)
    session.close()


def test_a_start_after_a_restore_ignores_steps_of_the_diverged_model(place: Path) -> None:
    """The loss that fell with the restore was not learned."""
    session, healthy, _ = resumed(place)
    restored(session, healthy.checkpoint_id)
    fed(session, WRECKED + 13)
    session.close()
    again = rigs.service(place, SETTINGS)
    (verdict,) = [event for event in again.opening_events() if isinstance(event, Diagnosis)]
    assert verdict.disease is Disease.UNKNOWN and "13 steps" in verdict.evidence
    again.close()


def test_a_diverged_model_does_not_improve(place: Path) -> None:
    """Its loss falls from a height, and is still many times the earlier one."""
    session = rigs.service(place, SETTINGS)
    session.opening_events()
    assert session._health.newest is Disease.DIVERGED
    falling = [float(loss) for loss in range(100, 0, -1)]
    for losses, trend in ((falling, Trend.IMPROVING), ([0.9] * 100, Trend.FLAT)):
        session._session.losses.restore(0.1, losses, len(losses))
        assert session._session.losses.summary().trend is trend
        assert session.status().loss.trend is Trend.UNKNOWN
    session.close()
