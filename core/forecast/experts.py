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


FORECASTS: NDArray[np.bool_] = np.array([[each in of for each in Quantity] for of in _FORECASTS.values()])
"""[E, Q]. An expert that does not forecast a quantity repeats the reference there, with no weight."""
FORECASTS.flags.writeable = False

LOSS_ROWS = ("without the model", *EXPERTS)
"""The losses stored with each score: the combination's without the model, then each expert's."""
WITHOUT_CHALLENGERS = "without challengers"
STORED = (MODEL, REFERENCE)
"""Experts whose forecasts are stored in every run."""
_LOSS = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class ExpertList:
    """The experts of one run: those of every run, then its challengers, which are further models beside the model."""

    challengers: tuple[str, ...] = ()
    """Their names."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*EXPERTS, *self.challengers)

    @property
    def placed_challengers(self) -> tuple[tuple[int, str], ...]:
        """Each challenger's place on the expert axis, and its name."""
        return tuple(enumerate(self.challengers, start=len(EXPERTS)))

    @property
    def loss_rows(self) -> tuple[str, ...]:
        """As LOSS_ROWS; with challengers, then each of theirs, and the combination's without any of them."""
        return (*LOSS_ROWS, *self.challengers, WITHOUT_CHALLENGERS) if self.challengers else LOSS_ROWS

    @property
    def forecasts(self) -> NDArray[np.bool_]:
        """As FORECASTS, [E, Q]. A challenger forecasts every quantity."""
        return np.vstack([FORECASTS, np.ones((len(self.challengers), QUANTITIES), dtype=np.bool_)])


NO_CHALLENGERS = ExpertList()


def pack_losses(losses: FloatArray) -> bytes:
    """Losses [rows, Q], rows as in `ExpertList.loss_rows`, as little-endian float32."""
    return np.ascontiguousarray(losses, dtype=_LOSS).tobytes()


def unpack_losses(packed: bytes) -> FloatArray | None:
    """The inverse of `pack_losses`, [rows, Q]; None if none were stored, or those of fewer experts."""
    rows, rest = divmod(len(packed), QUANTITIES * _LOSS.itemsize)
    if rest or rows < len(LOSS_ROWS):
        return None
    return np.frombuffer(packed, _LOSS).reshape(rows, QUANTITIES).astype(np.float64)


def loss_without_challengers(packed: bytes) -> FloatArray | None:
    """Of the combination of everything but the challengers, [Q], from packed losses; None of a run without any, whose
    shown forecast it is."""
    losses = unpack_losses(packed)
    return None if losses is None or len(losses) == len(LOSS_ROWS) else losses[-1]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One forecast in natural units, as it is stored.

    shown: [H, Q, L]. experts: [2, H, Q, L], model and reference; of a run with challengers then each of theirs, and the
    combination of everything but the challengers.
    """

    shown: FloatArray
    experts: FloatArray

    @property
    def without_challengers(self) -> FloatArray:
        """The forecast that is shown if there are no challengers: [H, Q, L]."""
        return self.experts[-1] if len(self.experts) > len(STORED) else self.shown

    @property
    def are_finite(self) -> bool:
        return bool(np.isfinite(self.shown).all() and np.isfinite(self.experts).all())
