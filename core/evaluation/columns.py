"""Scores of one horizon in growing arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.experts import ExpertList
from core.storage.records import ONLINE_LOSSES, SHOWN_LOSSES
from core.storage.score_blocks import ScoredRows

_LOSS = np.dtype("<f4")
_ROOM = 1024
_NO_TIMES, _NO_CLOSES = np.empty(0, dtype=np.int64), np.empty(0)
_SHAPES: dict[str, tuple[type, tuple[int, ...]]] = {
    "target_open_time_ms": (np.int64, ()),
    "after_gap": (np.bool_, ()),
    **{name: (np.float64, ()) for name in SHOWN_LOSSES.values()},
    **{name: (np.float32, ()) for name in ONLINE_LOSSES},
    "inside_50": (np.bool_, ()),
    "inside_90": (np.bool_, ()),
    "direction_hit": (np.int8, ()),
    "origin_close": (np.float64, ()),
    "close": (np.float64, (len(LEVELS),)),
    "regime": (np.int8, ()),
}


class ScoreColumns:
    """The newest scores, at least `capacity` of them if available. Only those with the losses of every expert, as
    `evaluate` judges no others."""

    def __init__(self, capacity: int, experts: ExpertList) -> None:
        self._capacity = capacity
        self.experts = experts
        self._shape = len(experts.loss_rows), QUANTITIES
        self._size = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros((_ROOM, *shape), dtype=kind) for name, (kind, shape) in _SHAPES.items()
        }
        self._losses: NDArray[Any] = np.zeros((_ROOM, *self._shape), dtype=_LOSS)
        self.read_until_ms = -(2**63)
        """The newest target read, even if it does not count."""
        self.without_detail_ms: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Targets without a gap before them that would count, if the detail of their first version were still
        stored."""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._size]

    @property
    def losses(self) -> NDArray[np.float32]:
        """Losses of all experts: [n, .., Q], in the order of `ExpertList.loss_rows`."""
        return self._losses[: self._size]

    def append(self, rows: ScoredRows) -> None:
        self.read_until_ms = rows.read_until_ms
        if not len(rows):
            return
        size = int(np.prod(self._shape)) * _LOSS.itemsize
        counts = np.array([len(packed) == size for packed in rows.losses])
        taken = int(counts.sum())
        lost = ~counts & ~rows.columns["after_gap"] & (rows.columns["version"] == 1)  # a corrected one never had it
        self.without_detail_ms = np.append(self.without_detail_ms, rows.columns["target_open_time_ms"][lost])
        self._make_room(taken)
        new = slice(self._size, self._size + taken)
        for name, column in self._columns.items():
            column[new] = rows.columns[name][counts]
        packed = b"".join(each for each in rows.losses if len(each) == size)
        self._losses[new] = np.frombuffer(packed, _LOSS).reshape(taken, *self._shape)
        self._size += taken

    def _make_room(self, more: int) -> None:
        if self._size + more <= len(self._losses):
            return
        kept = min(self._size, self._capacity)
        room = 2 * (kept + more)
        first = self._size - kept
        self._columns = {name: _moved(column[first : self._size], room) for name, column in self._columns.items()}
        self._losses = _moved(self._losses[first : self._size], room)
        self._size = kept


def _moved(column: NDArray[Any], room: int) -> NDArray[Any]:
    wider: NDArray[Any] = np.zeros((room, *column.shape[1:]), dtype=column.dtype)
    wider[: len(column)] = column
    return wider


class Origins:
    """Candles from which a forecast was made: open time and close."""

    def __init__(self, opened: NDArray[np.int64] = _NO_TIMES, closes: FloatArray = _NO_CLOSES) -> None:
        self.read_until_ms = -(2**63)
        """The newest one read or skipped."""
        self.open_time_ms, self.closes = _NO_TIMES, _NO_CLOSES
        self.append(opened, closes)

    def append(self, opened: NDArray[np.int64], closes: FloatArray) -> None:
        if not opened.size:
            return
        self.read_until_ms = int(opened[-1])
        self.open_time_ms = np.concatenate([self.open_time_ms, opened])
        self.closes = np.concatenate([self.closes, closes])
