"""The experts of the combination, in the order of the expert axis of all arrays, and the quantities each forecasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import QUANTITIES, FloatArray, Quantity

EXPERTS = (
    "model",
    "reference",
    "repeat last",
    "reverse last",
    "EWMA",
    "HAR",
    "12-lag regression",
    "seasonal",
    "GARCH",
    "Markov switching",
)
MODEL, REFERENCE, REPEAT, REVERSE, EWMA, HAR, LAGS, SEASONAL, GARCH, SWITCHING = range(len(EXPERTS))

_PRICES = (Quantity.CLOSE, Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK)
_FORECASTS: dict[int, tuple[Quantity, ...]] = {
    MODEL: tuple(Quantity),
    REFERENCE: tuple(Quantity),
    REPEAT: (Quantity.CLOSE, Quantity.RANGE, Quantity.VOLUME),
    REVERSE: (Quantity.CLOSE,),
    EWMA: (Quantity.CLOSE, Quantity.RANGE),
    HAR: (*_PRICES, Quantity.RANGE),
    LAGS: (Quantity.CLOSE, Quantity.RANGE, Quantity.VOLUME),
    SEASONAL: (Quantity.VOLUME,),
    GARCH: (Quantity.CLOSE, Quantity.RANGE),
    SWITCHING: (Quantity.CLOSE, Quantity.RANGE),
}


def _forecast_table() -> NDArray[np.bool_]:
    table = np.zeros((len(EXPERTS), QUANTITIES), dtype=np.bool_)
    for expert, quantities in _FORECASTS.items():
        table[expert, list(quantities)] = True
    table.flags.writeable = False
    return table


FORECASTS = _forecast_table()
"""[E, Q]. An expert that does not forecast a quantity repeats the reference there, with no weight."""


LOSS_ROWS = ("without the model", *EXPERTS)
"""The losses stored with each score: the combination's without the model, then each expert's."""
_LOSS = np.dtype("<f4")


def pack_losses(losses: FloatArray) -> bytes:
    """Losses [len(LOSS_ROWS), Q] as little-endian float32."""
    return np.ascontiguousarray(losses, dtype=_LOSS).tobytes()


def unpack_losses(packed: bytes) -> FloatArray | None:
    """The inverse of `pack_losses`; None if none were stored, or those of other experts."""
    if len(packed) != len(LOSS_ROWS) * QUANTITIES * _LOSS.itemsize:
        return None
    return np.frombuffer(packed, _LOSS).reshape(len(LOSS_ROWS), QUANTITIES).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One forecast in natural units, as it is stored. shown [H, Q, L], experts [2, H, Q, L]: model and reference."""

    shown: FloatArray
    experts: FloatArray

    @property
    def are_finite(self) -> bool:
        """Whether every number is finite."""
        return bool(np.isfinite(self.shown).all() and np.isfinite(self.experts).all())
