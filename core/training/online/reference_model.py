"""The reference model: a frozen copy of the model some thousands of candles old, which forecasts the same candles as
the live one.

The difference between the two is the gain from learning since then. Snapshots of the forecasting weights are taken
every quarter of the age, each in a separate file that is written once, so that checkpoints stay small. The reference
model is the newest snapshot that is old enough, so it is between `age` and 1.25 `age` candles old.
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
from numpy.typing import NDArray
from torch import nn

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays
from core.forecast.score import pinball
from core.storage.weights import CheckpointError, read_weights, write_weights
from core.training.engine.engine import TrainingEngine
from core.training.recovery.failure import survivable_failure

_RENEWALS = 4
"""Snapshots per age."""
_FOLDER = "twins"
UNFINISHED_SNAPSHOTS = f"{_FOLDER}/.*.tmp"
"""A pattern of files in a run's folder that were left by a process killed while writing a snapshot."""
_log = logging.getLogger("ghostcandle.training")


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """candles: how many the run had taken at the snapshot."""

    candles: int
    file: str
    sha256: str


class ReferenceModel:
    """Owns the reference model and its snapshots. age: 0 for no reference model."""

    def __init__(self, engine: TrainingEngine, run_folder: Path, age: int) -> None:
        self._engine = engine
        self._folder = run_folder / _FOLDER
        self.age = age
        self._every = max(1, age // _RENEWALS)
        self._snapshots: list[_Snapshot] = []
        self._in_force: _Snapshot | None = None
        self._model: nn.Module | None = None
        self.is_diverged = False
        """Whether the model is diverged, so that no snapshot is taken: compared with it, any later model would seem to
        have learned."""

    @property
    def is_in_force(self) -> bool:
        """Whether a snapshot is old enough to forecast."""
        return self._model is not None

    def age_at(self, candles: int) -> int:
        """Age in candles of the reference model, or of the oldest snapshot if there is none yet. candles: taken so
        far."""
        oldest = self._in_force or (self._snapshots[0] if self._snapshots else None)
        return 0 if oldest is None else candles - oldest.candles

    def renew(self, candles: int) -> None:
        """Called before each close. candles: how many the run has taken."""
        if not self.age:
            return
        if candles % self._every == 0 and not self.is_diverged:
            self._take_snapshot(candles)
        old_enough = [snapshot for snapshot in self._snapshots if candles - snapshot.candles >= self.age]
        if old_enough and old_enough[-1] != self._in_force:
            self._put_in_force(old_enough[-1])
            oldest = old_enough[-1].candles - 2 * self._every  # an older checkpoint may be restored
            for snapshot in [each for each in self._snapshots if each.candles < oldest]:
                self._drop(snapshot)

    def keep_line_of(self, state: dict[str, Any]) -> None:
        """Keep only the snapshots in this state of a checkpoint whose weights the model takes: later ones are of
        abandoned weights."""
        known = {str(sha256) for _, _, sha256 in state["snapshots"]}
        for snapshot in [each for each in self._snapshots if each.sha256 not in known]:
            self._drop(snapshot)
        if self._in_force not in self._snapshots:
            self._in_force, self._model = None, None

    def corrections(self, features: NDArray[np.float32], is_real: NDArray[np.bool_]) -> FloatArray | None:
        """Its corrections after each market's newest candle: [n, H, Q, L], from what a model reads there [n, T, F] and
        [n, T]; None if it has none."""
        if self._model is None:
            return None
        try:
            return self._engine.corrections(features, is_real, self._model)
        except Exception as error:
            _log.warning("the reference model made no forecast: %s", survivable_failure(error).sentence)
            return None

    def state(self) -> dict[str, Any]:
        """The rest of the state, as JSON."""
        return {
            "snapshots": [[each.candles, each.file, each.sha256] for each in self._snapshots],
            "in_force": None if self._in_force is None else self._in_force.candles,
        }

    def restore(self, state: dict[str, Any] | None) -> None:
        """Continue from the saved state, or from None as a new one."""
        self._snapshots, self._in_force, self._model = [], None, None
        if state is None or not self.age:
            return
        self._snapshots = [_Snapshot(int(count), str(file), str(sha)) for count, file, sha in state["snapshots"]]
        in_force = next((each for each in self._snapshots if each.candles == state["in_force"]), None)
        if in_force is not None:
            self._put_in_force(in_force)

    def _take_snapshot(self, candles: int) -> None:
        """Skipped if weights are not finite or the disk refuses: the reference model is then renewed later."""
        weights = self._engine.forecasting_model.state_dict()
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            return
        path = self._folder / f"candle-{candles:09d}.safetensors"
        try:
            written = write_weights(path, weights, {"candles": candles})
        except OSError as error:
            _log.warning("the snapshot for the reference model could not be written: %s", error.strerror or error)
            return
        self._snapshots = [each for each in self._snapshots if each.candles < candles]
        self._snapshots.append(_Snapshot(candles, path.name, written.sha256))

    def _put_in_force(self, snapshot: _Snapshot) -> None:
        """An unreadable snapshot is dropped; the current reference model stays."""
        try:
            tensors, _ = read_weights(self._folder / snapshot.file, snapshot.sha256)
            model = copy.deepcopy(self._engine.forecasting_model).requires_grad_(False).eval()
            model.zero_grad(set_to_none=True)
            model.load_state_dict(tensors)
        except (CheckpointError, RuntimeError) as error:
            _log.warning("a snapshot for the reference model cannot be used: %s", error)
            self._snapshots.remove(snapshot)
            return
        self._in_force, self._model = snapshot, model

    def _drop(self, snapshot: _Snapshot) -> None:
        self._snapshots.remove(snapshot)
        (self._folder / snapshot.file).unlink(missing_ok=True)


class ReferenceForecasts:
    """The reference model's forecasts at the newest origins of one market, until their targets have closed: [H, Q, L]
    each, natural units."""

    def __init__(self, horizons: int) -> None:
        self._newest: deque[tuple[int, FloatArray]] = deque(maxlen=horizons)

    def append(self, origin_ms: int, forecast: FloatArray) -> None:
        """Remember its forecast at this origin, unless it is not finite."""
        if np.isfinite(forecast).all():
            self._newest.append((origin_ms, forecast))

    def clear(self) -> None:
        self._newest.clear()

    def losses(self, origin_ms: int, horizon: int, outcome: FloatArray) -> FloatArray | None:
        """Losses of the forecast made at this origin: [Q], natural units. None if there is none."""
        forecast = dict(self._newest).get(origin_ms)
        return None if forecast is None else pinball(outcome, forecast[horizon - 1])

    def state(self) -> Arrays:
        times = np.array([time_ms for time_ms, _ in self._newest], dtype=np.int64)
        forecasts = [forecast for _, forecast in self._newest]
        return {"origins": times, "forecasts": np.stack(forecasts) if forecasts else np.empty(0)}

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned."""
        origins = (int(time) for time in state["origins"])
        self._newest.clear()
        self._newest.extend(zip(origins, state["forecasts"].astype(np.float64), strict=True))
