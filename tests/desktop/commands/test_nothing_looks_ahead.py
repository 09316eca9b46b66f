"""From file to record: forecasts up to a candle do not depend on later candles of the file."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from tests.core.training.rigs import newest_run
from tests.support import commands
from tests.support.candles import random_walk

pytestmark = pytest.mark.slow
CANDLES = random_walk(64, seed=12)


def written(path: Path, candles: list[Candle]) -> Path:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("timestamp", "open", "high", "low", "close", "volume"))
        rows.writerows((each.open_time_ms, each.open, each.high, each.low, each.close, each.volume) for each in candles)
    return path


def corrupted(candles: list[Candle], moment: int) -> list[Candle]:
    """Another market after the candle at `moment`: it begins with an implausible price, has a hole, ends earlier."""
    other = [
        replace(theirs, open_time_ms=ours.open_time_ms, volume=9.0 * theirs.volume)
        for ours, theirs in zip(candles, random_walk(len(candles), seed=77), strict=True)
    ]
    unlikely = {name: 20.0 * getattr(other[moment + 1], name) for name in ("open", "high", "low", "close")}
    other[moment + 1] = replace(other[moment + 1], **unlikely)
    del other[moment + 3]
    return [*candles[: moment + 1], *other[moment + 1 : -2]]


def said_until(root: Path, end_ms: int) -> dict[str, list[object]]:
    """The record up to then: forecasts, conditions, the losses of model and experts."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        reader = RecordReader(db, newest_run(db))
        opened = [int(each) for each in reader.origins()[0] if each <= end_ms]
        made = [each.quantiles for each in reader.forecasts_after(None) if each.origin_open_time_ms <= end_ms]
        scores = [score for horizon in (1, 8) for score in reader.scores(horizon=horizon)]
        return {
            "origins": list(opened),
            "quantiles": [np.concatenate([each.shown.ravel(), each.experts.ravel()]).tolist() for each in made],
            "conditions": [reader.conditions_of(origin) for origin in opened],
            "losses": [
                (score.horizon, score.target_open_time_ms, score.loss, score.expert_losses)
                for score in scores
                if score.target_open_time_ms <= end_ms
            ],
        }
    finally:
        db.close()


def recorded(folder: Path, name: str, candles: list[Candle], interval: str = "1m") -> Path:
    """A data folder in which all of them, joined to this interval, were learned from, by a model of the usual size."""
    root = commands.configure(folder / name, {"training": {"seed": 4, "device": "cpu", "host": "thread"}})
    file = written(folder / f"{name}.csv", candles)
    commands.invoke_json("headless", "--file", str(file), "--interval", interval, "--data-dir", str(root))
    return root


@pytest.fixture(scope="module")
def true_market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("true"), "true", CANDLES)


@pytest.mark.parametrize("moment", [37, 55])
def test_no_forecast_depends_on_later_candles_of_the_file(true_market: Path, tmp_path: Path, moment: int) -> None:
    other_market = recorded(tmp_path, "corrupted", corrupted(CANDLES, moment))
    honest, other = (said_until(root, CANDLES[moment].open_time_ms) for root in (true_market, other_market))
    assert len(honest["origins"]) == len(honest["quantiles"]) == moment + 1
    assert honest == other
    whole, of_another_market = (said_until(root, CANDLES[-1].open_time_ms) for root in (true_market, other_market))
    assert whole["quantiles"] != of_another_market["quantiles"]


def test_no_forecast_depends_on_later_minutes_inside_candles(tmp_path: Path) -> None:
    """The minutes are other ones from the middle of a candle on: that candle's forecast is the first to differ."""
    minutes, moment = random_walk(60 * 5, seed=13), 40 * 5 + 2
    honest, other = (
        recorded(tmp_path, name, candles, "5m")
        for name, candles in (("honest", minutes), ("corrupted", corrupted(minutes, moment)))
    )
    before_ms, own_ms = (minutes[place].open_time_ms for place in (39 * 5, 40 * 5))
    said, said_of_other = (said_until(root, before_ms) for root in (honest, other))
    assert len(said["origins"]) == 40
    assert said == said_of_other
    assert said_until(honest, own_ms)["quantiles"] != said_until(other, own_ms)["quantiles"]
