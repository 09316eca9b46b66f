"""Chronos-Bolt (Amazon, Apache 2.0) as a forecaster in a process.

    pip install chronos-forecasting
    python chronos_bolt.py < /dev/null      # fetches the weights, once
    ghostcandle evaluate btc.csv --model "process:python chronos_bolt.py amazon/chronos-bolt-small cpu"

It forecasts close and range, each from its newest 2,048 values.
"""

from __future__ import annotations

import sys

import numpy as np
from serving import Wanted, close_and_range, serve, with_tails

try:
    import torch
    from chronos import BaseChronosPipeline
except ImportError as error:
    sys.exit(f"Chronos is not installed ({error}). Install it: pip install chronos-forecasting")

CONTEXT = 2048
DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
"""It was trained on these, and knows no others."""


def main(weights: str = "amazon/chronos-bolt-small", device: str = "cpu") -> None:
    pipeline = BaseChronosPipeline.from_pretrained(weights, device_map=device, torch_dtype=torch.float32)

    def forecast(wanted: Wanted, candles: np.ndarray) -> dict[str, np.ndarray]:
        series = torch.tensor(close_and_range(candles), dtype=torch.float32)
        quantiles, _ = pipeline.predict_quantiles(series, prediction_length=wanted.horizons, quantile_levels=DECILES)
        close, spread = with_tails(quantiles.double().cpu().numpy(), wanted.levels)
        return {"close": close, "range": np.exp(spread)}

    serve(forecast, CONTEXT)


if __name__ == "__main__":
    main(*sys.argv[1:])
