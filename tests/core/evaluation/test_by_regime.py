"""Regimes are stored with each forecast and score, survive restarts, and group the scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.events import ForecastMade
from core.domain.regimes import Regime
from core.evaluation.details import UNKNOWN, by_regime, evaluate_run
from core.evaluation.report import figures
from core.storage.record_reader import RecordReader
from core.storage.rows import REGIME_COLUMNS
from core.storage.runs import RunStore
from tests.core.evaluation.rigs import database, every, filled, scored
from tests.core.training import rigs
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
    with database(tmp_path) as db:
        reader = RecordReader(db, run_id)
        stored = [reader.conditions_of(candle.open_time_ms) for candle in rigs.CANDLES[:30]]
        block = reader.conditions(rigs.CANDLES[25].open_time_ms, 20)
        nothing = reader.conditions(rigs.CANDLES[0].open_time_ms, 20)
        scores = reader.scores()
    assert [now for now, _ in stored] == emitted
    assert [score.regime for score in scores] == emitted[:-1]
    assert block.open_time_ms.tolist() == [candle.open_time_ms for candle in rigs.CANDLES[5:25]]
    assert block.regimes.tolist() == [[each.of(regime) for regime in Regime] for each in emitted[5:25]]
    assert len(nothing) == 0 and nothing.regimes.shape[0] == 0


def test_evaluate_groups_the_scores_by_regime(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(300))
    with database(tmp_path) as db:
        found = evaluate_run(db, RunStore(db).get(run_id), 3)
        scores = RecordReader(db, run_id).scores()
    likeliest = [score.regime.likeliest.value for score in scores if score.regime is not None]
    assert list(found["regimes"]) == [regime.value for regime in Regime]
    (calm, *_), header = figures.regimes(found), figures.REGIME_HEADER
    assert len(calm) == len(header) and calm[0].startswith("calm, ")
    assert f"{100 * found['regimes']['calm']['close']['skill']:+.1f} %" in calm[1]
    assert sum(of["n"] for of in found["regimes"].values()) == found["judged"]
    for name, of_regime in found["regimes"].items():
        assert of_regime["n"] == likeliest.count(name) > 30
        low, high = of_regime["close"]["skill_ci95"]
        assert low <= of_regime["close"]["skill"] <= high
    assert sum(of_regime["share"] for of_regime in found["regimes"].values()) == pytest.approx(1.0)
