from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Interval
from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.market.history.errors import CandleFileError
from core.settings.tree import ModelSettings
from core.training.engine.device import choose_device
from core.training.pretraining.dataset import Dataset, Series, build_series
from core.training.pretraining.errors import PretrainingError
from core.training.pretraining.sources import fewest_candles, read_sources
from core.training.pretraining.team import Team
from core.training.pretraining.validation import validate
from tests.core.training.pretraining.rigs import reverting, write
from tests.support.candles import random_walk, without

MODEL = ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3)


def test_no_training_target_lies_in_the_validation_data(tmp_path: Path) -> None:
    source = read_sources([write(tmp_path / "a.csv", random_walk(200))], MODEL, 0.2)[0]
    series = build_series(source, MODEL.horizons)
    assert source.cut == 160 and len(source.held_back) == 40
    assert series.training.tolist() == list(range(157)), "the last target of origin 156 is candle 159"
    assert series.validation.tolist() == list(range(160, 199)), "the last candle has nothing after it"


def test_origins_before_a_gap_without_targets_are_skipped(tmp_path: Path) -> None:
    candles = without(random_walk(200), 100, 180)
    source = read_sources([write(tmp_path / "a.csv", candles)], MODEL, 0.2)[0]
    series = build_series(source, MODEL.horizons)
    before_first, before_second = 99, 178
    assert before_first not in series.training and before_first - 1 in series.training
    assert before_second not in series.validation and before_second + 1 in series.validation


def test_a_batch_is_padded_with_zero_weight_rows(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{seed}.csv", random_walk(160, seed)) for seed in (1, 2)]
    series = [build_series(source, 3) for source in read_sources(files, MODEL, 0.2)]
    dataset = Dataset(series, MODEL.context)
    order = dataset.order(7, 1)
    assert sorted(order) == list(range(dataset.samples)) and (order != dataset.order(7, 2)).any()
    batch, reference = dataset.batch(order[:5], 8)
    assert batch.size == 8 and reference.shape[0] == 8
    assert (batch.weights[:5] > 0.0).all() and not batch.weights[5:].any()


def test_a_short_file_counts_as_much_as_a_long_one(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{count}.csv", random_walk(count, count)) for count in (140, 180, 420)]
    series = [build_series(source, 3) for source in read_sources(files, MODEL, 0.25)]
    dataset = Dataset(series, MODEL.context)
    order = dataset.order(7, 1)
    ends = np.cumsum([one.training.size for one in series])
    assert order.size == dataset.samples
    counted = np.bincount(np.searchsorted(ends, order, side="right"))
    assert counted.max() - counted.min() <= 1
    short = np.bincount(order, minlength=dataset.samples)[: ends[0]]
    assert short.min() >= 1 and short.max() - short.min() <= 1, "each of its samples is as frequent as the others"
    assert np.bincount(order).max() == short.max()
    assert len(set(order[:30] >= ends[1])) == 2, "the files are mixed"


class Nudging:
    """In the engine's place: the same correction of every forecast."""

    def corrections(self, features: FloatArray, _is_real: FloatArray) -> FloatArray:
        return np.full((len(features), MODEL.horizons, QUANTITIES, len(LEVELS)), 0.05)


def test_a_long_file_of_a_restless_market_is_measured_as_a_short_calm_one(tmp_path: Path) -> None:
    names = ("open", "high", "low", "close")
    restless = [
        replace(each, **{name: 100.0 * (getattr(each, name) / 100.0) ** 20 for name in names})
        for each in random_walk(700, 2)
    ]
    files = [write(tmp_path / "calm.csv", random_walk(160, 1)), write(tmp_path / "restless.csv", restless)]
    series = [build_series(source, 3) for source in read_sources(files, MODEL, 0.25)]

    def skills(*some: Series) -> FloatArray:
        found = validate(Nudging(), Dataset(some, MODEL.context), Team(choose_device("cpu")))  # type: ignore[arg-type]
        return np.array([found.close.value, found.range.value], dtype=np.float64)

    calm, wild = (skills(each) for each in series)
    assert not np.allclose(calm, wild, rtol=0.1)
    np.testing.assert_allclose(skills(*series), (calm + wild) / 2.0)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_the_minimum_of_candles_is_enough_and_one_less_is_refused(tmp_path: Path, share: float) -> None:
    fewest = fewest_candles(MODEL, share)
    source = read_sources([write(tmp_path / "a.csv", random_walk(fewest))], MODEL, share)[0]
    series = build_series(source, MODEL.horizons)
    assert series.training.size >= MODEL.context and series.validation.size >= 30
    with pytest.raises(PretrainingError, match=f"at least {fewest:,}"):
        read_sources([write(tmp_path / "b.csv", random_walk(fewest - 1))], MODEL, share)


def test_files_of_different_intervals_are_refused(tmp_path: Path) -> None:
    minutes = write(tmp_path / "minutes.csv", random_walk(200))
    hours = write(tmp_path / "hours.csv", random_walk(200, interval=Interval.parse("1h")))
    with pytest.raises(PretrainingError, match=r"hours\.csv: 1h"):
        read_sources([minutes, hours], MODEL, 0.2)


def test_validation_candles_of_one_file_are_not_trained_on_from_another(tmp_path: Path) -> None:
    candles = reverting(400)
    longer, shorter = write(tmp_path / "longer.csv", candles), write(tmp_path / "shorter.csv", candles[:300])
    with pytest.raises(PretrainingError, match=r"60 of the candles that shorter\.csv"):
        read_sources([longer, shorter], MODEL, 0.2)
    assert len(read_sources([longer, write(tmp_path / "other.csv", reverting(300, 1))], MODEL, 0.2)) == 2


def test_a_candle_is_validated_on_only_once(tmp_path: Path) -> None:
    """The same file twice would double n, and narrow every interval by a root of two."""
    candles = reverting(400)
    first = write(tmp_path / "a.csv", candles)
    with pytest.raises(PretrainingError, match="80 candles"):
        read_sources([first, first], MODEL, 0.2)
    other_beginning = write(tmp_path / "other.csv", [*reverting(40, 3), *candles[40:]])
    with pytest.raises(PretrainingError, match="80 candles"):
        read_sources([first, other_beginning], MODEL, 0.2)
    other_end = write(tmp_path / "end.csv", [*candles[:320], *reverting(400, 3)[320:]])
    assert len(read_sources([first, other_end], MODEL, 0.2)) == 2


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(CandleFileError, match="empty"):
        read_sources([tmp_path / "empty.csv"], MODEL, 0.2)
