"""A forecaster in a process as a challenger of a session."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.domain.events import ForecastMode
from core.domain.quantities import SMALLEST_VOLUME_SHARE, FloatArray, Quantity
from core.training.commands import MarketCandle
from core.training.external.model import ExternalModel
from core.training.external.protocol import ExternalForecast
from core.training.online.challenger import Challenger, MarketInputs
from core.training.recovery.incident_draft import IncidentDraft

_LEAST_VOLUME = math.log(SMALLEST_VOLUME_SHARE)


class ProcessChallenger(Challenger):
    """Learns by itself, if at all, from no samples. Its state is its process's: after a restart it gets the history
    again, and after a restore a running one keeps what it has seen."""

    def __init__(self, model: ExternalModel, markets: Sequence[str]) -> None:
        """markets: the names that the forecaster knows, by their place in the run."""
        self.name = model.name
        self._model = model
        self._markets = markets

    def get_ready(self) -> bool:
        """As `ExternalModel.get_ready`."""
        return self._model.get_ready()

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        is_live = any(each.mode is ForecastMode.LIVE for each in closed)
        self._model.observe([(self._markets[each.market], each.candle) for each in closed], is_live=is_live)

    def forecast(self, markets: Sequence[MarketInputs]) -> list[FloatArray | None]:
        made = [self._model.forecast(self._markets[of.market], of.open_time_ms) for of in markets]
        return [
            _normalised(each, of) if each is not None and each.quantiles else None
            for each, of in zip(made, markets, strict=True)
        ]

    def resume(self) -> None:
        self._model.resume()

    def take_incidents(self) -> tuple[IncidentDraft, ...]:
        return self._model.take_incidents()

    def close(self) -> None:
        self._model.close()


def _normalised(forecast: ExternalForecast, of: MarketInputs) -> FloatArray:
    """[H, Q, L]. Quantities that it does not forecast repeat the forecast without any model."""
    quantiles: FloatArray = of.without_model.copy()
    for quantity, natural in forecast.quantiles.items():
        normalised = (natural - of.offset[:, quantity, None]) / of.factor[:, quantity, None]
        least = _LEAST_VOLUME if quantity is Quantity.VOLUME else -np.inf
        quantiles[:, quantity] = np.maximum(normalised, least)
    return quantiles
