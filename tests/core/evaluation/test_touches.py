"""The chances of prices, scored from the record: cases one by one, known markets, and what is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.quantities import Quantity
from core.evaluation.touches import assess_touches, read_touches
from core.forecast.chance import Chances, brownian_touch
from core.forecast.experts import REFERENCE
from core.forecast.paths import FEWEST_TEMPLATES, sample_paths
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from core.training.online.learned_chances import LearnedChancesReader
from core.training.online.touched import MULTIPLES, Touches, joined
from tests.support.candles import MINUTE, random_walk
from tests.support.synthetic_run import SyntheticRun

HORIZONS = 3
FIRST = FEWEST_TEMPLATES + 59 + HORIZONS - 1
"""The first candle with enough of a past."""


def recorded(root: Path, candles: list[Candle]) -> dict[int, Touches]:
    run = SyntheticRun(root, HORIZONS)
    run.write(candles)
    run.close()
    db = open_database(DataFolder(root).database)
    try:
        stored = RunStore(db).get(run.run_id)
        CandleStore(db).save(stored.market, candles)
        return joined(list(read_touches(db, stored, 0)))
    finally:
        db.close()


def test_each_case_follows_from_the_record(tmp_path: Path) -> None:
    candles = random_walk(FIRST + 40, seed=4)
    found = recorded(tmp_path, candles)
    assert set(found) == {1, 3}, "within 8 candles was not forecast"
    assert len(found[1]) == len(found[3]) == 40 - HORIZONS
    prices = np.array([(each.open, each.high, each.low, each.close) for each in candles]).T
    times = np.array([each.open_time_ms for each in candles])
    place = FIRST + 7
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        run = RunStore(db).list()[0]
        made = RecordReader(db, run.run_id).forecast_of(candles[place].open_time_ms)
        learned = LearnedChancesReader().read(db, run.run_id, run.market, HORIZONS, candles[place].open_time_ms)
    assert made is not None
    paths = sample_paths(made.quantiles.shown, times[: place + 1], prices[:, : place + 1], MINUTE)
    assert paths is not None
    moves = MULTIPLES * made.scale * math.sqrt(3)
    assert learned.stretch[0] == 1.0 and (learned.stretch[1:] != 1.0).all(), "learned from the forecasts before"
    assert found[3].chance[7] == pytest.approx(Chances(paths, learned).touched(moves, 3))
    reference = made.quantiles.experts[REFERENCE, 2, Quantity.CLOSE]
    assert found[3].brownian[7] == pytest.approx(brownian_touch(moves, reference))
    highest = max(each.high for each in candles[place + 1 : place + 4])
    lowest = min(each.low for each in candles[place + 1 : place + 4])
    prices_at = candles[place].close * np.exp(moves)
    expected = [highest >= price if move > 0 else lowest <= price for move, price in zip(moves, prices_at, strict=True)]
    assert found[3].touched[7].tolist() == expected


def test_the_future_changes_outcomes_and_no_chance(tmp_path: Path) -> None:
    candles = random_walk(FIRST + 12, seed=5)
    later = candles[FIRST + 1].open_time_ms
    wild = [
        replace(each, high=each.high * 1.5, low=each.low * 0.5) if each.open_time_ms >= later else each
        for each in candles
    ]
    calm, after = recorded(tmp_path / "calm", candles)[3], recorded(tmp_path / "wild", wild)[3]
    assert calm.chance[0] == pytest.approx(after.chance[0])
    assert after.touched[0].all() and not calm.touched[0].all()


def test_no_case_reaches_over_a_hole(tmp_path: Path) -> None:
    candles = random_walk(FIRST + 40, seed=4)
    found = recorded(tmp_path, [*candles[: FIRST + 20], *candles[FIRST + 21 :]])
    assert len(found[3]) == 40 - 2 * HORIZONS - 1


def of_chances(chance: list[float], touched: list[bool]) -> Touches:
    return Touches(np.array([chance] * 40), np.full((40, len(chance)), 0.5), np.array([touched] * 40))


def test_brier_scores_and_tenths() -> None:
    found = assess_touches(of_chances([0.12, 0.18, 0.95, 1.0], [True, False, True, True]), 8)
    assert found.n == 40 and found.brownian == pytest.approx(0.25) and found.climatology == pytest.approx(0.0)
    assert found.brier == pytest.approx((0.88**2 + 0.18**2 + 0.05**2) / 4)
    assert found.skill.value == pytest.approx(1.0 - (0.88**2 + 0.18**2 + 0.05**2))
    second, last = found.reliability[1], found.reliability[9]
    assert (second.cases, second.observed.value) == (80, pytest.approx(0.5)) and second.chance == pytest.approx(0.15)
    assert (last.cases, last.observed.value) == (80, pytest.approx(1.0)) and last.chance == pytest.approx(0.975)
    assert found.reliability[5].cases == 0 and found.reliability[5].chance is None
    assert found.reliability[5].observed.value is None


def test_without_cases_there_are_no_figures(tmp_path: Path) -> None:
    assert recorded(tmp_path, random_walk(30)) == {}
    nothing = assess_touches(Touches(np.empty((0, 6)), np.empty((0, 6)), np.empty((0, 6), dtype=np.bool_)), 8)
    assert nothing.n == 0 and nothing.brier is None and nothing.skill.value is None
    assert all(tenth.cases == 0 for tenth in nothing.reliability)
