"""Which column is the volume in the base currency, by what the numbers prove."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.market.history.sniff_volume import VolumeChoice, base_volume

Numbers = NDArray[np.float64]
seeds, prices = st.integers(0, 2**32 - 1), st.sampled_from([0.0003, 0.9, 17.0, 63_000.0])


def market(seed: int, price: float, rows: int = 40) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Low, high, volume, and the turnover at a price between them."""
    generator = np.random.default_rng(seed)
    low = price * np.exp(np.cumsum(generator.normal(0.0, 0.01, rows)))
    high = low * (1.0 + generator.uniform(0.001, 0.02, rows))
    volume = generator.gamma(2.0, 10.0, rows)
    return low, high, volume, volume * (low + generator.uniform(0.0, 1.0, rows) * (high - low))


@given(seeds, prices, st.booleans())
def test_of_a_volume_and_its_turnover_the_volume_is_taken_whichever_is_preferred(
    seed: int, price: float, prefers_turnover: bool
) -> None:
    low, high, volume, turnover = market(seed, price)
    preferred = "turnover" if prefers_turnover else "volume"
    columns = {"turnover": turnover, "volume": volume} if seed % 2 else {"volume": volume, "turnover": turnover}
    assert base_volume(preferred, columns, low, high) == VolumeChoice("volume", "turnover")


@given(seeds, prices)
def test_contracts_beside_a_volume_and_its_turnover_are_not_taken(seed: int, price: float) -> None:
    low, high, volume, turnover = market(seed, price)
    columns = {"contracts": 73.0 * volume, "volume": volume, "turnover": turnover}
    assert base_volume("contracts", columns, low, high).column == "volume"


@given(seeds, prices)
def test_columns_that_prove_nothing_leave_the_preferred_one(seed: int, price: float) -> None:
    low, high, volume, _ = market(seed, price)
    trades = np.random.default_rng(seed + 1).integers(1, 900, volume.size).astype(np.float64)
    assert base_volume("volume", {"volume": volume, "trades": trades}, low, high) == VolumeChoice("volume")


@pytest.mark.parametrize("quiet", [0, 30])
def test_rows_without_volume_prove_nothing_and_hinder_nothing(quiet: int) -> None:
    low, high, volume, turnover = market(5, 17.0)
    volume[:quiet], turnover[:quiet] = 0.0, 0.0
    assert base_volume("turnover", {"turnover": turnover, "volume": volume}, low, high).column == "volume"
    volume[:36], turnover[:36] = 0.0, 0.0
    assert base_volume("turnover", {"turnover": turnover, "volume": volume}, low, high).column == "turnover"


def test_a_price_of_one_does_not_tell_a_volume_from_its_turnover() -> None:
    low, high = np.full(40, 0.9999), np.full(40, 1.0001)
    volume = np.random.default_rng(1).gamma(2.0, 10.0, 40)
    for preferred in ("volume", "turnover"):
        assert base_volume(preferred, {"volume": volume, "turnover": volume}, low, high).column == preferred
