from __future__ import annotations

import dataclasses
import os
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch

from core.checkpoints.best import is_proven_to_add
from core.domain.clock import ManualClock
from core.domain.events import (
    CheckpointForecast,
    CheckpointsChanged,
    Estimate,
    ForecastMade,
    Incident,
    TrainerReady,
)
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.weights import CheckpointError, read_weights, write_weights
from core.training.commands import (
    ApplyDeletions,
    ApplyRetention,
    ForecastWith,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetPaused,
    StopSession,
)
from core.training.hosting import checkpoint_writer
from core.training.online.score_ledger import CheckpointScores
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter

CANDLES = rigs.CANDLES


def files(root: Path) -> list[Path]:
    """Files of checkpoints; the reference model has others."""
    return sorted(path for path in (root / "models").rglob("*.safetensors") if path.parent.name != "twins")


def rows(root: Path, run_id: str) -> list:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        return CheckpointRows(db).list(run_id)


def test_a_checkpoint_every_ten_steps_and_a_file_for_every_row(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    events = rigs.feed(session, CANDLES[:71])
    run_id = session.status().run_id
    session.close()
    saved = [info.step for info in rigs.saved(events)]
    assert saved == list(range(10, 80, 10))
    kept = rows(tmp_path, run_id)
    assert {tmp_path / info.file for info in kept} == set(files(tmp_path))
    assert len(kept) < len(saved), "old ones are cleaned up"
    assert all(read_weights(tmp_path / info.file, info.sha256) for info in kept)


def test_checkpoints_return_freed_memory_at_most_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    returned_at_s: list[float] = []
    clock = ManualClock()
    monkeypatch.setattr(checkpoint_writer, "return_freed_memory", lambda: returned_at_s.append(clock.monotonic_s()))
    session = rigs.service(tmp_path, clock=clock)
    start_s = clock.monotonic_s()
    for steps in (11, 10, 10, 10):
        rigs.feed(session, rigs.after(session)[:steps])
        clock.advance_ms(35_000)
    session.close()
    assert [at_s - start_s for at_s in returned_at_s] == [0.0, 70.0]


UNKNOWN = Estimate(None, None, None, 0)


def score_as(monkeypatch: pytest.MonkeyPatch, skill: float, gain: Estimate = UNKNOWN) -> None:
    scores = CheckpointScores(Estimate(skill, skill - 0.1, skill + 0.1, 100), None, gain)
    monkeypatch.setattr(checkpoint_writer, "score_together", lambda *_: scores)


def test_only_a_best_that_is_proven_to_add_is_news(
    tmp_path: Path, session_after: SessionAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score of an unproven checkpoint does not raise the bar for those that are proven to add."""
    session = session_after(tmp_path, 41)
    infos = []
    adds, harms = Estimate(0.1, 0.05, 0.2, 900), Estimate(-0.1, -0.2, -0.05, 900)
    measured = [(0.1, UNKNOWN), (0.9, harms), (0.5, UNKNOWN), (0.02, adds), (0.01, adds), (0.03, adds)]
    for skill, gain in measured:
        score_as(monkeypatch, skill, gain)
        infos += rigs.saved(rigs.feed(session, rigs.after(session)[:10]))
    best = session._writer._rows.best(session.status().run_id)
    session.close()
    assert [info.is_best for info in infos] == [True, False, True, True, False, True]
    assert [info.reason == "best" for info in infos] == [False, False, False, True, False, True]
    assert best is not None and best.skill == 0.03


@pytest.mark.slow
def test_the_highest_score_needs_a_window_and_is_never_deleted(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 121)
    run_id = session.status().run_id
    session.close()
    kept = rows(tmp_path, run_id)
    scored = [info for info in kept if info.skill is not None]
    best = sorted(scored, key=lambda info: info.skill or 0.0, reverse=True)
    assert [info.is_best for info in kept if info.skill is not None and info == best[0]] == [True]
    assert not any(map(is_proven_to_add, kept)), "a random walk has nothing to add"
    assert all(info.skill is None for info in kept if info.scored < 100)
    assert best[0].device == "CPU, 1 thread" and best[0].health
    assert best[0].coverage is not None and 0.0 <= best[0].coverage <= 1.0
    assert best[0].direction is not None and 0.0 <= best[0].direction <= 1.0


@pytest.mark.faults
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_non_finite_skill_is_never_best_nor_stored(
    tmp_path: Path, session_after: SessionAfter, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_after(tmp_path, 91)  # no best yet
    rigs.feed(session, CANDLES[91:92])
    scores = session._session.market.scores
    monkeypatch.setattr(
        scores, "checkpoint_scores", lambda: CheckpointScores(Estimate(value, value, value, 100), None, UNKNOWN)
    )
    asked = rigs.saved_now(session)
    monkeypatch.undo()
    assert not asked.is_best and (asked.skill, asked.skill_low, asked.skill_high) == (None, None, None)
    assert asked.scored == 100
    score_as(monkeypatch, 0.02)
    later = rigs.saved(rigs.feed(session, CANDLES[92:101]))
    session.close()
    assert [info.is_best for info in later] == [True]


def test_a_truncated_newest_file_falls_back_to_the_previous_one(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 41)
    session.close()
    newest = max(files(tmp_path), key=lambda path: path.name)
    newest.write_bytes(newest.read_bytes()[:-100])
    resumed = rigs.service(tmp_path)
    events = resumed.opening_events()
    resumed.close()
    incidents = [event for event in events if isinstance(event, Incident)]
    ready = next(event for event in events if isinstance(event, TrainerReady))
    assert [incident.kind for incident in incidents] == ["checkpoint refused"]
    assert ready.step == 30


@pytest.mark.parametrize("is_any_good", [True, False])
def test_a_checkpoint_of_skipped_steps_is_only_the_last_resort(
    tmp_path: Path, session_after: SessionAfter, is_any_good: bool
) -> None:
    session_after(tmp_path, 41).close()
    with closing(open_database(DataFolder(tmp_path).database)) as db, db.conn:
        db.execute("UPDATE checkpoints SET is_known_good = ?", [is_any_good])
        db.execute("UPDATE checkpoints SET is_known_good = 0 WHERE step >= 40")
    resumed = rigs.service(tmp_path)
    ready = next(event for event in resumed.opening_events() if isinstance(event, TrainerReady))
    resumed.close()
    assert ready.step == (30 if is_any_good else 40)


def test_restoring_reverts_the_weights_but_not_the_position(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 31)
    run_id, wanted = session.status().run_id, rigs.saved_now(session)
    before = [parameter.detach().clone() for parameter in session._session.engine.model.parameters()]
    rigs.feed(session, CANDLES[31:51])
    digest = rigs.digest(tmp_path, run_id)
    position = session.status().position_ms
    session.handle(RestoreCheckpoint(wanted.checkpoint_id))
    after = list(session._session.engine.model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert session.status().position_ms == position and rigs.digest(tmp_path, run_id) == digest
    session.close()


def test_a_restore_survives_a_restart_without_a_step(tmp_path: Path, session_after: SessionAfter) -> None:
    """Paused, taken back, closed: neither step nor position has moved, and yet the state is another."""
    session = session_after(tmp_path, 31)
    wanted = rigs.saved_now(session)
    kept = [parameter.detach().clone() for parameter in session._session.engine.model.parameters()]
    rigs.feed(session, CANDLES[31:46])
    session.handle(SetPaused(True))
    events = session.handle(RestoreCheckpoint(wanted.checkpoint_id))
    saved = rigs.saved(events)
    assert [info.reason for info in saved] == ["restore"] and saved[0].parent_id == wanted.checkpoint_id
    session.handle(StopSession())
    session.close()
    again = rigs.service(tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(kept, again._session.engine.model.parameters(), strict=True))
    again.close()


def test_an_unknown_checkpoint_is_refused_with_an_explanation(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 11)
    events = session.handle(RestoreCheckpoint("nonsense"))
    incident = next(event for event in events if isinstance(event, Incident))
    assert incident.kind == "restore refused" and "nonsense" in incident.what_happened
    session.close()


def test_the_window_requests_and_the_trainer_deletes(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 41)
    run_id = session.status().run_id
    known = rows(tmp_path, run_id)
    victim, newest = known[-1], known[0]
    window = open_database(DataFolder(tmp_path).database)
    CheckpointRows(window).request_deletion([victim.checkpoint_id, newest.checkpoint_id], 1)
    window.close()
    session.handle(ApplyDeletions())
    session.close()
    left = {info.checkpoint_id for info in rows(tmp_path, run_id)}
    assert victim.checkpoint_id not in left and not (tmp_path / victim.file).exists()
    assert newest.checkpoint_id in left, "what is in use stays"


def test_a_preview_equals_the_forecast_after_a_restore_and_changes_nothing(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    untouched = session_after(tmp_path / "untouched", 46)
    expected = rigs.digest(tmp_path / "untouched", untouched.status().run_id)
    untouched.close()
    session = session_after(tmp_path / "seen", 41)
    run_id = session.status().run_id
    asked = rows(tmp_path / "seen", run_id)[-1].checkpoint_id
    files_before, stored = files(tmp_path), rigs.digest(tmp_path / "seen", run_id)
    seen, unknown = (
        event
        for event in session.handle(ForecastWith((asked, "nonsense"), rigs.MARKET))
        if isinstance(event, CheckpointForecast)
    )
    assert files(tmp_path) == files_before and rigs.digest(tmp_path / "seen", run_id) == stored
    assert unknown.forecast is None and "nonsense" in unknown.why_not
    assert seen.forecast is not None and seen.forecast.step == 10 and len(seen.forecast.ghosts) == 3
    rigs.feed(session, CANDLES[41:46])
    assert rigs.digest(tmp_path / "seen", run_id) == expected, "the run continues as if there had been no preview"
    session.close()


def test_a_preview_of_the_model_in_use_is_the_stored_forecast(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 21)
    session.handle(SetPaused(True))
    (made,) = (event for event in rigs.feed(session, CANDLES[21:22]) if isinstance(event, ForecastMade))
    events = session.handle(SaveCheckpoint())
    (newest,) = rigs.saved(events) or rows(tmp_path, session.status().run_id)[:1]
    (seen,) = (
        e
        for e in session.handle(ForecastWith((newest.checkpoint_id,), rigs.MARKET))
        if isinstance(e, CheckpointForecast)
    )
    session.close()
    assert seen.forecast is not None and seen.forecast.ghosts == made.ghosts


@pytest.mark.parametrize("is_restored", [False, True])
def test_a_previewed_checkpoint_is_not_deleted_until_the_preview_ends(
    tmp_path: Path, session_after: SessionAfter, is_restored: bool
) -> None:
    """Regression: clean-up deleted a checkpoint whose preview was open."""
    session = session_after(tmp_path, 41)
    run_id = session.status().run_id
    open_id = rows(tmp_path, run_id)[-1].checkpoint_id
    session.handle(ForecastWith((open_id,), rigs.MARKET))
    with closing(open_database(DataFolder(tmp_path).database)) as window:
        CheckpointRows(window).request_deletion([open_id], 1)
    rules = dataclasses.replace(rigs.SMALL.checkpoints, keep_newest=2, keep_best=1)
    for command in (ApplyDeletions(), ApplyRetention(rules, at_once=True)):
        session.handle(command)
    assert open_id in {info.checkpoint_id for info in rows(tmp_path, run_id)}
    restore = RestoreCheckpoint(rows(tmp_path, run_id)[1].checkpoint_id)
    session.handle(restore if is_restored else ForecastWith((), rigs.MARKET))
    session.handle(ApplyDeletions())
    assert open_id not in {info.checkpoint_id for info in rows(tmp_path, run_id)}
    (seen,) = (
        each for each in session.handle(ForecastWith((open_id,), rigs.MARKET)) if isinstance(each, CheckpointForecast)
    )
    session.close()
    assert seen.why_not == "The checkpoint of step 10 was deleted or cleaned up meanwhile."


def test_retention_rules_apply_from_the_command_on(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 121)
    run_id = session.status().run_id
    before = len(rows(tmp_path, run_id))
    rules = dataclasses.replace(rigs.SMALL.checkpoints, keep_newest=2, keep_best=1)
    assert session.handle(ApplyRetention(rules)) and len(rows(tmp_path, run_id)) == before
    events = session.handle(ApplyRetention(rules, at_once=True))
    deleted = next(event.deleted_ids for event in events if isinstance(event, CheckpointsChanged))
    session.close()
    assert len(rows(tmp_path, run_id)) == before - len(deleted) < before
    assert len(files(tmp_path)) == len(rows(tmp_path, run_id))


def test_a_checkpoint_restored_while_steps_are_skipped_is_continued(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    session = session_after(tmp_path, 41)
    rigs.feed(session, rigs.after(session, 44))
    ladder, run_id = session._session.ladder, session.status().run_id
    ladder.restore({**ladder.state(), "skipped_in_a_row": 2})
    session.handle(SaveCheckpoint())
    session.handle(RestoreCheckpoint(rows(tmp_path, run_id)[-1].checkpoint_id))
    session.close()
    restored, skipping, *_ = rows(tmp_path, run_id)
    assert restored.is_known_good and not skipping.is_known_good
    session = rigs.service(tmp_path)
    (ready,) = (event for event in session.opening_events() if isinstance(event, TrainerReady))
    session.close()
    assert ready.resumed_from == restored.checkpoint_id


def test_a_deletion_can_be_undone_until_the_file_is_removed(tmp_path: Path, session_after: SessionAfter) -> None:
    clock = ManualClock(10_000_000)
    session_after(tmp_path, 41).close()
    session = rigs.service(tmp_path, clock=clock)
    victim, other = rows(tmp_path, session.status().run_id)[-2:]
    window = open_database(DataFolder(tmp_path).database)
    table = CheckpointRows(window)
    table.request_deletion([victim.checkpoint_id, other.checkpoint_id], clock.now_ms())
    session.handle(ApplyDeletions())
    assert (tmp_path / victim.file).exists()
    assert table.cancel_deletion([victim.checkpoint_id]) == (victim.checkpoint_id,)
    clock.advance_ms(rigs.SMALL.checkpoints.undo_minutes * 60_000 - 1)
    session.handle(ApplyDeletions())
    assert (tmp_path / other.file).exists()
    clock.advance_ms(1)
    rigs.feed(session, CANDLES[41:51])
    session.close()
    assert (tmp_path / victim.file).exists() and not (tmp_path / other.file).exists()
    assert table.cancel_deletion([other.checkpoint_id]) == ()
    window.close()


def test_orphans_of_a_crash_are_swept(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 11)
    session.close()
    orphan = files(tmp_path)[0].with_name("step-00000099-ffffff.safetensors")
    orphan.write_bytes(b"half")
    rigs.service(tmp_path).close()
    assert not orphan.exists()


def test_a_start_keeps_the_files_of_a_linked_folder(tmp_path: Path, session_after: SessionAfter) -> None:
    session_after(tmp_path, 11).close()
    (tmp_path / "models").rename(tmp_path / "large")
    (tmp_path / "models").symlink_to(tmp_path / "large")
    session = rigs.service(tmp_path)
    assert session.status().step > 0 and all(
        (tmp_path / info.file).exists() for info in rows(tmp_path, session.status().run_id)
    )
    session.close()


def test_a_file_that_cannot_be_deleted_fails_nothing(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 41)
    victim = rows(tmp_path, session.status().run_id)[-1]
    (tmp_path / victim.file).unlink()
    (tmp_path / victim.file).mkdir()
    window = open_database(DataFolder(tmp_path).database)
    CheckpointRows(window).request_deletion([victim.checkpoint_id], 1)
    window.close()
    session.handle(ApplyDeletions())
    assert victim.checkpoint_id not in {info.checkpoint_id for info in rows(tmp_path, session.status().run_id)}
    session.close()
    rigs.service(tmp_path).close()


@pytest.mark.parametrize("of_model", [False, True])
def test_a_non_finite_state_gets_no_checkpoint(tmp_path: Path, session_after: SessionAfter, of_model: bool) -> None:
    session = session_after(tmp_path, 11)
    if of_model:
        with torch.no_grad():
            next(session._session.engine.model.parameters()).fill_(float("nan"))
    else:
        session._session.losses.best = float("nan")
    before = files(tmp_path)
    events = session.handle(SaveCheckpoint())
    session.close()
    assert files(tmp_path) == before
    assert next(event for event in events if isinstance(event, Incident)).kind == "checkpoint not written"


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root, or Windows, may write anywhere")
def test_a_read_only_folder_is_an_incident(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 11)
    (tmp_path / "models").chmod(0o500)
    events = session.handle(StopSession())
    (tmp_path / "models").chmod(0o700)
    session.close()
    assert any(isinstance(event, Incident) for event in events)


def test_another_architecture_starts_another_run(tmp_path: Path, session_after: SessionAfter) -> None:
    session = session_after(tmp_path, 11)
    first = session.status().run_id
    session.close()
    wider = dataclasses.replace(rigs.SMALL, model=dataclasses.replace(rigs.SMALL.model, width=16))
    other = rigs.service(tmp_path, wider)
    assert other.status().run_id != first and other.status().step == 0
    other.close()


def test_weights_round_trip_exactly(tmp_path: Path) -> None:
    tensors = {"a": torch.randn(3, 4), "b": torch.arange(5), "c": torch.tensor(True)}
    written = write_weights(tmp_path / "file.safetensors", tensors, {"step": 3, "text": "é"})
    loaded, metadata = read_weights(tmp_path / "file.safetensors", written.sha256)
    assert metadata == {"step": 3, "text": "é"}
    assert all(torch.equal(tensors[name], loaded[name]) for name in tensors)
    assert [path.name for path in tmp_path.iterdir()] == ["file.safetensors"]


@pytest.mark.parametrize("content", [b"\x80\x04pickled", b"PK\x03\x04zip", b"", b"\xff" * 64])
def test_a_file_that_is_no_checkpoint_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "evil.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"evil.safetensors is not a whole safetensors file"):
        read_weights(path)


def test_a_flipped_byte_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    written = write_weights(path, {"a": torch.zeros(100)}, {})
    data = bytearray(path.read_bytes())
    data[-7] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match="altered"):
        read_weights(path, written.sha256)


def test_a_deletion_requested_without_a_trainer_is_done_at_the_next_start(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    session = session_after(tmp_path, 41)
    run_id = session.status().run_id
    session.close()
    unwanted, pinned = rows(tmp_path, run_id)[2:4]
    db = open_database(DataFolder(tmp_path).database)
    checkpoints = CheckpointRows(db)
    checkpoints.request_deletion([unwanted.checkpoint_id, pinned.checkpoint_id], 1)
    checkpoints.set_pinned(pinned.checkpoint_id, True)
    db.close()
    again = rigs.service(tmp_path)
    changed = [event for event in again.opening_events() if isinstance(event, CheckpointsChanged)]
    again.close()
    assert [event.deleted_ids for event in changed] == [(unwanted.checkpoint_id,)]
    kept = [info.checkpoint_id for info in rows(tmp_path, run_id)]
    assert unwanted.checkpoint_id not in kept and pinned.checkpoint_id in kept
    assert (tmp_path / pinned.file).exists() and not (tmp_path / unwanted.file).exists()


def test_a_pause_at_a_checkpoint_step_writes_no_further_checkpoints(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    session = session_after(tmp_path, 31)
    session.handle(SetPaused(True))
    before = len(rows(tmp_path, session.status().run_id))
    rigs.feed(session, CANDLES[31:42])
    assert len(rows(tmp_path, session.status().run_id)) == before
    session.close()
