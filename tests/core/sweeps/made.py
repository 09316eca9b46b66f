"""Sweeps without evaluations: results are made of the job, so that any order of the cells gives the same table."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.domain.events import Estimate
from core.settings.tree import Settings, load
from core.sweeps.cell import CellJob
from core.sweeps.executor import Outcome
from core.sweeps.plan import SweepFile
from core.sweeps.proposals import NoProposals, Proposals
from core.sweeps.rows import CellResult, CellRow, LossSeries, Part, PartSkills
from core.sweeps.runner import SweepProgress, SweepRunner
from core.sweeps.start import Draft, begin, draft_of
from core.sweeps.store import SweepStore
from tests.support.candles import MINUTE, random_walk, write_csv

N = 6


def write_plan(folder: Path, text: str, files: int = 2) -> Path:
    for number in range(files):
        write_csv(folder / f"market-{number}.csv", random_walk(20, seed=number, interval=MINUTE))
    path = folder / "SWEEP.toml"
    path.write_text(text)
    return path


def draft(folder: Path, text: str, files: int = 2) -> Draft:
    return draft_of(write_plan(folder, text, files), Settings())


def draft_in(folder: Path, text: str, data: Path) -> Draft:
    """Of the files that are in the folder, with the settings of a data folder."""
    (folder / "SWEEP.toml").write_text(text)
    return draft_of(folder / "SWEEP.toml", load(data / "settings.json")[0])


def result_of(job: CellJob) -> CellResult:
    """Its skill falls with the distance of the learning rate from 1e-4, and differs by seed and file."""
    rate = float(dict(job.configuration.settings).get("training.learning_rate", 3e-5))
    value = -abs(math.log10(rate) + 4.0) + 0.01 * job.seed
    estimate = Estimate(value, value - 0.1, value + 0.1, N)
    skills = PartSkills(estimate, estimate)
    losses = tuple((part, series(job, file)) for file in job.files for part in Part)
    return CellResult(f"digest of {job.number}", 2 * N, skills, skills, losses)


def series(job: CellJob, file: SweepFile) -> LossSeries:
    numbers = np.arange(N, dtype=np.float32) + job.number
    return LossSeries(job.number, file.name, job.seed, np.arange(N) * 60_000, numbers, numbers, numbers, numbers)


class MadeExecutor:
    """Ends jobs in an order drawn from a seed. how: what becomes of a job; by default its result."""

    def __init__(self, workers: int = 1, seed: int = 0, how: Callable[[CellJob], Outcome] | None = None) -> None:
        self._workers, self._random = workers, random.Random(seed)
        self._how = how or (lambda job: Outcome(job, "worker", 1.0, result_of(job)))
        self.running: list[CellJob] = []
        self.submitted: list[CellJob] = []
        self.most_at_once = 0

    def free(self) -> int:
        return self._workers - len(self.running)

    def submit(self, job: CellJob) -> None:
        self.running.append(job)
        self.submitted.append(job)
        self.most_at_once = max(self.most_at_once, len(self.running))

    def wait(self, timeout_s: float) -> list[Outcome]:
        return [self._how(self.running.pop(self._random.randrange(len(self.running))))] if self.running else []

    def close(self) -> None:
        self.running.clear()


class Reports:
    """What the runner reported; `is_stopped` after so many cells."""

    def __init__(self, until: int | None = None) -> None:
        self.progress: list[SweepProgress] = []
        self.rows: list[CellRow] = []
        self._until = until

    def add(self, progress: SweepProgress, row: CellRow | None) -> None:
        self.progress.append(progress)
        if row is not None:
            self.rows.append(row)

    def is_stopped(self) -> bool:
        return self._until is not None and len(self.rows) >= self._until


def run(
    folder: Path,
    of: Draft,
    executor: MadeExecutor,
    until: int | None = None,
    proposals: Callable[[SweepStore], Proposals] = lambda store: NoProposals(),
) -> Reports:
    """Begin or continue, to the end or until so many cells have ended."""
    folder.mkdir(exist_ok=True)
    reports = Reports(until)
    with SweepStore(folder) as store:
        head = begin(store, of)
        SweepRunner(store, head, of.models, executor, proposals(store), reports.add).run(reports.is_stopped)
    return reports


def digest(folder: Path) -> str:
    with SweepStore(folder, readonly=True) as store:
        return store.digest()


def cells(folder: Path) -> tuple[CellRow, ...]:
    with SweepStore(folder, readonly=True) as store:
        return store.read_cells()
