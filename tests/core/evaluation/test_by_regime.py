"""Regimes are stored with each forecast and score, survive restarts, and group the scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import ForecastMade
from core.domain.regimes import Regime, RegimeProbabilities
from core.evaluation.details import UNKNOWN, by_regime, evaluate_run
from core.evaluation.report import words
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.rows import REGIME_COLUMNS
from core.storage.runs import RunStore
from core.storage.weights import read_weights, write_weights
from tests.core.evaluation.rigs import every, filled, scored
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.support.candles import random_walk
from tests.support.synthetic_run import made_up

CALM, VOLATILE = REGIME_COLUMNS.index("calm"), REGIME_COLUMNS.index("volatile")


def test_each_score_counts_in_its_regime_alone() -> None:
    rows = scored(210)
    regime = np.repeat(np.array([CALM, VOLATILE, CALM, -1], dtype=np.int8), [100, 60, 40, 10])
    factor = np.select([regime == CALM, regime == VOLATILE], [0.9, 0.5], 3.0)
    reference = {name: rows.columns[name] / 0.9 for name in ("loss", "range_loss")}
    given = {"loss": factor * reference["loss"], "range_loss": factor / 2.0 * reference["range_loss"]}
    given |= {"regime": regime, "inside_90": regime == VOLATILE}
    found = by_regime(every(filled(replace(rows, columns=rows.columns | given))))
    assert list(found) == [*(each.value for each in Regime), UNKNOWN]
    calm, trending, volatile, unknown = found.values()
    assert (calm["n"], trending["n"], volatile["n"], unknown["n"]) == (140, 0, 60, 10)
    assert calm["close"]["skill"] == pytest.approx(0.1) and calm["range"]["skill"] == pytest.approx(0.55)
    assert volatile["close"]["skill"] == pytest.approx(0.5)
    low, high = calm["close"]["skill_ci95"]
    assert low <= 0.1 + 1e-6 and high >= 0.1 - 1e-6
    assert calm["share"] == pytest.approx(140 / 210)
    assert volatile["coverage_90"] == pytest.approx(1.0)
    assert trending["close"]["skill"] is None and trending["share"] == 0.0
    assert unknown["close"]["skill"] is None, "too few for a result"


def test_without_older_scores_they_have_no_row() -> None:
    rows = scored(3)
    calm = replace(rows, columns=rows.columns | {"regime": np.full(3, CALM, dtype=np.int8)})
    assert list(by_regime(every(filled(calm)))) == [each.value for each in Regime]
    assert [each["n"] for each in by_regime(every(filled())).values()] == [0, 0, 0]


def test_conditions_are_emitted_stored_read_in_blocks_and_joined_with_scores(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    events = rigs.feed(session, rigs.CANDLES[:30])
    run_id = session.status().run_id
    session.close()
    emitted = [event.conditions for event in events if isinstance(event, ForecastMade) and event.conditions is not None]
    assert len(emitted) == 30
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    reader = RecordReader(db, run_id)
    stored = [reader.conditions_of(candle.open_time_ms) for candle in rigs.CANDLES[:30]]
    block = reader.conditions(rigs.CANDLES[25].open_time_ms, 20)
    nothing = reader.conditions(rigs.CANDLES[0].open_time_ms, 20)
    scores = reader.scores()
    db.close()
    assert stored == emitted
    assert [score.regime for score in scores] == emitted[:-1]
    assert block.open_time_ms.tolist() == [candle.open_time_ms for candle in rigs.CANDLES[5:25]]
    assert block.regimes.tolist() == [[each.of(regime) for regime in Regime] for each in emitted[5:25]]
    assert len(nothing) == 0 and nothing.regimes.shape[0] == 0


@pytest.mark.slow
def test_a_checkpoint_of_an_older_version_without_conditions_is_accepted(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    """Its state is computed from its candles: all of them here, so nothing differs."""
    whole, older = session_after(tmp_path / "whole", 46), session_after(tmp_path / "older", 41)
    run_id = older.status().run_id
    for session in (whole, older):
        session.close()
    strip_conditions(tmp_path / "older", run_id)
    session = rigs.service(tmp_path / "older")
    assert session.status().position_ms == rigs.CANDLES[40].open_time_ms, "the checkpoint was taken"
    rigs.feed(session, rigs.CANDLES[41:46])
    session.close()
    undisturbed, found = (conditions_in(tmp_path / name) for name in ("whole", "older"))
    assert found == undisturbed and None not in found


def conditions_in(root: Path) -> list[RegimeProbabilities | None]:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        reader = RecordReader(db, rigs.newest_run(db))
        return [reader.conditions_of(candle.open_time_ms) for candle in rigs.CANDLES[:46]]
    finally:
        db.close()


def strip_conditions(root: Path, run_id: str) -> None:
    """Remove from each checkpoint the parts that an older version did not write."""
    db = open_database(DataFolder(root).database)
    sql = "SELECT sequence, file FROM checkpoints WHERE run_id = ? AND is_deleted = 0"
    for sequence, file in db.conn.execute(sql, (run_id,)).fetchall():
        path = DataFolder(root).absolute(file)
        tensors, metadata = read_weights(path)
        kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("conditions.")}
        assert len(kept) < len(tensors)
        written = write_weights(path, kept, metadata)
        with db.conn:
            db.conn.execute("UPDATE checkpoints SET sha256 = ? WHERE sequence = ?", (written.sha256, sequence))
    db.close()


def test_evaluate_groups_the_scores_by_regime(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(300))
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    found = evaluate_run(db, RunStore(db).get(run_id), 3)
    reader = RecordReader(db, run_id)
    likeliest = [score.regime.likeliest.value for score in reader.scores() if score.regime is not None]
    db.close()
    assert list(found["regimes"]) == [regime.value for regime in Regime]
    (calm, *_), header = words.regimes(found), words.REGIME_HEADER
    assert len(calm) == len(header) and calm[0].startswith("calm, ")
    assert f"{100 * found['regimes']['calm']['close']['skill']:+.2f} %" in calm[1]
    assert sum(of["n"] for of in found["regimes"].values()) == found["judged"]
    for name, of_regime in found["regimes"].items():
        assert of_regime["n"] == likeliest.count(name) > 30
        low, high = of_regime["close"]["skill_ci95"]
        assert low <= of_regime["close"]["skill"] <= high
    assert sum(of_regime["share"] for of_regime in found["regimes"].values()) == pytest.approx(1.0)
