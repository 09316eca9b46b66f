"""The tables of a run hold what the record does, and suffice for the figures of `evaluate`."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.domain.candle import Market
from core.domain.events import QUANTILE_LEVELS
from core.domain.quantities import MEDIAN, Quantity
from core.evaluation.details import evaluate_run
from core.forecast.experts import LOSS_ROWS, ExpertList, unpack_losses
from core.run_data import RunData, open_run, runs
from core.run_data.reader import CLOSE_QUANTILES, expert_column
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.commands import RescoreCandle
from tests.core.run_data.conftest import CANDLES
from tests.core.training import rigs
from tests.support.candles import MINUTE
from tests.support.driven import store_candles

HORIZONS = rigs.SMALL.model.horizons


@pytest.fixture
def data(folder: Path) -> Iterator[RunData]:
    with open_run(folder) as opened:
        yield opened


def test_candles_are_those_of_the_market(data: RunData) -> None:
    frame = data.candles()
    assert frame["open_time_ms"].tolist() == [each.open_time_ms for each in CANDLES]
    assert frame[["open", "close", "volume"]].to_numpy().tolist() == [[c.open, c.close, c.volume] for c in CANDLES]


def test_forecasts_are_those_of_the_record(data: RunData) -> None:
    frame = data.forecasts()
    assert len(frame) == len(CANDLES) * HORIZONS and set(frame["mode"]) == {"replay"}
    stored = RecordReader(data._db, data.run.run_id).forecasts_after(None)
    keys = [(each.origin_open_time_ms, horizon) for each in stored for horizon in range(1, HORIZONS + 1)]
    assert list(zip(frame["origin_open_time_ms"], frame["horizon"], strict=True)) == keys
    shown = np.concatenate([each.quantiles.shown for each in stored]).astype(np.float32)
    assert len(CLOSE_QUANTILES) == len(QUANTILE_LEVELS)
    assert (frame[list(CLOSE_QUANTILES)].to_numpy(dtype=np.float32) == shown[:, Quantity.CLOSE]).all()
    assert (frame["range_median"].to_numpy(dtype=np.float32) == shown[:, Quantity.RANGE, MEDIAN]).all()
    assert frame["checkpoint_id"].dropna().str.startswith(data.run.run_id).all()


def test_scores_are_those_of_the_record(data: RunData) -> None:
    frame = data.scores()
    stored = [
        score
        for horizon in range(1, HORIZONS + 1)
        for score in RecordReader(data._db, data.run.run_id).scores(horizon=horizon)
    ]
    assert frame["target_open_time_ms"].tolist() == [score.target_open_time_ms for score in stored]
    assert frame["close_loss"].tolist() == [score.loss for score in stored]
    assert frame["inside_90"].tolist() == [score.inside_90 for score in stored]
    hits = [None if pd.isna(hit) else bool(hit) for hit in frame["direction_hit"]]
    assert hits == [score.direction_hit for score in stored]
    for row, score in zip(frame.to_dict("records"), stored, strict=True):
        losses = unpack_losses(score.expert_losses)
        assert losses is not None
        for number, name in enumerate(LOSS_ROWS):
            assert row[expert_column("close", name)] == losses[number, Quantity.CLOSE]
            assert row[expert_column("range", name)] == losses[number, Quantity.RANGE]


def test_skill_coverage_and_direction_of_evaluate_follow_from_the_tables(data: RunData) -> None:
    found = evaluate_run(data._db, data.run, HORIZONS)
    scores = data.scores()
    own = scores[(scores["mode"] == "replay") & ~scores["after_gap"]].dropna(subset=["close_loss_without_the_model"])
    for horizon, those in own.groupby("horizon"):
        loss, reference = (those[name].to_numpy() for name in ("close_loss", "close_loss_reference"))
        skill = (reference - loss).sum() / reference.sum()
        assert skill == found["horizons"][str(horizon)]["close"]["skill"]
    first = own[own["horizon"] == 1]
    assert first["inside_90"].mean() == found["coverage"]["overall"]
    assert math.isclose(float(first["direction_hit"].mean()), found["direction"]["accuracy"], rel_tol=1e-15)


def test_a_corrected_candle_has_a_further_version(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    wrong = CANDLES[40]
    store_candles(tmp_path / "run", [replace(wrong, close=wrong.high)])
    session = rigs.service(tmp_path / "run")
    session.opening_events()
    session.handle(RescoreCandle(wrong.open_time_ms, rigs.MARKET))
    session.close()
    with open_run(tmp_path / "run") as data:
        scores = data.scores()
    versions = scores[scores["target_open_time_ms"] == wrong.open_time_ms]
    assert versions["version"].tolist() == [1, 2] * HORIZONS and versions["horizon"].is_monotonic_increasing
    corrected = versions["version"] == 2
    assert (
        versions.loc[corrected, "close_loss_har"].isna().all()
        and not versions.loc[~corrected, "close_loss_har"].isna().any()
    )


def test_steps_and_checkpoints_are_those_of_the_model(data: RunData) -> None:
    steps, checkpoints = data.steps(), data.checkpoints()
    assert steps["step"].tolist() == list(range(1, len(steps) + 1)) and steps["loss"].notna().all()
    assert steps["learning_rate"].gt(0.0).all() and not steps["clipped"].isna().any()
    assert len(checkpoints) >= 1 and checkpoints["checkpoint_id"].is_unique
    assert checkpoints["step"].is_monotonic_increasing and set(checkpoints["reason"]) <= {"periodic", "best", "exit"}


def test_runs_are_listed_and_unknown_ones_named(folder: Path, tmp_path: Path) -> None:
    (run,) = runs(folder)
    with open_run(folder, run.run_id) as data:
        assert data.run == run
    with pytest.raises(StorageError, match="no run 'other'"), open_run(folder, "other"):
        pass
    with pytest.raises(StorageError, match="no database"), open_run(tmp_path):
        pass


def test_damaged_rows_are_left_out_and_counted(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    with open_database(DataFolder(tmp_path / "run").database) as db:
        db.conn.execute("UPDATE steps SET loss = loss + 1.0 WHERE step = 7")
        db.conn.commit()
    with open_run(tmp_path / "run") as data:
        assert 7 not in data.steps()["step"].tolist() and data.damaged_rows == 1


def test_steps_and_checkpoints_of_a_further_market_are_those_of_its_model(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    with open_database(DataFolder(tmp_path / "run").database) as db:
        store = RunStore(db)
        (head,) = store.list()
        store.join(head, [Market("file", "other", MINUTE)], 0)
    _, member = runs(tmp_path / "run")
    with open_run(tmp_path / "run", member.run_id) as data, open_run(folder) as of_head:
        assert data.steps().equals(of_head.steps()) and data.checkpoints().equals(of_head.checkpoints())
        assert data.forecasts().empty and data.scores().empty


def test_losses_of_challengers_have_their_columns(tmp_path: Path) -> None:
    settings = replace(rigs.SMALL, model=replace(rigs.SMALL.model, challengers=("nlinear",)))
    session = rigs.service(tmp_path, settings)
    rigs.feed(session, CANDLES[:15])
    session.close()
    with open_run(tmp_path) as data:
        frame, stored = data.scores(), RecordReader(data._db, data.run.run_id).scores()
    rows = ExpertList(("nlinear",)).loss_rows
    for row, score in zip(frame.to_dict("records"), stored, strict=False):
        losses = unpack_losses(score.expert_losses)
        assert losses is not None
        for name in ("nlinear", "without challengers"):
            assert row[expert_column("close", name)] == losses[rows.index(name), Quantity.CLOSE]
