"""The recovery ladder on a bench."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from core.settings.tree import GradientSettings, RecoverySettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.engine.samples import Batch
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder, TrainedStep
from core.training.recovery.quarantine import Quarantine
from tests.core.training.engine.rigs import RATE, REFERENCE, batch, engine, state


class Bench:
    """A ladder on a small engine, that has done ten steps and remembers the state after the tenth."""

    def __init__(
        self,
        folder: Path,
        recovery: RecoverySettings | None = None,
        training: TrainingSettings | None = None,
        **options: object,
    ) -> None:
        training = training or TrainingSettings(learning_rate=RATE, ema_decay=0.9)
        self.engine: TrainingEngine = engine(GradientSettings(clip_mode="adaptive"), training, **options)  # type: ignore[arg-type]
        self.generator = np.random.default_rng(7)
        self.folder = folder
        self.ladder = RecoveryLadder(
            self.engine, recovery or RecoverySettings(), KnownGood(self.engine, self.generator), Quarantine(folder)
        )
        self.step = 0
        self.losses: list[float] = []
        for _ in range(10):
            self.train()
        assert self.ladder.known_good.remember(self.step)
        self.good = state(self.engine)
        self.good_draw = np.random.default_rng(7).bit_generator.state

    def train(self, samples: Batch | None = None) -> TrainedStep:
        self.step += 1
        done = self.ladder.train(samples or batch(self.step), REFERENCE, self.step, self.losses)
        if done.result.loss is not None:
            self.losses.append(done.result.loss)
        return done

    def train_spoiled(self) -> TrainedStep:
        """A step after the first parameters have become NaN."""
        with torch.no_grad():
            next(self.engine.model.parameters()).fill_(torch.nan)
        return self.train()

    def kinds(self, done: TrainedStep) -> list[str]:
        return [incident.kind for incident in done.incidents]
