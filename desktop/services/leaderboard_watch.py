"""Reads the leaderboard while its dock shows it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from core.evaluation.expert_table import ExpertRecord
from core.evaluation.leaderboard import leaderboard
from core.storage.runs import RunStore
from desktop.services.record_watch import RecordThread, RecordWatch
from desktop.state.leaderboard import FoundLeaderboard, LeaderboardRequest
from desktop.state.run_state import RunState

if TYPE_CHECKING:
    from sqlite_utils import Database


class _Blocks:
    """Of the market on the chart, the first of the subject, and of all markets of its model."""

    def __init__(self, db: Database, subject: tuple[str, ...]) -> None:
        """subject: ids of runs."""
        self._db, self._ids = db, subject
        self._records: dict[tuple[str, ...], ExpertRecord] = {}

    def answer(self, request: LeaderboardRequest) -> Iterator[FoundLeaderboard | None]:
        ids = self._ids if request.of_all_markets else self._ids[:1]
        if ids not in self._records:
            runs = RunStore(self._db)
            self._records[ids] = ExpertRecord(self._db, [runs.get(each) for each in ids])
        record = self._records[ids]
        for _ in record.read_more():
            yield None
        yield FoundLeaderboard(ids, request, leaderboard(record, request.ranking))


class LeaderboardWatch(RecordWatch):
    """What is wanted is a `LeaderboardRequest`."""

    def __init__(self, state: RunState, database: Path, parent: QObject | None = None) -> None:
        super().__init__(state, RecordThread("LeaderboardReader", database, _Blocks), parent)
        self._reader.found.connect(state.leaderboard.take)
        self._reader.failed.connect(state.leaderboard.fail)

    def subject(self) -> Hashable | None:
        run_id = self._state.run_id
        return None if run_id is None else (run_id, *(each for each in self._state.members if each != run_id))
