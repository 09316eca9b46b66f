"""Where the configurations of a sweep come from: all at once, or one after another from Optuna."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.sweeps.plan import Cell


class Proposals(Protocol):
    """Cells that no table has yet. Belongs to one thread."""

    def next_cells(self) -> Sequence[Cell]:
        """Those of a further configuration; empty if none is left, or none before more is known."""

    @property
    def left(self) -> int:
        """How many further configurations may come at most; 0: none."""

    def on_result(self, configuration: int, score: float | None) -> None:
        """All cells of a configuration have ended. score: the mean skill on the first parts, of close and range in
        equal parts; None if a cell failed, or has none."""


class NoProposals:
    """All cells are in the table from the beginning."""

    left = 0

    def next_cells(self) -> Sequence[Cell]:
        return ()

    def on_result(self, configuration: int, score: float | None) -> None:
        pass
