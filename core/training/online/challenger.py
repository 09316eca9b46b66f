"""A challenger: a further model that forecasts beside the main one, on the same candles, and is judged like it.

Whatever it does, the main model, the baselines and the forecast without challengers stay as in a run without them:
`GuardedChallenger` sees to that. Kinds: a torch module that is trained here (`torch_challenger`), a process
(`core.training.external`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from core.domain.quantities import FloatArray
from core.training.commands import MarketCandle
from core.training.engine.samples import Batch
from core.training.recovery.incident_draft import IncidentDraft


@dataclass(frozen=True, slots=True, eq=False)
class MarketInputs:
    """What is known of a market at the close of its newest candle; a challenger's own copy. T context, F features, H
    horizons, Q quantities, L levels."""

    market: int
    """Its place among the markets of the run."""
    open_time_ms: int
    """Of the newest candle."""
    features: NDArray[np.float32]
    """[T, F], those of the other markets last; see `core.forecast.history`."""
    is_real: NDArray[np.bool_]
    """[T]; False is padding on the left."""
    without_model: FloatArray
    """Normalised quantiles [H, Q, L] that are forecast without any model: what a torch model corrects."""
    factor: FloatArray
    """[H, Q]. A quantile in natural units is `offset + factor * normalised`."""
    offset: FloatArray


class UnusableError(Exception):
    """Raised by a challenger that will give nothing more in this session: it is suspended at once."""


class Challenger:
    """One further model. What it raises, and answers that are of another shape or not finite, count as its failures.

    At each close: `observe`, then `forecast`, then `learn` if a training step is due. What a kind does not need does
    nothing.
    """

    name: str
    """In tables and checkpoints; unique in a run."""

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        """Take the candles that have just closed, of one opening time, each with the place of its market."""

    def forecast(self, markets: Sequence[MarketInputs]) -> Sequence[FloatArray | None]:
        """Of each market the normalised quantiles [H, Q, L] of the next candles. None: it has none yet, which is no
        failure; the forecast without any model takes its place."""
        raise NotImplementedError

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        """One training step on the samples that the main model has just learned from; its own copies.

        anchors: normalised quantiles [B, H, Q, L] that are forecast without any model.
        """

    def compare(self, own: FloatArray, without_model: FloatArray) -> None:
        """Take losses [K] on the newest candles: of its forecasts, and of those without any model, each for a
        horizon and quantity; NaN where there is none."""

    def tensors(self) -> dict[str, Tensor]:
        """With `scalars` all that it needs to continue, for a checkpoint. Themselves, not copies."""
        return {}

    def scalars(self) -> dict[str, Any]:
        """The rest of the state, as JSON."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any]) -> None:
        """Continue from such a state, which may be of another version of it: raise then, in a sentence."""

    def take_incidents(self) -> Sequence[IncidentDraft]:
        """What it has to report since the last call, beside its failures."""
        return ()

    def resume(self) -> None:
        """The user resumed training."""

    def close(self) -> None:
        """The session ends. May be called twice."""
