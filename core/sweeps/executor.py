"""What computes cells: processes of this machine, or Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from core.sweeps.cell import CellJob
from core.sweeps.rows import CellResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended. A result; or the sentence of a failed cell; or neither, if the cell is to run again. is_death:
    because its worker died, not because the scheduler did."""

    job: CellJob
    worker: str
    seconds: float
    result: CellResult | None = None
    sentence: str | None = None
    is_death: bool = True


class Executor(Protocol):
    """Belongs to one thread."""

    def free(self) -> int:
        """How many further jobs it accepts now."""

    def submit(self, job: CellJob) -> None: ...

    def wait(self, timeout_s: float) -> list[Outcome]:
        """The jobs that have ended since the last call; waits for one at most so long. Raises SweepError if no worker
        can be reached any more."""

    def close(self) -> None:
        """End within seconds, whatever still runs."""
