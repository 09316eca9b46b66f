"""The newest leaderboard of the market on the chart, or of all markets of its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from core.evaluation.leaderboard import Leaderboard, Ranking


@dataclass(frozen=True, slots=True)
class LeaderboardRequest:
    """The ranking that the user looks at."""

    ranking: Ranking = Ranking.BOTH
    of_all_markets: bool = False


@dataclass(frozen=True, slots=True)
class FoundLeaderboard:
    """run_ids: the runs of the board, first the run of the market on the chart."""

    run_ids: tuple[str, ...]
    request: LeaderboardRequest
    board: Leaderboard


class LeaderboardState(QObject):
    """The ranking in Accuracy, Models."""

    changed = Signal()

    def __init__(self, run_id: Callable[[], str | None], run_changed: SignalInstance, parent: QObject) -> None:
        """run_id: the run of the market on the chart. run_changed: emitted when it differs."""
        super().__init__(parent)
        self._run_id = run_id
        run_changed.connect(self.clear)
        self.found: FoundLeaderboard | None = None
        """None while nothing was read."""
        self.trouble: str | None = None
        """Why it cannot be read."""

    @Slot(object)
    def set_found(self, found: FoundLeaderboard) -> None:
        """Results of another market than the one on the chart are dropped."""
        if found.run_ids[0] != self._run_id():
            return
        self.found, self.trouble = found, None
        self.changed.emit()

    @Slot(str)
    def set_trouble(self, sentence: str) -> None:
        self.found, self.trouble = None, sentence
        self.changed.emit()

    @Slot()
    def clear(self) -> None:
        """Another market is on the chart, or none."""
        self.found = self.trouble = None
        self.changed.emit()
