from __future__ import annotations

import json
import math
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.quantities import Quantity
from core.evaluation.details import evaluate_run
from core.forecast.experts import EXPERTS, LOSS_ROWS, unpack_losses
from core.forecast.score import pinball, skill
from core.market.history.candle_file import read_candle_file
from core.settings.tree import OnlineSettings, Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import SHOWN_LOSSES
from core.storage.runs import RunStore
from tests.core.evaluation.rigs import database
from tests.core.training import rigs
from tests.support.candles import MINUTE, START_MS, random_walk
from tests.support.synthetic_run import made_up

LONG = replace(
    rigs.SMALL,
    model=replace(rigs.SMALL.model, horizons=1),
    training=replace(rigs.SMALL.training, learning_rate=1e-3),
    online=OnlineSettings(twin_age=0),
    checkpoints=replace(rigs.SMALL.checkpoints, every_steps=1000),
)
"""For sessions of many candles: writes little."""


def evaluated(root: Path, candles: list[Candle], settings: Settings = rigs.SMALL) -> dict[str, Any]:
    session = rigs.service(root, settings)
    rigs.feed(session, candles)
    run_id = session.status().run_id
    session.close()
    with database(root) as db:
        return evaluate_run(db, RunStore(db).get(run_id), settings.model.horizons)


def momentum(count: int, share: float, seed: int) -> list[Candle]:
    """Returns with autocorrelation `share`."""
    generator = np.random.default_rng(seed)
    returns = np.zeros(count)
    for row in range(1, count):
        returns[row] = share * returns[row - 1] + generator.normal(0.0, 1e-3)
    closes = 100.0 * np.exp(np.cumsum(returns))
    opens = np.concatenate([[100.0], closes[:-1]])
    wicks = np.exp(np.abs(generator.normal(0.0, 3e-4, (2, count))))
    high, low = np.maximum(opens, closes) * wicks[0], np.minimum(opens, closes) / wicks[1]
    rows = np.stack([opens, high, low, closes, np.full(count, 5.0)]).T.tolist()
    return [Candle(START_MS + place * MINUTE.duration_ms, *numbers) for place, numbers in enumerate(rows)]


def test_few_candles_give_keys_without_numbers(tmp_path: Path) -> None:
    found = evaluated(tmp_path, random_walk(20))
    assert found["judged"] == 19
    assert found["pinball"]["close"]["skill"] is None and found["pinball"]["close"]["skill_ci95"] is None
    unknown = dict.fromkeys(("overall", "overall_ci95", "worst_500", "best_500"))
    assert found["coverage"] == {"nominal": 0.9, **unknown}
    assert found["diebold_mariano_p"] is None and found["direction"]["accuracy"] is None
    json.dumps(found, allow_nan=False)


def test_one_candle_works(tmp_path: Path) -> None:
    found = evaluated(tmp_path, random_walk(1))
    assert found["judged"] == 0 and found["pinball"]["range"]["combination"] is None
    json.dumps(found, allow_nan=False)


def test_the_numbers_equal_those_of_the_record(tmp_path: Path) -> None:
    candles = random_walk(160, seed=2)
    run_id = made_up(tmp_path, candles)
    with database(tmp_path) as db:
        found = evaluate_run(db, RunStore(db).get(run_id), 3)
        scores = RecordReader(db, run_id).scores()
    close, losses = found["pinball"]["close"], [unpack_losses(score.expert_losses) for score in scores]
    assert all(loss is not None and loss.shape == (len(LOSS_ROWS), len(Quantity)) for loss in losses)
    assert found["judged"] == len(scores) == 159 and set(found["horizons"]) == {"1", "2", "3"}
    assert close["combination"] == pytest.approx(np.mean([score.loss for score in scores]))
    assert close["reference"] == pytest.approx(np.mean([score.reference_loss for score in scores]))
    assert close["experts"]["model"] == pytest.approx(np.mean([score.model_loss for score in scores]))
    assert close["skill"] == pytest.approx(1.0 - close["combination"] / close["reference"])
    assert close["best_baseline"] == min(loss for name, loss in close["experts"].items() if name != "model")
    assert set(close["experts"]) == set(EXPERTS) - {"seasonal"}
    assert found["direction"]["n"] == sum(score.direction_hit is not None for score in scores)
    assert found["coverage"]["overall"] == pytest.approx(np.mean([score.inside_90 for score in scores]))
    moves = [math.log(after.close / before.close) for before, after in pairwise(candles)]
    turned = [(now > 0.0) != (before > 0.0) for before, now in pairwise(moves)]
    assert found["direction"]["reverse_last"] == pytest.approx(np.mean(turned), abs=0.01)


DRAWN = {
    "body": Quantity.BODY,
    "upper_wick": Quantity.UPPER_WICK,
    "lower_wick": Quantity.LOWER_WICK,
    "volume": Quantity.VOLUME,
}


def test_all_drawn_quantities_are_evaluated_on_the_shown_forecast(tmp_path: Path) -> None:
    """A real session: the stored losses of each forecast are those of its quantiles."""
    candles = random_walk(60, seed=2)
    found = evaluated(tmp_path, candles)
    with database(tmp_path) as db:
        reader = RecordReader(db, str(db.execute("SELECT run_id FROM runs").fetchone()[0]))
        scores = reader.scores()
        shown = {each.origin_open_time_ms: each.quantiles.shown[0] for each in reader.forecasts_after(None)}
        made = [shown[score.origin_open_time_ms] for score in scores]
    bodies = np.array([math.log(candle.close / candle.open) for candle in candles[1:]])
    lost = pinball(bodies, np.stack([quantiles[Quantity.BODY] for quantiles in made]))
    np.testing.assert_allclose([score.body_loss for score in scores], lost, rtol=1e-6)
    for name, quantity in DRAWN.items():
        shown = np.array([getattr(score, SHOWN_LOSSES[quantity]) for score in scores])
        losses = np.stack([unpack_losses(score.expert_losses) for score in scores])[..., quantity]  # type: ignore[arg-type]
        expected = skill(shown, losses[:, LOSS_ROWS.index("reference")])
        of = found["pinball"][name]
        assert of["n"] == 59 and of["skill"] == pytest.approx(expected.value)
        assert of["skill_ci95"] == pytest.approx([expected.low, expected.high])
        assert found["horizons"]["2"][name]["n"] == 58 and "online_gain" not in of


@pytest.mark.slow
@pytest.mark.needs_data
def test_rare_wicks_are_not_worse_than_no_change(tmp_path: Path, shared_data: Path) -> None:
    """63 % of its candles have no upper wick. Calibration raised the shown one's loss 31 % above the reference's."""
    candles = list(read_candle_file(shared_data / "gaps" / "UNITTEST_BTC-1m.feather").candles[:1500])
    usual = replace(LONG, training=replace(LONG.training, learning_rate=3e-5))
    found = evaluated(tmp_path, candles, usual)["pinball"]
    for name in ("upper_wick", "lower_wick"):
        print(name, found[name]["skill"], found[name]["skill_ci95"], found[name]["n"])
        assert found[name]["skill_ci95"][1] > 0.0


def test_momentum_is_found_with_and_without_the_model(tmp_path: Path) -> None:
    """Returns that repeat with a share of 0.7. So few candles are enough to find some of it."""
    found = evaluated(tmp_path, momentum(180, 0.7, seed=1), LONG)
    close, attainable = found["pinball"]["close"], 1.0 - math.sqrt(1.0 - 0.7**2)
    assert found["judged"] == 179
    assert close["skill"] > 0.2 * attainable and close["skill_without_model"] > 0.2 * attainable
    assert close["skill_ci95"][0] > 0.0 and found["diebold_mariano_p"] < 0.01
    assert close["model"] < 0.96 * close["reference"]
    assert found["direction"]["accuracy"] > 0.58
    assert 0.86 <= found["coverage"]["overall"] <= 0.94


@pytest.mark.slow
def test_a_random_walk_has_no_edge(tmp_path: Path) -> None:
    found = evaluated(tmp_path, random_walk(1400, seed=4), LONG)
    close = found["pinball"]["close"]
    assert close["skill_ci95"][0] <= 0.0
    assert close["skill"] > -0.02 and close["skill_vs_best"] > -0.02


def test_scores_whose_detail_was_deleted_are_counted_apart(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(120, seed=2))
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        db.conn.execute("DELETE FROM score_details WHERE id <= 40")
        found = evaluate_run(db, RunStore(db).get(run_id), 3)
    assert (found["judged"], found["without_detail"]) == (79, 40)
    assert found["anytime"]["n"] == 119, "no deleted detail changes the figures of the run"
