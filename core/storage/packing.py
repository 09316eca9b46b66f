"""Packs the record's arrays as little-endian bytes: a forecast's, a target's scores, a step's gradients.

A forecast has H horizons, Q quantities (the close is the first), L levels (the median is in their middle), E experts,
in C order. Its drawn part is kept permanently, the exact arrays while it is recent.

Scores are one record per horizon. Losses and overlaps are float32 from the moment of scoring (`as_stored`): a trainer's
numbers in memory equal those it reads back after a restart.

Gradient statistics are float32, NaN in the place of None.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import struct
from collections.abc import Iterable, Sequence
from operator import attrgetter, mul

import numpy as np
from numpy.typing import NDArray

from core.domain.diagnosis import GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.domain.events import ForecastMode
from core.storage.records import StoredScore

RECORD = np.dtype(
    [
        ("origin_open_time_ms", "<i8"),
        ("horizon", "<u2"),
        ("mode", "u1"),
        ("flags", "u1"),
        ("direction_hit", "i1"),
        ("loss", "<f4"),
        ("model_loss", "<f4"),
        ("reference_loss", "<f4"),
        ("range_loss", "<f4"),
        ("range_model_loss", "<f4"),
        ("range_reference_loss", "<f4"),
        ("overlap", "<f4"),
        ("reference_overlap", "<f4"),
        ("twin_loss", "<f4"),
        ("range_twin_loss", "<f4"),
        ("body_loss", "<f4"),
        ("upper_wick_loss", "<f4"),
        ("lower_wick_loss", "<f4"),
        ("volume_loss", "<f4"),
    ]
)
NUMBERS = tuple(name for name in RECORD.names or () if RECORD[name] == np.dtype("<f4"))
"""The float fields, named as in `StoredScore`."""
_NUMBERS_OF = attrgetter(*NUMBERS)
_REQUIRED = NUMBERS[:8]
MODES = {
    ForecastMode.LIVE: 1,
    ForecastMode.CATCH_UP: 2,
    ForecastMode.REPLAY: 3,
    ForecastMode.SIMULATED: 4,
    ForecastMode.RECOVERY: 5,
    ForecastMode.SEEN: 6,
}
"""Stored, so these numbers must never change."""
MODE_OF = {number: mode for mode, number in MODES.items()}
_FLAGS = {"after_gap": 1, "inside_50": 2, "inside_90": 4}
_FLAGS_OF = attrgetter(*_FLAGS)
HAS_LOSSES = 8
"""Flag: the expert losses of the record are stored besides it."""

Records = NDArray[np.void]
"""[n] of RECORD."""
_SINGLE = np.dtype("<f4")
_DOUBLE = np.dtype("<f8")
_DIGEST_BYTES = 16
_ORIGINS = (None, *NonFiniteOrigin)
_HEAD = 6  # norm after, parameter norm, update ratio, loss scale, origin, number of loss parts
_PER_LAYER = 6
"""The anchor's loss follows the layers."""
_LAYER_NUMBERS = attrgetter("norm", "mean", "std", "largest", "gradient_ratio", "update_ratio")


def pack_drawn(quantiles: NDArray[np.float64]) -> bytes:
    """The part of [..., H, Q, L] that the chart draws: all levels of the close and the medians of the rest, as
    float32."""
    medians = quantiles[..., 1:, quantiles.shape[-1] // 2]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([quantiles[..., 0, :], medians], axis=-1).astype(_SINGLE).tobytes()


def unpack_drawn(packed: bytes, quantities: int, levels: int) -> NDArray[np.float64]:
    """[n, Q, L] of any number of consecutive horizons; NaN for quantiles not drawn."""
    rows = np.frombuffer(packed, _SINGLE).reshape(-1, levels + quantities - 1)
    natural = np.full((len(rows), quantities, levels), np.nan)
    natural[:, 0] = rows[:, :levels]
    natural[:, 1:, levels // 2] = rows[:, levels:]
    return natural


def pack_exact(quantiles: NDArray[np.float64], experts: NDArray[np.float64]) -> bytes:
    """quantiles [H, Q, L] and experts [E, H, Q, L], exactly."""
    return _bytes(quantiles) + _bytes(experts)


def unpack_exact(packed: bytes, shape: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The inverse of `pack_exact`. shape: H, Q, L."""
    arrays = np.frombuffer(packed, _DOUBLE).reshape(-1, *shape)
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
    by_horizon = np.ascontiguousarray(np.stack([quantiles, *experts], axis=1), dtype=_DOUBLE)
    for index, numbers in enumerate(by_horizon):
        digest.update(struct.pack("<qqdd", origin_open_time_ms, index + 1, origin_close, scale))
        digest.update(numbers)
    return digest.digest()[:_DIGEST_BYTES]


def _bytes(array: NDArray[np.float64]) -> bytes:
    return np.ascontiguousarray(array, dtype=_DOUBLE).tobytes()


def at_stored_precision(numbers: NDArray[np.float64]) -> list[list[float | None]]:
    """The numbers of scores [n, k] at the precision of the record; None for NaN."""
    with np.errstate(over="ignore"):
        rounded = numbers.astype(np.float32).tolist()
    return [[None if number != number else number for number in row] for row in rounded]


def packed_scores(of_targets: Sequence[Sequence[StoredScore]]) -> list[bytes]:
    """The scores of each target as bytes. Raises ValueError if a mandatory number is missing."""
    with np.errstate(over="ignore"):
        records = np.array([_record(score) for scores in of_targets for score in scores], dtype=RECORD)
    for name in _REQUIRED:
        if np.isnan(records[name]).any():
            raise ValueError(f"a score needs a {name.replace('_', ' ')}")
    packed, sizes = records.tobytes(), [len(scores) * RECORD.itemsize for scores in of_targets]
    ends = list(itertools.accumulate(sizes))
    return [packed[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def unpack_scores(packed: Iterable[bytes]) -> Records:
    return np.frombuffer(b"".join(packed), RECORD)


def records_in(packed: bytes) -> int:
    return len(packed) // RECORD.itemsize


def to_score(
    record: np.void, target_open_time_ms: int, version: int, scored_at_ms: int, expert_losses: bytes
) -> StoredScore:
    values = dict(zip(RECORD.names or (), record.item(), strict=True))
    flags, hit = values.pop("flags"), values.pop("direction_hit")
    for name in NUMBERS:
        if math.isnan(values[name]):
            values[name] = None
    values |= {name: bool(flags & bit) for name, bit in _FLAGS.items()}
    return StoredScore(
        **{**values, "mode": MODE_OF[values["mode"]]},
        direction_hit=None if hit < 0 else bool(hit),
        target_open_time_ms=target_open_time_ms,
        version=version,
        scored_at_ms=scored_at_ms,
        expert_losses=expert_losses,
    )


def pack_losses_of(scores: Sequence[StoredScore]) -> bytes:
    """The expert losses of a target's scores, as far as they have them, concatenated."""
    packed = [score.expert_losses for score in scores if score.expert_losses]
    if len({len(each) for each in packed}) > 1:
        raise ValueError("the expert losses of one target must have equal lengths")
    return b"".join(packed)


def losses_of(records: Records, row: NDArray[np.int64], packed: Sequence[bytes | None]) -> list[bytes]:
    """The inverse of `pack_losses_of`, for records of many rows; empty if there are none (any more).

    row: index of each record's row, ascending. packed: each row's losses."""
    has = (records["flags"] & HAS_LOSSES) != 0
    in_row = np.bincount(row, has, minlength=len(packed)).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(in_row)])[:-1]
    number = (np.cumsum(has) - 1 - before[row]).tolist()
    sizes = [0 if data is None or not n else len(data) // n for data, n in zip(packed, in_row.tolist(), strict=True)]
    return [
        (packed[of] or b"")[nth * sizes[of] : (nth + 1) * sizes[of]] if each else b""
        for of, nth, each in zip(row.tolist(), number, has.tolist(), strict=True)
    ]


def flag(records: Records, name: str) -> NDArray[np.bool_]:
    """The flag after_gap, inside_50 or inside_90: [n]."""
    holds: NDArray[np.bool_] = (records["flags"] & _FLAGS[name]) != 0
    return holds


def _record(score: StoredScore) -> tuple[object, ...]:
    flags = sum(map(mul, _FLAGS.values(), _FLAGS_OF(score))) + (HAS_LOSSES if score.expert_losses else 0)
    hit = -1 if score.direction_hit is None else score.direction_hit
    return (score.origin_open_time_ms, score.horizon, MODES[score.mode], flags, hit, *_NUMBERS_OF(score))


def pack_gradients(statistics: GradientStatistics | None) -> bytes | None:
    if statistics is None:
        return None
    head = (
        statistics.norm_after,
        statistics.parameter_norm,
        statistics.update_ratio,
        statistics.loss_scale,
        float(_ORIGINS.index(statistics.non_finite)),
        float(len(statistics.loss_parts)),
    )
    layers = [number for layer in statistics.layers for number in _LAYER_NUMBERS(layer)]
    numbers = (*head, *statistics.loss_parts, *layers, statistics.anchor_loss)
    values = [math.nan if number is None else number for number in numbers]
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float64).astype(_SINGLE).tobytes()


def unpack_gradients(data: bytes | None) -> GradientStatistics | None:
    """The inverse of `pack_gradients`, to the precision of float32; numbers outside float32 become None."""
    if data is None:
        return None
    values: list[float] = np.frombuffer(data, _SINGLE).tolist()  # a run has thousands; NumPy's scalars are slow
    origin, parts = int(values[4]), int(values[5])
    numbers = [value if math.isfinite(value) else None for value in values]
    after, parameters, update, scale = numbers[:4]
    *of_layers, anchor_loss = numbers[_HEAD + parts :]
    rows = [of_layers[first : first + _PER_LAYER] for first in range(0, len(of_layers), _PER_LAYER)]
    return GradientStatistics(
        layers=tuple(LayerStatistics(*row) for row in rows),
        norm_after=after,
        parameter_norm=parameters,
        update_ratio=update,
        loss_parts=tuple(numbers[_HEAD : _HEAD + parts]),
        loss_scale=scale,
        non_finite=_ORIGINS[origin],
        anchor_loss=anchor_loss,
    )
