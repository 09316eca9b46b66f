"""The accuracy of a run in progress, updated from its scores. Used from one thread only.

The figures of all candles one ahead are the run's own (`core.training.online.evidence`). Further ahead, and of a group,
they are computed from the scores, over the same candles and with the same kind of interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.evaluation.assess import assess, skill_at, with_run_figures
from core.evaluation.findings import AFTER_GAP, OVERALL, Request, RunAccuracy
from core.evaluation.judged_scores import JudgedScores, Origins, ScoreColumns, judged
from core.evaluation.stored_evidence import StoredEvidence
from core.evaluation.touches import RunningTouches
from core.forecast.experts import ExpertList
from core.storage.record_reader import RecordReader
from core.storage.rows import REGIME_COLUMNS
from core.storage.runs import RunStore
from core.storage.score_blocks import read_scored
from core.training.online.trainer_spec import own_mode_of

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_SCORES = 20_000
"""Per horizon: the detail of all would not fit in memory."""
_AT_ONCE = 500
_ORIGINS_BEFORE = 256
"""More than a forecast's range: directions need the closes before it."""


class RunningAccuracy:
    """Reads a run's scores piece by piece, and judges those read so far. All methods raise StorageError."""

    def __init__(self, db: Database, run_id: str, horizons: int, most: int = MOST_SCORES) -> None:
        from core.evaluation.insides import RunningInsides  # noqa: PLC0415 - the baselines, after the first paint

        self._run_id = run_id
        self._most = most
        run = RunStore(db).get(run_id)
        self._experts = ExpertList(run.challengers)
        self._reader, self._own_mode = RecordReader(db, run_id), own_mode_of(run.market)
        self.touches = RunningTouches(db, run, self._reader)
        self.insides = RunningInsides(db, run, self._reader)
        self._evidence = StoredEvidence(self._reader, run)
        self._origins = Origins()
        self._has_read: set[int] = set()
        self._columns = {horizon: ScoreColumns(most, self._experts) for horizon in range(1, horizons + 1)}

    @property
    def horizons(self) -> tuple[int, ...]:
        return tuple(self._columns)

    @property
    def has_read_all(self) -> bool:
        """Whether each horizon was read to its end once."""
        return len(self._has_read) == len(self._columns)

    def read_more(self, horizon: int) -> Iterable[None]:
        """Read scores stored since the last call, of this horizon and of those stored with it; one piece per iteration,
        so that a stopped reader can end."""
        together = [each for each in self._columns if (each == 1) == (horizon == 1)]
        columns = [self._columns[each] for each in together]
        if not any(len(column) for column in columns):
            start_ms = self._reader.before_newest(self._most)
            for column in columns:
                column.read_until_ms = max(column.read_until_ms, start_ms)
        yield from self._read_origins()
        while True:
            pieces = read_scored(self._reader.blocks, self._own_mode, together, columns[0].read_until_ms, _AT_ONCE)
            for each, rows in pieces.items():
                self._columns[each].append(rows)
            if pieces[horizon].is_end:
                self._has_read.update(together)
                return
            yield

    def find(self, request: Request) -> RunAccuracy:
        """The statistics of the scores read so far. An unknown horizon or group has no candles."""
        evidence = self._evidence.read()
        chosen = self._columns.get(request.horizon, ScoreColumns(1, self._experts))
        groups = (group for group in (*REGIME_COLUMNS, AFTER_GAP) if len(self._judged(chosen, group)))
        table = [skill_at(self._judged(columns, request.group), horizon) for horizon, columns in self._columns.items()]
        found = RunAccuracy(
            run_id=self._run_id,
            left_out=max(evidence.own.n - len(judged(self._columns[1])), 0) if 1 in self._has_read else 0,
            most=self._most,
            is_whole=self.has_read_all,
            groups=(OVERALL, *groups),
            horizons=tuple(table),
            chosen=assess(self._judged(chosen, request.group), self._origins, request),
            inside=self.insides.find(),
        )
        return with_run_figures(found, evidence) if request.group == OVERALL else found

    def _read_origins(self) -> Iterable[None]:
        """Read the origins of the newest scores, and a few before them."""
        if not self._origins.open_time_ms.size:
            self._origins.read_until_ms = self._reader.before_newest(self._most + _ORIGINS_BEFORE)
        while True:
            opened, closes, _ = self._reader.origins(self._origins.read_until_ms, _AT_ONCE)
            self._origins.append(opened, closes)
            if opened.size < _AT_ONCE:
                return
            yield

    def _judged(self, columns: ScoreColumns, group: str) -> JudgedScores:
        """A horizon's scores that count in this group, among the newest."""
        those = judged(columns, after_gap=group == AFTER_GAP)
        if group in (OVERALL, AFTER_GAP):
            return those
        return those.where(
            those["regime"] == (REGIME_COLUMNS.index(group) if group in REGIME_COLUMNS else len(REGIME_COLUMNS))
        )
