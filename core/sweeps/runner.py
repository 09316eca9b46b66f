"""Runs a sweep: hands out the cells that are not done yet, and writes each as it ends."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from core.sweeps.cell import CellJob
from core.sweeps.executor import Executor, Outcome
from core.sweeps.grid import extent_of
from core.sweeps.plan import Cell, Configuration, SweepFile
from core.sweeps.proposals import Proposals
from core.sweeps.rows import CellRow, CellState
from core.sweeps.start import ModelFiles
from core.sweeps.store import SweepHead, SweepStore

LOOK_EVERY_S = 0.5
SUSPECT_DEATHS, MOST_DEATHS = 2, 4
"""Workers that may die with a cell before it runs alone, and before it counts as failed: perhaps it ends them."""


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """total: the known cells, and those that may be proposed at most. seconds: the mean of the cells done by this
    process; None before the first."""

    done: int
    failed: int
    total: int
    running: int
    seconds: float | None
    slots: int


class SweepRunner:
    """Belongs to the thread that opened the store."""

    def __init__(
        self,
        store: SweepStore,
        head: SweepHead,
        models: ModelFiles,
        executor: Executor,
        proposals: Proposals,
        on_progress: Callable[[SweepProgress, CellRow | None], object],
    ) -> None:
        """on_progress: called with the row of a cell that has just ended, and once before the first."""
        self._store, self._head, self._executor, self._proposals = store, head, executor, proposals
        self._models, self._on_progress = models, on_progress
        self._files = {file.name: file for file in head.files}
        self._cells_each = extent_of(head.plan, 1, head.files).cells
        self._waiting: deque[Cell] = deque()
        self._running: dict[int, Cell] = {}
        self._deaths: Counter[int] = Counter()
        self._states: dict[int, CellState] = {}
        self._of: dict[int, set[int]] = {}
        self._took_s: list[float] = []
        self._slots = 0

    def run(self, is_stopped: Callable[[], bool]) -> None:
        """Until each cell has ended, or `is_stopped`. Raises SweepError if no worker is left."""
        self._read()
        self._report(None)
        while not is_stopped():
            self._hand_out()
            if not self._running and not self._waiting and not self._proposals.left:
                return
            for outcome in self._executor.wait(LOOK_EVERY_S):
                self._end(outcome)

    def _read(self) -> None:
        """Cells that were running when a former process was killed run again."""
        rows = self._store.read_cells()
        left = [row for row in rows if row.state in (CellState.WAITING, CellState.RUNNING)]
        self._store.mark([row.number for row in left], CellState.WAITING)
        for row in rows:
            self._states[row.number] = row.state
            self._of.setdefault(row.configuration.number, set()).add(row.number)
        for row in left:
            self._states[row.number] = CellState.WAITING
            self._waiting.append(Cell(row.number, row.configuration, self._named(row.files), row.seed))

    def _named(self, names: Sequence[str]) -> tuple[SweepFile, ...]:
        return tuple(self._files[name] for name in names)

    def _hand_out(self) -> None:
        free = self._executor.free()
        self._slots = max(self._slots, free + len(self._running))
        begun = self._suspect() if self._is_next_suspect() else self._next(free)
        if begun:
            self._store.mark([cell.number for cell in begun], CellState.RUNNING)
        for cell in begun:
            self._running[cell.number], self._states[cell.number] = cell, CellState.RUNNING
            self._executor.submit(self._job(cell))

    def _next(self, free: int) -> list[Cell]:
        """The next cells, as many as there are workers; none beside a suspect."""
        begun: list[Cell] = []
        if any(self._deaths[number] >= SUSPECT_DEATHS for number in self._running):
            return begun
        while len(begun) < free and not self._is_next_suspect() and (self._waiting or self._propose()):
            begun.append(self._waiting.popleft())
        return begun

    def _is_next_suspect(self) -> bool:
        return bool(self._waiting) and self._deaths[self._waiting[0].number] >= SUSPECT_DEATHS

    def _suspect(self) -> list[Cell]:
        """The next cell, which runs alone: of a pool all processes end with one, and no other cell is to be blamed."""
        return [] if self._running or not self._executor.free() else [self._waiting.popleft()]

    def _propose(self) -> bool:
        """Whether further cells were proposed."""
        cells = self._proposals.next_cells()
        if cells:
            self._store.add(cells)
            self._waiting.extend(cells)
            for cell in cells:
                self._states[cell.number] = CellState.WAITING
                self._of.setdefault(cell.configuration.number, set()).add(cell.number)
        return bool(cells)

    def _job(self, cell: Cell) -> CellJob:
        plan, model = self._head.plan, cell.configuration.model
        return CellJob(
            number=cell.number,
            configuration=cell.configuration,
            base=self._head.base,
            files=cell.files,
            seed=cell.seed,
            candles=plan.candles,
            device=plan.device,
            model_file=self._models.get(model),
        )

    def _end(self, outcome: Outcome) -> None:
        number = outcome.job.number
        cell = self._running.pop(number)
        if outcome.result is None and outcome.sentence is None:
            self._deaths[number] += outcome.is_death
            if self._deaths[number] < MOST_DEATHS:
                self._states[number] = CellState.WAITING
                self._store.mark([number], CellState.WAITING)
                self._give_back(cell)
                return
            outcome = replace(outcome, sentence=f"The process of its worker died {MOST_DEATHS} times.")
        self._write(outcome)
        self._on_configuration(cell.configuration)
        self._report(number)

    def _give_back(self, cell: Cell) -> None:
        """To the front; a suspect to the end."""
        if self._deaths[cell.number] >= SUSPECT_DEATHS:
            self._waiting.append(cell)
        else:
            self._waiting.appendleft(cell)

    def _write(self, outcome: Outcome) -> None:
        number = outcome.job.number
        if outcome.result is not None:
            self._store.finish(number, outcome.result, outcome.worker, outcome.seconds)
            self._states[number] = CellState.DONE
            self._took_s.append(outcome.seconds)
        else:
            self._store.fail(number, outcome.sentence or "", outcome.worker, outcome.seconds)
            self._states[number] = CellState.FAILED

    def _on_configuration(self, configuration: Configuration) -> None:
        numbers = self._of[configuration.number]
        if all(self._states[number] in (CellState.DONE, CellState.FAILED) for number in numbers):
            self._proposals.on_result(configuration.number, score_of(self._store.cells_of(configuration.number)))

    def _report(self, number: int | None) -> None:
        counts = Counter(self._states.values())
        progress = SweepProgress(
            done=counts[CellState.DONE],
            failed=counts[CellState.FAILED],
            total=len(self._states) + self._proposals.left * self._cells_each,
            running=len(self._running),
            seconds=fmean(self._took_s) if self._took_s else None,
            slots=self._slots,
        )
        self._on_progress(progress, None if number is None else self._store.read_cell(number))


def score_of(rows: Sequence[CellRow]) -> float | None:
    """The mean skill of the cells on their first parts, of close and range in equal parts; None if a cell failed, or
    has too few candles for a skill."""
    skills = [skill.value for row in rows if row.first is not None for skill in (row.first.close, row.first.range)]
    values = [value for value in skills if value is not None]
    return fmean(values) if values and len(values) == 2 * len(rows) else None
