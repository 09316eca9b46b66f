"""The losses of a sweep's cells as one series for each configuration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.sweeps.pooling import LOST_CELLS, NOT_FINITE, Pool, pool, survey
from core.sweeps.rows import LossSeries

MINUTE_MS = 60_000


def series(losses: list[float], file: str = "BTC", seed: int = 0, first: int = 0) -> LossSeries:
    times = MINUTE_MS * (first + np.arange(len(losses)))
    close = np.array(losses, dtype=np.float32)
    ones = np.ones_like(close)
    return LossSeries(0, file, seed, times, close, 3.0 * close, ones, 3.0 * ones)


def pooled(*configurations: list[LossSeries]) -> Pool:
    """Of configurations 0, 1, …; the first is the default."""
    numbers = range(len(configurations))
    found = survey(configurations.__getitem__, numbers)
    assert not found.faults
    return pool(configurations.__getitem__, numbers, found.shared(numbers), default=0)


def test_configurations_are_compared_on_the_candles_that_all_have() -> None:
    found = pooled([series([1.0, 2.0, 3.0, 4.0])], [series([30.0, 40.0, 50.0], first=2)])
    assert found.of(0).tolist() == [3.0, 4.0]
    assert found.of(1).tolist() == [30.0, 40.0]
    assert found.reference.tolist() == [1.0, 1.0]


def test_seeds_are_averaged_on_the_candles_that_all_have() -> None:
    found = pooled([series([1.0, 2.0]), series([4.0, 2.0], seed=1, first=1)])
    assert found.of(0).tolist() == [3.0]


def test_a_restless_file_counts_no_more_than_a_calm_one() -> None:
    restless = replace(
        series([90.0, 90.0], file="ETH"),
        reference_close=np.full(2, 100.0, dtype=np.float32),
        reference_range=np.full(2, 300.0, dtype=np.float32),
    )
    assert pooled([series([0.5, 0.5]), restless]).of(0) == pytest.approx([0.7, 0.7])


def test_close_and_range_count_in_equal_parts() -> None:
    """The range's losses are three times as large, and so are its reference's."""
    half = replace(series([1.0]), forecast_close=np.array([0.5], dtype=np.float32))
    assert pooled([half]).of(0).tolist() == [0.75]


def test_files_with_the_same_times_are_one_observation() -> None:
    found = pooled([series([1.0, 3.0]), series([1.0, 1.0, 1.0], file="ETH", first=1)])
    assert found.of(0) == pytest.approx([1.0, 2.0, 1.0, 1.0])
    assert found.reference.size == 4


def test_a_price_that_never_moves_counts_nothing() -> None:
    zeros = np.zeros(2, dtype=np.float32)
    found = pooled([replace(series([0.0, 0.0]), reference_close=zeros, reference_range=zeros)])
    assert found.of(0).tolist() == found.reference.tolist() == [0.0, 0.0]


def test_the_unit_is_of_the_default() -> None:
    nine = np.array([9.0], dtype=np.float32)
    wide = replace(series([1.0]), reference_close=nine, reference_range=nine)
    assert pooled([series([1.0])], [wide]).of(1).tolist() == [1.0]


def test_without_a_common_candle_there_is_nothing() -> None:
    assert pooled([series([1.0])], [series([1.0], first=5)]).reference.size == 0


def test_a_configuration_without_all_its_cells_cannot_be_compared() -> None:
    configurations = [[series([1.0]), series([1.0], file="ETH")], [series([0.1])], []]
    assert survey(configurations.__getitem__, range(3)).faults == {1: LOST_CELLS, 2: LOST_CELLS}


def test_a_configuration_with_a_loss_that_is_not_finite_cannot_be_compared() -> None:
    assert survey([[series([1.0])], [series([float("nan")])]].__getitem__, range(2)).faults == {1: NOT_FINITE}


def test_before_a_cell_is_done_nothing_can_be_compared() -> None:
    assert survey([[], []].__getitem__, range(2)).faults == {0: LOST_CELLS, 1: LOST_CELLS}
