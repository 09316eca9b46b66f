"""Which of a table's columns is the volume in the base currency."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CURRENCY = re.compile(r"(?i)(usdt|usdc|usd|eur|gbp|jpy|krw|busd|currency|quote)\)?$")
Numbers = NDArray[np.float64]
_FEWEST_ROWS = 5
_ROUNDING = 2e-3
"""Relative tolerance of a turnover."""
_MANY_CONTRACTS = 50
_CONTRACTS_SPREAD = 0.03
_SHARE = 0.98
"""Share of the rows with volume in which the ratio of two columns must lie between low and high, if one is the
turnover."""


@dataclass(frozen=True, slots=True)
class VolumeChoice:
    """column: the volume's, if any. turnover: another column that is the volume times the price, if any."""

    column: object | None = None
    turnover: object | None = None

    @property
    def is_turnover(self) -> bool:
        """Whether the volume itself is in the quote currency, by its name."""
        return self.turnover is None and bool(_CURRENCY.search(str(self.column)))


NO_VOLUME = VolumeChoice()


def base_volume(preferred: object, columns: Mapping[Any, Numbers], low: Numbers, high: Numbers) -> VolumeChoice:
    """The preferred column, unless it is another one times the price, or counts contracts while two others are a volume
    and its turnover.

    columns: that may be volumes, shape (n,) each. low, high: prices, shape (n,).
    """
    bases: dict[object, object] = {}
    for base, amounts in columns.items():
        for turnover, values in columns.items():
            if base not in bases and base != turnover and _is_turnover(values, amounts, low, high):
                bases[base] = turnover
    if preferred in bases:
        return VolumeChoice(preferred, bases[preferred])
    if not bases:
        coins = (name for name, amounts in columns.items() if _are_contracts(columns[preferred], amounts, low, high))
        return VolumeChoice(next(coins, preferred))
    of_preferred = [base for base, turnover in bases.items() if turnover == preferred]
    chosen = next(iter(of_preferred or bases))
    return VolumeChoice(chosen, bases[chosen])


def _is_turnover(values: Numbers, amounts: Numbers, low: Numbers, high: Numbers) -> bool:
    has_volume = (amounts > 0) & (values > 0) & np.isfinite(amounts) & np.isfinite(values)
    if has_volume.sum() < _FEWEST_ROWS:
        return False
    ratio = values[has_volume] / amounts[has_volume]
    lowest, highest = low[has_volume], high[has_volume]
    if (np.abs(lowest - 1.0) < _ROUNDING).all():  # a price of one tells nothing
        return False
    is_price = (ratio >= lowest * (1.0 - _ROUNDING)) & (ratio <= highest * (1.0 + _ROUNDING))
    return bool(is_price.mean() >= _SHARE)


def _are_contracts(contracts: Numbers, amounts: Numbers, low: Numbers, high: Numbers) -> bool:
    """Whether `contracts` counts contracts of a fixed worth in the quote currency, and `amounts` the base currency."""
    is_many = (contracts >= _MANY_CONTRACTS) & (amounts > 0) & np.isfinite(amounts)
    if is_many.sum() < _FEWEST_ROWS or not (contracts[is_many] % 1 == 0).all():
        return False
    worth = amounts[is_many] * (low + high)[is_many] / (2.0 * contracts[is_many])
    return bool(worth.max() < (1.0 + _CONTRACTS_SPREAD) * worth.min()) and bool(worth.min() > 0)
