"""Scores for the Accuracy dock: of real sessions, and synthetic ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.domain.quantities import LEVELS, QUANTITIES
from core.evaluation.findings import Request, RunAccuracy
from core.evaluation.judged_scores import JudgedScores, Origins, ScoreColumns
from core.evaluation.running import RunningAccuracy
from core.forecast.experts import EXPERTS, LOSS_ROWS, NO_CHALLENGERS, REFERENCE, ExpertList, pack_losses
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.records import ONLINE_LOSSES, SHOWN_LOSSES
from core.storage.score_blocks import ScoredRows
from core.training.online.touched import MULTIPLES, Touches

HORIZONS = 3
MINUTE_MS = 60_000


@contextmanager
def database(root: Path) -> Iterator[Database]:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        yield db
    finally:
        db.close()


def read_all(accuracy: RunningAccuracy, request: Request | None = None) -> RunAccuracy:
    for horizon in accuracy.horizons:
        for _ in accuracy.read_more(horizon):
            pass
    return accuracy.find(request or Request())


def scored(n: int, seed: int = 0, first: int = 1, experts: ExpertList = NO_CHALLENGERS) -> ScoredRows:
    """Scores of a combination with nine tenths of each expert's loss; close returns are standard normal."""
    generator = np.random.default_rng(seed)
    losses = generator.gamma(2.0, 1.0, (n, len(experts.loss_rows), QUANTITIES))
    reference = losses[:, LOSS_ROWS.index(EXPERTS[REFERENCE])]
    columns = {
        "target_open_time_ms": MINUTE_MS * np.arange(first, first + n),
        "version": np.ones(n, dtype=np.int64),
        "after_gap": np.zeros(n, dtype=np.bool_),
        **{name: 0.9 * reference[:, quantity] for quantity, name in SHOWN_LOSSES.items()},
        **{name: np.full(n, np.nan) for name in ONLINE_LOSSES},
        "inside_50": generator.random(n) < 0.5,
        "inside_90": generator.random(n) < 0.9,
        "direction_hit": generator.integers(-1, 2, n).astype(np.int8),
        "origin_close": np.full(n, 100.0),
        "close": np.tile(np.linspace(-2.0, 2.0, len(LEVELS)), (n, 1)),
        "regime": np.full(n, -1, dtype=np.int8),
    }
    packed = [pack_losses(each) for each in losses]
    return ScoredRows(columns, packed, read_until_ms=MINUTE_MS * (first + n - 1), is_end=True)


def filled(*parts: ScoredRows, capacity: int = 50_000, experts: ExpertList = NO_CHALLENGERS) -> ScoreColumns:
    columns = ScoreColumns(capacity, experts)
    for part in parts:
        columns.append(part)
    return columns


def every(columns: ScoreColumns) -> JudgedScores:
    return JudgedScores(columns, np.ones(len(columns), dtype=np.bool_))


def origins(n: int, seed: int = 1) -> Origins:
    known = Origins()
    known.append(MINUTE_MS * np.arange(n + 1), 100.0 * np.exp(np.random.default_rng(seed).normal(size=n + 1)))
    return known


def touches(n: int, seed: int = 2) -> Touches:
    """Cases whose chances are right, and spread over all tenths; those of a Brownian path are one half."""
    generator = np.random.default_rng(seed)
    chance = generator.random((n, MULTIPLES.size))
    return Touches(chance, np.full(chance.shape, 0.5), generator.random(chance.shape) < chance)
