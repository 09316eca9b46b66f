"""The losses of a sweep's cells as one series for each configuration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.sweeps.pooling import LOST_CELLS, NOT_FINITE, CellLosses, left_out, pool

MINUTE_MS = 60_000


def cell(configuration: int, losses: list[float], market: str = "BTC", seed: int = 0, first: int = 0) -> CellLosses:
    times = MINUTE_MS * (first + np.arange(len(losses)))
    close = np.array(losses)
    return CellLosses(configuration, market, seed, times, close, 3.0 * close, np.ones_like(close), 3.0 + 0.0 * close)


def test_configurations_are_compared_on_the_candles_that_all_have() -> None:
    cells = [cell(0, [1.0, 2.0, 3.0, 4.0]), cell(1, [30.0, 40.0, 50.0], first=2)]
    pooled = pool(cells, (0, 1), 0)
    assert pooled.of(0).tolist() == [3.0, 4.0]
    assert pooled.of(1).tolist() == [30.0, 40.0]
    assert pooled.reference.tolist() == [1.0, 1.0]


def test_seeds_are_averaged() -> None:
    cells = [cell(0, [1.0, 2.0]), cell(0, [3.0, 2.0], seed=1)]
    assert pool(cells, (0,), 0).of(0).tolist() == [2.0, 2.0]


def test_a_restless_market_counts_no_more_than_a_calm_one() -> None:
    calm, restless = cell(0, [0.5, 0.5]), cell(0, [90.0, 90.0], market="ETH")
    restless = replace(restless, reference_close=np.full(2, 100.0), reference_range=np.full(2, 300.0))
    assert pool([calm, restless], (0,), 0).of(0) == pytest.approx([0.7, 0.7])


def test_markets_with_the_same_times_are_one_observation() -> None:
    cells = [cell(0, [1.0, 1.0]), cell(0, [1.0, 1.0, 1.0], market="ETH", first=1)]
    assert pool(cells, (0,), 0).reference.size == 4
    assert pool(cells, (0,), 0).of(0) == pytest.approx(np.ones(4))


def test_a_price_that_never_moves_counts_nothing() -> None:
    still = replace(cell(0, [0.0, 0.0]), reference_close=np.zeros(2), reference_range=np.zeros(2))
    pooled = pool([still], (0,), 0)
    assert pooled.of(0).tolist() == pooled.reference.tolist() == [0.0, 0.0]


def test_the_unit_is_of_the_default() -> None:
    wide = replace(cell(1, [1.0]), reference_close=np.array([9.0]), reference_range=np.array([9.0]))
    assert pool([cell(0, [1.0]), wide], (0, 1), 0).of(1).tolist() == [1.0]


def test_a_configuration_without_all_its_cells_is_left_out() -> None:
    cells = [cell(0, [1.0]), cell(0, [1.0], market="ETH"), cell(1, [0.1])]
    assert left_out(cells, [0, 1, 2]) == {1: LOST_CELLS, 2: LOST_CELLS}


def test_a_configuration_with_a_loss_that_is_not_finite_is_left_out() -> None:
    assert left_out([cell(0, [1.0]), cell(1, [float("nan")])], [0, 1]) == {1: NOT_FINITE}
