"""The leaderboard of the market on the chart, or of all markets of its model, as it was read last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from core.evaluation.leaderboard import Leaderboard, Ranking


@dataclass(frozen=True, slots=True)
class LeaderboardRequest:
    """What the user looks at."""

    ranking: Ranking = Ranking.BOTH
    of_all_markets: bool = False


@dataclass(frozen=True, slots=True)
class FoundLeaderboard:
    """An answer. run_ids: of the runs that it is of."""

    run_ids: tuple[str, ...]
    request: LeaderboardRequest
    board: Leaderboard


class LeaderboardState(QObject):
    """What the Leaderboard dock shows."""

    changed = Signal()

    def __init__(self, run_id: Callable[[], str | None], run_changed: SignalInstance, parent: QObject) -> None:
        """run_id: of the market on the chart, and run_changed when there is another."""
        super().__init__(parent)
        self._run_id = run_id
        run_changed.connect(self.clear)
        self.found: FoundLeaderboard | None = None
        """None while nothing was read."""
        self.trouble: str | None = None
        """Why it cannot be read."""

    @Slot(object)
    def take(self, found: FoundLeaderboard) -> None:
        """Results of another market than the one on the chart are dropped."""
        if found.run_ids[0] != self._run_id():
            return
        self.found, self.trouble = found, None
        self.changed.emit()

    @Slot(str)
    def fail(self, sentence: str) -> None:
        """It could not be read."""
        self.found, self.trouble = None, sentence
        self.changed.emit()

    @Slot()
    def clear(self) -> None:
        """Another market is on the chart, or none."""
        self.found = self.trouble = None
        self.changed.emit()
