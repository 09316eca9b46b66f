"""Kronos (MIT) as a forecaster in a process. It was trained on candles, and forecasts whole ones.

    git clone https://github.com/shiyu-coder/Kronos
    pip install -r Kronos/requirements.txt
    export PYTHONPATH=Kronos
    python kronos.py < /dev/null            # fetches the weights, once
    ghostcandle evaluate btc.csv --model "process:python kronos.py NeoQuasar/Kronos-small cpu"

A forecast is the quantiles of 32 possible futures, seeded by the candle's time, so
that the same candles give the same forecast. One takes seconds without a GPU: raise the deadline of live
runs, for which candles of a minute leave no time.
"""

from __future__ import annotations

import sys

import numpy as np
from serving import Wanted, serve

try:
    import pandas as pd
    import torch
    from model import Kronos, KronosPredictor, KronosTokenizer
except ImportError as error:
    sys.exit(
        f"Kronos is not installed ({error}). Clone https://github.com/shiyu-coder/Kronos, install its requirements, "
        "and name its folder in PYTHONPATH"
    )

CONTEXT = 512
FUTURES = 32


def main(weights: str = "NeoQuasar/Kronos-small", device: str = "cpu") -> None:
    tokenizer = KronosTokenizer.from_pretrained("NeoQuasar/Kronos-Tokenizer-base")
    predictor = KronosPredictor(Kronos.from_pretrained(weights), tokenizer, device=device, max_context=CONTEXT)

    def forecast(wanted: Wanted, candles: np.ndarray) -> dict[str, np.ndarray]:
        newest_ms = int(candles[-1, 0])
        torch.manual_seed(newest_ms)
        past = pd.DataFrame(candles[:, 1:], columns=["open", "high", "low", "close", "volume"])
        ahead_ms = newest_ms + wanted.interval_ms * np.arange(1, wanted.horizons + 1)
        past_times, next_times = (pd.Series(pd.to_datetime(times, unit="ms")) for times in (candles[:, 0], ahead_ms))
        futures = predictor.predict_batch(
            [past] * FUTURES,
            [past_times] * FUTURES,
            [next_times] * FUTURES,
            pred_len=wanted.horizons,
            T=1.0,
            top_p=1.0,
            sample_count=1,  # more would be averaged, and an average has no quantiles
            verbose=False,
        )
        numbers = np.stack([future[["open", "high", "low", "close", "volume"]].to_numpy() for future in futures])
        return quantiles_of(numbers, float(candles[-1, 4]), wanted.levels)

    serve(forecast, CONTEXT)


def quantiles_of(futures: np.ndarray, last_close: float, levels: tuple[float, ...]) -> dict[str, np.ndarray]:
    """Of possible futures [future, horizon, 5]: open, high, low, close, volume. A high below the close is raised to it,
    and so on."""
    smallest = 1e-6 * last_close
    opened, high, low, close = (np.maximum(futures[..., column], smallest) for column in range(4))
    top, bottom = np.maximum(opened, close), np.minimum(opened, close)
    high, low = np.maximum(high, top), np.minimum(low, bottom)
    samples = {
        "close": np.log(close / last_close),
        "body": np.log(close / opened),
        "upper_wick": np.log(high / top),
        "lower_wick": np.log(bottom / low),
        "range": np.log(high / low),
        "volume": np.maximum(futures[..., 4], 0.0),
    }
    return {name: np.quantile(values, levels, axis=0).T for name, values in samples.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
