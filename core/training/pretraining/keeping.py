"""Saves each new best epoch at once, so that a later crash cannot lose it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from core.domain.clock import Clock
from core.settings.tree import ModelSettings
from core.training.engine.engine import TrainingEngine
from core.training.hosting.pretrained import Pretrained, PretrainedStore
from core.training.online.snapshot import SCHEMA, describe_model
from core.training.pretraining.errors import PretrainingError
from core.training.pretraining.loop import Epoch
from core.training.pretraining.sources import Source
from core.training.pretraining.team import Team


class BestKeeper:
    """Owns the one file of this pretraining. Only the first process writes; all learn whether it succeeded."""

    def __init__(
        self,
        store: PretrainedStore,
        engine: TrainingEngine,
        model: ModelSettings,
        sources: Sequence[Source],
        seed: int,
        team: Team,
        clock: Clock,
    ) -> None:
        self.kept: Pretrained | None = None
        """None in all processes except the first."""
        self._store = store
        self._engine = engine
        self._model = model
        self._sources = sources
        self._seed = seed
        self._team = team
        self._clock = clock

    def keep(self, epoch: Epoch, steps: int) -> None:
        """Write the current state, then delete the previous one. Raises PretrainingError, in all processes."""
        problem = self._write(epoch, steps) if self._team.rank == 0 else None
        if self._team.any(problem is not None):
            raise PretrainingError(problem or "The first process could not write the checkpoint.")

    def _write(self, epoch: Epoch, steps: int) -> str | None:
        """None, or a sentence that says why it failed."""
        former = self.kept
        try:
            self.kept = self._store.write(
                self._engine.tensors(), self._metadata(epoch, steps), self._clock.now_ms(), self._facts(epoch)
            )
            if former is not None:
                self._store.remove(former)
        except OSError as error:
            before = "" if former is None else f" The previous best epoch is in {former.file}."
            return (
                f"The checkpoint of epoch {epoch.number} could not be written ({error.strerror or error}).{before} "
                "Free space on the disk of the data folder, or choose another with --data-dir."
            )
        return None

    def _facts(self, epoch: Epoch) -> dict[str, Any]:
        interval = self._sources[0].file.interval
        return {
            "interval_ms": interval.duration_ms,
            "seen_until_ms": max(interval.close_time_ms(one.file.candles[-1].open_time_ms) for one in self._sources),
            "epoch": epoch.number,
            "skill": epoch.validation.skill,
        }

    def _metadata(self, epoch: Epoch, steps: int) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "training_type": "pretrained",
            "model": describe_model(self._model),
            "step": steps,
            "engine": self._engine.scalars(),
            "seed": self._seed,
            "epoch": epoch.number,
            "validation": epoch.validation.summary(),
            "files": [
                {"name": one.name, "sha256": one.file.fingerprint, "candles": len(one.file.candles)}
                for one in self._sources
            ],
            "torch": torch.__version__,
            **self._facts(epoch),
        }
