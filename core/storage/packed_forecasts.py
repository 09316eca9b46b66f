"""A forecast's arrays as bytes: the drawn part permanently, the exact arrays while it is recent.

Little-endian, C order. A forecast has H horizons, Q quantities (the close is the first), L levels (the median is in
their middle) and E experts.
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np
from numpy.typing import NDArray

_DRAWN = np.dtype("<f4")
_EXACT = np.dtype("<f8")
_DIGEST_BYTES = 16


def pack_drawn(quantiles: NDArray[np.float64]) -> bytes:
    """The part of [H, Q, L] that the chart draws: all levels of the close and the medians of the rest, as float32."""
    medians = quantiles[:, 1:, quantiles.shape[2] // 2]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([quantiles[:, 0], medians], axis=1).astype(_DRAWN).tobytes()


def unpack_drawn(packed: bytes, quantities: int, levels: int) -> NDArray[np.float64]:
    """[n, Q, L] of any number of consecutive horizons; NaN for quantiles not drawn."""
    rows = np.frombuffer(packed, _DRAWN).reshape(-1, levels + quantities - 1)
    natural = np.full((len(rows), quantities, levels), np.nan)
    natural[:, 0] = rows[:, :levels]
    natural[:, 1:, levels // 2] = rows[:, levels:]
    return natural


def pack_exact(quantiles: NDArray[np.float64], experts: NDArray[np.float64]) -> bytes:
    """quantiles [H, Q, L] and experts [E, H, Q, L], exactly."""
    return _bytes(quantiles) + _bytes(experts)


def unpack_exact(packed: bytes, shape: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The inverse of `pack_exact`. shape: H, Q, L."""
    arrays = np.frombuffer(packed, _EXACT).reshape(-1, *shape)
    return arrays[0], arrays[1:]


def digest_of(
    origin_open_time_ms: int,
    origin_close: float,
    scale: float,
    quantiles: NDArray[np.float64],
    experts: NDArray[np.float64],
) -> bytes:
    """The digest of a forecast, kept after its exact arrays are deleted: the first 16 bytes of a SHA-256.

    For each horizon: int64 origin, int64 horizon, float64 close, float64 scale, its quantiles, its experts.
    """
    digest = hashlib.sha256()
    for index in range(len(quantiles)):
        digest.update(struct.pack("<qqdd", origin_open_time_ms, index + 1, origin_close, scale))
        digest.update(_bytes(quantiles[index]) + _bytes(experts[:, index]))
    return digest.digest()[:_DIGEST_BYTES]


def _bytes(array: NDArray[np.float64]) -> bytes:
    return np.ascontiguousarray(array, dtype=_EXACT).tobytes()
