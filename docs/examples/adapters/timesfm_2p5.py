"""TimesFM 2.5 (Google, Apache 2.0) as a forecaster in a process.

    pip install "timesfm[torch]"
    python timesfm_2p5.py < /dev/null       # fetches the weights, once
    ghostcandle evaluate btc.csv --model "process:python timesfm_2p5.py google/timesfm-2.5-200m-pytorch"

It forecasts close and range, each from its newest 1,024 values.
"""

from __future__ import annotations

import sys

import numpy as np
from serving import Wanted, close_and_range, serve, with_tails

try:
    import timesfm
except ImportError as error:
    sys.exit(f'TimesFM is not installed ({error}). Install it: pip install "timesfm[torch]"')

CONTEXT = 1024


def main(weights: str = "google/timesfm-2.5-200m-pytorch") -> None:
    model = timesfm.TimesFM_2p5_200M_torch.from_pretrained(weights)
    model.compile(
        timesfm.ForecastConfig(
            max_context=CONTEXT,
            max_horizon=128,
            normalize_inputs=True,
            use_continuous_quantile_head=True,
            fix_quantile_crossing=True,
            infer_is_positive=False,  # a logarithm is negative too
        )
    )

    def forecast(wanted: Wanted, candles: np.ndarray) -> dict[str, np.ndarray]:
        _, means_and_deciles = model.forecast(horizon=wanted.horizons, inputs=list(close_and_range(candles)))
        close, spread = with_tails(np.asarray(means_and_deciles, dtype=np.float64)[..., 1:], wanted.levels)
        return {"close": close, "range": np.exp(spread)}

    serve(forecast, CONTEXT)


if __name__ == "__main__":
    main(*sys.argv[1:])
