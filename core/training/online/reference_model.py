"""The frozen twin: the model as it was some thousands of candles ago, which forecasts beside the live one.

What the live model has on it is what learning since then was worth. Snapshots of the weights that are forecast with
are taken every quarter of the age, each a file of its own that is written once, so that checkpoints stay small; the
twin is the newest snapshot that is old enough, and so between `age` and 1.25 `age` candles old.
"""

from __future__ import annotations

import copy
import logging
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays
from core.forecast.score import pinball
from core.storage.weights import CheckpointError, read_weights, write_weights
from core.training.engine.engine import TrainingEngine
from core.training.online.forecaster import Forecaster
from core.training.recovery.failure import failure_of

_RENEWALS = 4
"""Snapshots within the age."""
_FOLDER = "twins"
UNFINISHED_SNAPSHOTS = f"{_FOLDER}/.*.tmp"
"""In a run's folder: what a process that was killed while it wrote one has left."""
_log = logging.getLogger("ghostcandle.training")


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """candles: how many the run had taken when this was its model."""

    candles: int
    file: str
    sha256: str


class FrozenTwin:
    """Owns the twin, its snapshots, and what it said of candles that have not closed. age: 0 for no twin at all."""

    def __init__(self, engine: TrainingEngine, run_folder: Path, age: int, horizons: int) -> None:
        self._engine = engine
        self._folder = run_folder / _FOLDER
        self.age = age
        self._every = max(1, age // _RENEWALS)
        self._snapshots: list[_Snapshot] = []
        self._in_force: _Snapshot | None = None
        self._model: nn.Module | None = None
        self._said: deque[tuple[int, FloatArray]] = deque(maxlen=horizons)
        """At the newest origins, by opening time: [H, Q, L], natural."""

    def known_for(self, candles: int) -> int:
        """How many candles ago the twin, or while there is none the oldest snapshot, was the model. candles: taken."""
        oldest = self._in_force or (self._snapshots[0] if self._snapshots else None)
        return 0 if oldest is None else candles - oldest.candles

    def renew(self, candles: int) -> None:
        """Before each candle. candles: how many the run has taken."""
        if not self.age:
            return
        if candles % self._every == 0:
            self._take_snapshot(candles)
        old_enough = [snapshot for snapshot in self._snapshots if candles - snapshot.candles >= self.age]
        if old_enough and old_enough[-1] != self._in_force:
            self._put_in_force(old_enough[-1])
            self._drop_before(old_enough[-1].candles - 2 * self._every)  # an older checkpoint may be gone back to

    def say(self, forecaster: Forecaster, origin_ms: int) -> None:
        """Forecast what comes after the newest candle."""
        if self._model is None:
            return
        try:
            said = forecaster.of_other(self._model)
        except Exception as error:
            failure = failure_of(error)
            if failure.ends_process:
                raise
            _log.warning("the frozen twin did not forecast: %s", failure.sentence)
            return
        if np.isfinite(said).all():
            self._said.append((origin_ms, said))

    def losses(self, origin_ms: int, horizon: int, outcome: FloatArray) -> FloatArray | None:
        """Of its forecast made at this origin: [Q], natural units. None where it made none."""
        said = next((said for time_ms, said in self._said if time_ms == origin_ms), None)
        return None if said is None else pinball(outcome, said[horizon - 1])

    def said(self) -> Arrays:
        """What of the state is arrays."""
        times = np.array([time_ms for time_ms, _ in self._said], dtype=np.int64)
        said = [said for _, said in self._said]
        return {"origins": times, "said": np.stack(said) if said else np.empty(0)}

    def state(self) -> dict[str, Any]:
        """The rest of it, as JSON."""
        return {
            "snapshots": [[each.candles, each.file, each.sha256] for each in self._snapshots],
            "in_force": None if self._in_force is None else self._in_force.candles,
        }

    def restore(self, said: Arrays, state: dict[str, Any] | None) -> None:
        """Go on from what `said` and `state` returned; from a checkpoint without them, as a new one."""
        self._snapshots, self._in_force, self._model = [], None, None
        self._said.clear()
        if state is None or not self.age:
            return
        self._snapshots = [_Snapshot(int(count), str(file), str(sha)) for count, file, sha in state["snapshots"]]
        in_force = next((each for each in self._snapshots if each.candles == state["in_force"]), None)
        if in_force is not None:
            self._put_in_force(in_force)
        self._said.extend(zip((int(time) for time in said["origins"]), said["said"].astype(np.float64), strict=True))

    def _take_snapshot(self, candles: int) -> None:
        """None is taken of weights that are not finite, or where the disk refuses it: the twin is renewed later."""
        weights = self._engine.forecasting_model.state_dict()
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            return
        path = self._folder / f"candle-{candles:09d}.safetensors"
        try:
            written = write_weights(path, weights, {"candles": candles})
        except OSError as error:
            _log.warning("the snapshot for the frozen twin could not be written: %s", error.strerror or error)
            return
        self._snapshots = [each for each in self._snapshots if each.candles < candles]
        self._snapshots.append(_Snapshot(candles, path.name, written.sha256))

    def _put_in_force(self, snapshot: _Snapshot) -> None:
        """A snapshot that cannot be read is forgotten; the twin in force stays."""
        try:
            tensors, _ = read_weights(self._folder / snapshot.file, snapshot.sha256)
            model = copy.deepcopy(self._engine.forecasting_model).requires_grad_(False).eval()
            model.zero_grad(set_to_none=True)
            model.load_state_dict(tensors)
        except (CheckpointError, RuntimeError) as error:
            _log.warning("a snapshot for the frozen twin cannot be used: %s", error)
            self._snapshots.remove(snapshot)
            return
        self._in_force, self._model = snapshot, model

    def _drop_before(self, candles: int) -> None:
        for snapshot in [each for each in self._snapshots if each.candles < candles]:
            self._snapshots.remove(snapshot)
            (self._folder / snapshot.file).unlink(missing_ok=True)
