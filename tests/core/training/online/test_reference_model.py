"""The reference model: its weights, its restart, and that it has no side effects."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.diagnosis import Disease
from core.domain.quantities import Quantity
from core.evaluation.details import evaluate_run
from core.forecast.experts import unpack_losses
from core.settings.tree import OnlineSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.records import StoredScore
from core.storage.runs import RunStore
from core.training.commands import RestoreCheckpoint, SetPaused
from core.training.hosting.opening import build_engine
from core.training.hosting.service import TrainingService
from core.training.online.health import GradientHealth
from core.training.online.reference_model import ReferenceModel
from core.training.online.score_ledger import skill_of_both
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.driven import scores_of

AGE = 20
RENEWED_EVERY = AGE // 4
CANDLES = rigs.CANDLES


def without_model(score: StoredScore) -> float:
    losses = unpack_losses(score.expert_losses)
    assert losses is not None
    return float(losses[0, Quantity.CLOSE])


def reference_losses(scores: Iterable[StoredScore]) -> list[float | None]:
    return [score.twin_loss for score in scores]


def test_it_appears_at_its_age_and_keeps_that_age(tmp_path: Path) -> None:
    service = rigs.service(tmp_path)
    model, ages = service._session.reference_model, []
    for candle in CANDLES[:46]:
        rigs.feed(service, [candle])
        ages.append(model.age_at(service._session.closes - 1))
    service.close()
    assert ages[:AGE] == list(range(AGE))
    assert set(ages[AGE:]) == set(range(AGE, AGE + RENEWED_EVERY))
    scores = scores_of(tmp_path)  # the n-th is of the forecast made after n candles
    assert reference_losses(scores[: AGE - 1]) == [None] * (AGE - 1)
    assert None not in reference_losses(scores[AGE:])
    untrained = scores[AGE : AGE + RENEWED_EVERY - 1]
    assert [score.twin_loss for score in untrained] == pytest.approx(
        [without_model(score) for score in untrained], rel=1e-5
    )
    later = scores[AGE + RENEWED_EVERY :]
    assert all(score.twin_loss != score.reference_loss for score in later)
    assert all(score.twin_loss != score.model_loss for score in later)
    kept = sorted(path.name for path in tmp_path.rglob("twins/*"))
    assert len(kept) <= 8 and kept[-1] == "candle-000000045.safetensors"


def test_it_equals_the_model_of_that_time(tmp_path: Path, session_after: SessionAfter) -> None:
    """If the model has stopped learning, a reference model frozen after that equals it."""
    stopped = 31
    service = session_after(tmp_path, stopped)
    service.handle(SetPaused(True))
    rigs.feed(service, CANDLES[stopped:60])
    service.close()
    scores = scores_of(tmp_path)
    same = [score.twin_loss == score.model_loss and score.range_twin_loss == score.range_model_loss for score in scores]
    first = 35 + AGE  # of the first that was taken after that
    assert all(same[first:]) and len(same) > first and not any(same[AGE + RENEWED_EVERY : stopped + AGE])


def test_forecasts_are_the_same_with_and_without_it(tmp_path: Path, session_after: SessionAfter) -> None:
    session_after(tmp_path / "with", 41).close()
    service = rigs.service(tmp_path / "without", replace(rigs.SMALL, online=OnlineSettings(twin_age=0)))
    rigs.feed(service, CANDLES[:41])
    service.close()
    plain = [
        replace(score, twin_loss=None, range_twin_loss=None, scored_at_ms=0) for score in scores_of(tmp_path / "with")
    ]
    assert plain == [replace(score, scored_at_ms=0) for score in scores_of(tmp_path / "without")]
    assert not list((tmp_path / "without").rglob("twins"))


def test_a_damaged_or_missing_snapshot_is_skipped_with_a_notice(
    tmp_path: Path, session_after: SessionAfter, caplog: pytest.LogCaptureFixture
) -> None:
    session_after(tmp_path, 31).close()
    files = sorted(tmp_path.rglob("twins/*"))
    files[0].unlink()
    for path in files[1:]:
        path.write_bytes(path.read_bytes()[:-9])
    with caplog.at_level(logging.WARNING, "ghostcandle.training"):
        service = rigs.service(tmp_path)
        rigs.feed(service, CANDLES[31:58])
        service.close()
    assert "cannot be used" in caplog.text
    scores = scores_of(tmp_path)
    assert len(scores) == 57 and reference_losses(scores)[-1] is not None and None in reference_losses(scores)[32:]


def test_a_failed_snapshot_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    service = rigs.service(tmp_path)
    folder = service._session.reference_model._folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")
    with caplog.at_level(logging.WARNING, "ghostcandle.training"):
        rigs.feed(service, CANDLES[:12])
    status = service.status()
    service.close()
    assert "could not be written" in caplog.text and len(scores_of(tmp_path)) == 11
    assert (
        status.markets[0].online is not None
        and status.markets[0].online.age == 0
        and status.markets[0].online.gain.value is None
    )


def test_no_snapshot_of_non_finite_weights(tmp_path: Path) -> None:
    engine = build_engine(rigs.SMALL, torch.device("cpu"), 5)
    model = ReferenceModel(engine, tmp_path / "run", AGE)
    with torch.no_grad():
        next(engine.model.parameters()).fill_(torch.nan)
    model.renew(0)
    assert model.age_at(7) == 0 and model.state()["snapshots"] == []


def test_the_status_shows_progress_and_then_the_result(tmp_path: Path, session_after: SessionAfter) -> None:
    service = session_after(tmp_path / "early", 11)
    early = service.status().markets[0].online
    service.close()
    assert early is not None and early.gain.value is None and (early.age, early.needed) == (11, AGE)
    service = session_after(tmp_path / "late", 61)
    late = service.status().markets[0].online
    service.close()
    assert late is not None and late.gain.value is not None and late.age >= AGE
    assert late.gain.low is None and late.gain.high is None, "too few blocks for what holds at every moment"
    scores = [score for score in scores_of(tmp_path / "late") if score.twin_loss is not None]
    assert late.close.n == len(scores)
    gain = 1.0 - sum(score.model_loss for score in scores) / sum(score.twin_loss or 0.0 for score in scores)
    assert late.close.value == pytest.approx(gain)


def test_evaluate_agrees_with_the_scores(tmp_path: Path, session_after: SessionAfter) -> None:
    session_after(tmp_path, 61).close()
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    found = evaluate_run(db, RunStore(db).list()[0], rigs.SMALL.model.horizons)
    db.close()
    scores = [score for score in scores_of(tmp_path) if score.twin_loss is not None]
    close = found["pinball"]["close"]
    assert close["online_gain_n"] == len(scores) == found["online"]["n"] and found["online"]["twin_age"] == AGE
    gain = 1.0 - sum(score.model_loss for score in scores) / sum(score.twin_loss or 0.0 for score in scores)
    assert close["online_gain"] == pytest.approx(gain)
    assert close["online_gain_ci95"][0] <= gain <= close["online_gain_ci95"][1]
    assert found["horizons"]["3"]["range"]["online_gain"] is not None
    json.dumps(found, allow_nan=False)


def test_a_real_gain_is_found_and_no_false_gain_claimed() -> None:
    generator = np.random.default_rng(4)
    reference = generator.gamma(2.0, 1.0, (2, 1_000))
    noise = generator.normal(0.0, 0.1, (2, 1_000))
    better, same = reference * (0.97 + 0.1 * noise), reference * (1.0 + noise)
    found = skill_of_both([*better], [*reference])
    assert found.value == pytest.approx(0.03, abs=0.005) and found.low is not None and found.low > 0.0
    nothing = skill_of_both([*same], [*reference])
    assert nothing.low is not None and nothing.high is not None and nothing.low < 0.0 < nothing.high


def test_too_few_losses_give_no_number() -> None:
    few, none = [np.ones(29)] * 2, [np.empty(0)] * 2
    found, nothing = skill_of_both(few, few), skill_of_both(none, none)
    assert (found.value, found.n, nothing.value, nothing.n) == (None, 29, None, 0)


def snapshot_ages(service: TrainingService) -> list[int]:
    return [candles for candles, _, _ in service._session.reference_model.state()["snapshots"]]


def test_a_restore_removes_snapshots_of_the_abandoned_weights(tmp_path: Path, session_after: SessionAfter) -> None:
    """A wreck as the reference would show a gain from learning that is none."""
    service = session_after(tmp_path, 31)
    before = snapshot_ages(service)
    saved = rigs.saved_now(service)
    rigs.feed(service, CANDLES[31:60])
    abandoned = set(snapshot_ages(service)) - set(before)
    assert abandoned
    service.handle(RestoreCheckpoint(saved.checkpoint_id))
    assert set(snapshot_ages(service)) <= set(before)
    files = {path.name for path in tmp_path.rglob("twins/candle-*")}
    assert files.isdisjoint(f"candle-{candles:09d}.safetensors" for candles in abandoned)
    rigs.feed(service, CANDLES[60 : 60 + AGE + RENEWED_EVERY])
    reference = service._session.reference_model.state()["in_force"]
    service.close()
    assert reference is None or reference in before or reference >= 60


def test_no_snapshot_of_a_diverged_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = rigs.service(tmp_path)
    rigs.feed(service, CANDLES[:16])
    before = snapshot_ages(service)
    monkeypatch.setattr(GradientHealth, "newest", Disease.DIVERGED)
    rigs.feed(service, CANDLES[16:31])
    diverged = snapshot_ages(service)
    monkeypatch.setattr(GradientHealth, "newest", Disease.HEALTHY)
    rigs.feed(service, CANDLES[31:41])
    after = snapshot_ages(service)
    service.close()
    assert before and diverged == before and after[-1] == 40
