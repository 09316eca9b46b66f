"""The same candles up to a moment, and another future after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.domain.candle import Candle


def with_other_future(candles: Sequence[Candle], known: int, seed: int = 0) -> list[Candle]:
    """The first `known` candles, then others at the same times: shapes of all candles, mixed and mirrored at random.

    What comes after `known` says nothing of the true future.
    """
    generator = np.random.default_rng(seed)
    shapes = generator.integers(0, len(candles), len(candles) - known)
    signs = generator.choice([-1.0, 1.0], shapes.size)
    made = list(candles[:known])
    for candle, shape, sign in zip(candles[known:], shapes.tolist(), signs.tolist(), strict=True):
        made.append(_shaped_like(candles[shape], made[-1].close, sign, candle.open_time_ms))
    return made


def _shaped_like(shape: Candle, opened: float, sign: float, open_time_ms: int) -> Candle:
    """A candle from this price on, its body mirrored if the sign is -1."""
    close = opened * (shape.close / shape.open) ** sign
    top, bottom = max(opened, close), min(opened, close)
    high = top * shape.high / max(shape.open, shape.close)
    low = bottom * shape.low / min(shape.open, shape.close)
    return replace(
        shape, open_time_ms=open_time_ms, open=opened, high=max(high, top), low=min(low, bottom), close=close
    )
