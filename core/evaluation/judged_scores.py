"""The scores of a run in columns, and the selection of those that are judged, with the losses of all experts. No
torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray, Quantity
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, NO_CHALLENGERS, REFERENCE, ExpertList
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.storage.record_reader import RecordReader
from core.storage.records import ONLINE_LOSSES, SHOWN_LOSSES
from core.storage.runs import Run
from core.storage.score_blocks import ScoredRows, read_scored
from core.training.online.trainer_spec import own_mode_of

WARM_UP = 1000
"""Candles that are not judged, if enough are left: the window of the reference."""
JUDGED_QUANTITIES = {"close": Quantity.CLOSE, "range": Quantity.RANGE}
ALSO_DRAWN = {
    "body": Quantity.BODY,
    "upper_wick": Quantity.UPPER_WICK,
    "lower_wick": Quantity.LOWER_WICK,
    "volume": Quantity.VOLUME,
}
"""Other quantities of ghosts: judged against the reference too, but without a verdict."""
Rows = NDArray[np.bool_]
_LOSS = np.dtype("<f4")
_NO_TIMES, _NO_CLOSES = np.empty(0, dtype=np.int64), np.empty(0)
_SHAPES: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
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
    """The newest scores, at most `capacity` of them: only those with the losses of every expert, as `evaluate` judges
    no others."""

    def __init__(self, capacity: int, experts: ExpertList) -> None:
        self._capacity = capacity
        self.experts = experts
        self._loss_shape = len(experts.loss_rows), QUANTITIES
        shapes = {**_SHAPES, "losses": (_LOSS, self._loss_shape)}
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty((0, *shape), kind) for name, (kind, shape) in shapes.items()
        }
        self.read_until_ms = -(2**63)
        """The newest target read, even if it does not count."""
        self.without_detail_ms: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Targets without a gap before them that would count, if the detail of their first version were still
        stored."""

    def __len__(self) -> int:
        return len(self["target_open_time_ms"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """[n, ..]. "losses": of all experts, [n, .., Q], in the order of `ExpertList.loss_rows`."""
        return self._columns[name]

    def append(self, rows: ScoredRows) -> None:
        self.read_until_ms = rows.read_until_ms
        if not len(rows):
            return
        size = int(np.prod(self._loss_shape)) * _LOSS.itemsize
        counts = np.array([len(packed) == size for packed in rows.losses])
        lost = ~counts & ~rows.columns["after_gap"] & (rows.columns["version"] == 1)  # a corrected one never had it
        self.without_detail_ms = np.append(self.without_detail_ms, rows.columns["target_open_time_ms"][lost])
        packed = b"".join(each for each in rows.losses if len(each) == size)
        new = {name: rows.columns[name][counts] for name in _SHAPES}
        new["losses"] = np.frombuffer(packed, _LOSS).reshape(-1, *self._loss_shape)
        for name, column in self._columns.items():
            joined = np.concatenate([column, new[name]], dtype=column.dtype)
            self._columns[name] = joined[-self._capacity :]


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


class QuantityLosses:
    """Losses of one quantity in time order: of the combination, [n], and of each expert."""

    def __init__(
        self, shown: FloatArray, by_row: FloatArray, quantity: Quantity, experts: ExpertList = NO_CHALLENGERS
    ) -> None:
        """by_row: [n, ..], in the order of `ExpertList.loss_rows`."""
        self.shown = shown
        self.quantity = quantity
        self.by_row = by_row
        self.experts = experts

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def without_model(self) -> FloatArray:
        return self.by_row[:, 0]

    @property
    def without_challengers(self) -> FloatArray:
        return self.by_row[:, -1] if self.experts.challengers else self.shown

    @property
    def reference(self) -> FloatArray:
        return self.of(REFERENCE)

    def of(self, expert: int) -> FloatArray:
        lost: FloatArray = self.by_row[:, 1 + expert]
        return lost

    @property
    def means(self) -> dict[str, float]:
        """Mean loss of each expert that forecasts the quantity; empty without scores."""
        able = np.flatnonzero(self.experts.forecasts[:, self.quantity]).tolist() if len(self) else []
        return {self.experts.names[expert]: float(self.of(expert).mean()) for expert in able}

    @property
    def best_baseline(self) -> int | None:
        """The expert with the lowest loss that is no model; known in hindsight only. None without scores."""
        able = [expert for expert in range(len(EXPERTS)) if FORECASTS[expert, self.quantity] and expert != MODEL]
        return min(able, key=lambda expert: float(self.of(expert).mean())) if len(self) else None

    def where_shown(self) -> QuantityLosses:
        """The losses with a known combination's loss: scores of corrected candles have none for the volume."""
        known = np.isfinite(self.shown)
        return QuantityLosses(self.shown[known], self.by_row[known], self.quantity, self.experts)


class JudgedScores:
    """The scores of one horizon that count, n of them in time order: a selection of columns."""

    def __init__(self, columns: ScoreColumns, rows: Rows, without_detail: int = 0) -> None:
        """rows: mask of the scores that count. without_detail: how many further ones would, if their detail were still
        stored."""
        self._columns, self._rows, self.without_detail = columns, rows, without_detail

    def __len__(self) -> int:
        return int(self._rows.sum())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][self._rows]

    def where(self, chosen: Rows) -> JudgedScores:
        """The scores of the rows chosen by this mask [n]."""
        rows = self._rows.copy()
        rows[rows] = chosen
        return JudgedScores(self._columns, rows)

    def of(self, quantity: Quantity) -> QuantityLosses:
        by_row = self._columns["losses"][:, :, quantity][self._rows].astype(np.float64)
        return QuantityLosses(self[SHOWN_LOSSES[quantity]], by_row, quantity, self._columns.experts)

    def model_and_reference_model(self) -> tuple[FloatArray, FloatArray]:
        """Losses of both, for close and range, of the scores that have both: [2, m] each."""
        losses = np.stack([self[name] for name in ONLINE_LOSSES]).astype(np.float64)
        losses = losses[:, np.isfinite(losses).all(axis=0)]
        return losses[:2], losses[2:]


def judged_from_nth(nth_origin: Callable[[int], int | None]) -> tuple[int, int]:
    """The open time of the first target that counts, and how many of the first candles do not; none if too few would be
    left. nth_origin: the open time of the candle of the n-th forecast, from 0; None if there are fewer."""
    left_out = 0 if nth_origin(WARM_UP + FEWEST_FOR_AN_EDGE - 1) is None else WARM_UP
    return nth_origin(left_out) or 0, left_out


def read_columns(reader: RecordReader, run: Run, horizons: Iterable[int]) -> dict[int, ScoreColumns]:
    """All scores of the run's own forecasts, by horizon. Raises StorageError."""
    found = {horizon: ScoreColumns(sys.maxsize, ExpertList(run.challengers)) for horizon in horizons}
    for is_first in (True, False):
        together = [horizon for horizon in found if (horizon == 1) == is_first]
        if together:
            columns = read_scored(reader.blocks, own_mode_of(run.market), together, -(2**63), -1)
            for horizon, rows in columns.items():
                found[horizon].append(rows)
    return found


def judged(columns: ScoreColumns, from_ms: int = -(2**63), *, after_gap: bool = False) -> JudgedScores:
    """The scores of targets from `from_ms` on. after_gap: instead, scores whose target comes after a gap or a session
    break, which count nowhere else."""
    rows: Rows = (columns["target_open_time_ms"] >= from_ms) & (columns["after_gap"] == after_gap)
    return JudgedScores(columns, rows, int((columns.without_detail_ms >= from_ms).sum()))
