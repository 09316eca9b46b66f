"""Scenes of market regimes behind the candles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.domain.regimes import RegimeProbabilities
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.items.volume_profile import VolumeProfileLayer
from tests.desktop.chart.support import forecast_after, random_series
from tests.golden.stage import Stage


def regimes(stage: Stage, factor: float = 1.0, count: int = 120) -> None:
    """Certain and uncertain stretches of each regime; unknown for the first candles. The model's forecasts of them are
    late by two candles, and missing for a quarter."""
    series = random_series(count)
    stage.chart.set_series(series, "BTC/USDT · 1m · test")
    stage.chart.set_forecast(forecast_after(series))
    for index in range(count // 3, count):
        now, following = _regime(index), None if index < count // 2 else _regime(index - 1)
        made = replace(forecast_after(series), origin_open_time_ms=series[index].open_time_ms)
        stage.chart.model.regimes.add(replace(made, conditions=now, next_regime=following))
    stage.chart.add_layer(RegimeLayer())
    stage.settle()
    stage.chart.zoom(factor)


def _regime(index: int) -> RegimeProbabilities:
    likeliest = 0.9 if index // 5 % 2 else 0.6
    return RegimeProbabilities(*np.roll([likeliest, 0.9 - likeliest, 0.1], index // 10 % 3).tolist())


def profile(stage: Stage) -> None:
    """The volume at each price over the regimes, which were switched on last."""
    stage.chart.add_layer(VolumeProfileLayer())
    regimes(stage)
