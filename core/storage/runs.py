"""Runs: one model learning one market, from its first candle on. Written by the trainer only.

A model of several markets has a run for each of them, with that market's forecasts and scores. The first is the head:
it has the model's steps and checkpoints, its settings, and incidents that are not of one market.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from core.domain.candle import Market
from core.domain.dates import utc_text
from core.storage.database import differs_by_a_letter, select, write
from core.storage.errors import StorageError
from core.storage.markets import add_market, find_market, market_of
from core.storage.records import ChallengerFigures

if TYPE_CHECKING:
    from sqlite_utils import Database


_COLUMNS = (
    "run_id, venue, symbol, interval_ms, fingerprint, created_at_ms, seed, is_seeded, settings_json, device, "
    "parameters, fence, is_simulated, is_learned, "
    "COALESCE((SELECT first.run_id FROM runs AS first WHERE first.sequence = runs.head), run_id), "
    "(SELECT json_group_array(name) FROM (SELECT name FROM challengers "
    "WHERE run = COALESCE(runs.head, runs.sequence) ORDER BY place))"
)
"""The fields of `Run`, in their order; its market is three of them."""
_SELECT = f"SELECT {_COLUMNS} FROM runs JOIN markets ON markets.id = market_id"
_OF_HEAD = "(SELECT first.sequence FROM runs AS first WHERE first.run_id = ?) IN (sequence, head)"
_NO_RUN = "There is no run in this data folder yet. Start one with: ghostcandle headless --feed simulate"
_INSERT = (
    "INSERT INTO runs (run_id, market_id, fingerprint, created_at_ms, seed, is_seeded, settings_json, device, "
    "parameters, is_simulated, head, fence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING sequence"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `fingerprint`: of the settings it can be continued with; `fence`: the number of trainers it has had."""

    run_id: str
    market: Market
    fingerprint: str
    created_at_ms: int
    seed: int
    is_seeded: bool
    settings_json: str
    device: str
    """The device of its newest trainer, for display."""
    parameters: int
    fence: int
    is_simulated: bool
    is_learned: bool
    """False: the market is forecast and scored, but its model learns from its other markets only."""
    head_id: str
    """The run with the model's steps and checkpoints; this run itself if its model has one market."""
    challengers: tuple[str, ...]
    """The names of further models besides the run's own, in the order of their losses."""


_STORED = tuple(field.name for field in fields(Run)[2:-1])
"""Columns between the market and the challengers, stored unchanged."""


class RunStore:
    """The table of runs. All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find(self, market: Market, fingerprint: str, others: Sequence[Market] = ()) -> Run | None:
        """The newest run that these settings can continue: the head of a model with any of these markets. One letter of
        a stored fingerprint may be damaged: it is a digest, so no other settings have it."""
        ids = [find_market(self._db, each) for each in (market, *others)]
        heads = f"SELECT COALESCE(head, sequence) FROM runs WHERE market_id IN ({', '.join('?' * len(ids))})"
        rows = select(self._db, f"{_SELECT} WHERE sequence IN ({heads}) ORDER BY sequence DESC", ids)
        runs = [_run(row) for row in rows]
        exact = [run for run in runs if run.fingerprint == fingerprint]
        return next(iter(exact or [run for run in runs if differs_by_a_letter(run.fingerprint, fingerprint)]), None)

    def last_trained(self, market: Market | None = None) -> Run | None:
        """The newest run with a trainer, of a market or of all; imported runs have none."""
        sql = f"{_SELECT} WHERE fence > 0 AND (? OR market_id = ?) ORDER BY sequence DESC LIMIT 1"
        of_market = None if market is None else find_market(self._db, market)
        rows = select(self._db, sql, (market is None, of_market))
        return _run(rows[0]) if rows else None

    def get(self, run_id: str) -> Run:
        """The run with this id. Raises StorageError if there is none."""
        rows = select(self._db, f"{_SELECT} WHERE run_id = ?", (run_id,))
        if not rows:
            raise _missing(run_id)
        return _run(rows[0])

    def chosen(self, run_id: str | None) -> Run:
        """The run with this id; the newest without one. Raises StorageError if there is none."""
        if run_id is not None:
            return self.get(run_id)
        known = self.list()
        if not known:
            raise StorageError(_NO_RUN)
        return known[0]

    def list(self) -> list[Run]:
        """All runs, the newest first; a model's runs in order, its head first."""
        return [_run(row) for row in select(self._db, f"{_SELECT} ORDER BY COALESCE(head, sequence) DESC, sequence")]

    def members(self, head_id: str) -> Sequence[Run]:
        """The runs of one model, one for each market, in order of creation: its head first."""
        return [_run(row) for row in select(self._db, f"{_SELECT} WHERE {_OF_HEAD} ORDER BY sequence", (head_id,))]

    def create(
        self,
        market: Market,
        fingerprint: str,
        *,
        created_at_ms: int,
        seed: int,
        is_seeded: bool,
        settings_json: str,
        device: str,
        parameters: int,
        others: Sequence[Market] = (),
        challengers: Sequence[str] = (),
    ) -> Run:
        """Create a run; its id begins with the date, and is the name of its folder. `seed` is below 2**63.

        others: further markets that its model learns; each gets a run, and this one is their head. challengers: names
        of further models besides its own.
        """
        run_id, head = _new_id(created_at_ms), None
        stored = (fingerprint, created_at_ms, seed, is_seeded, settings_json, device, parameters)
        with write(self._db):
            for each in (market, *others):
                id_ = run_id if head is None else _new_id(created_at_ms)
                values = (id_, add_market(self._db, each), *stored, each.is_simulated, head, 0)
                (sequence,) = self._db.conn.execute(_INSERT, values).fetchone()
                head = sequence if head is None else head
            rows = [(head, place, name) for place, name in enumerate(challengers)]
            self._db.conn.executemany("INSERT INTO challengers (run, place, name) VALUES (?, ?, ?)", rows)
        return self.get(run_id)

    def join(self, head: Run, markets: Sequence[Market], created_at_ms: int) -> None:
        """Give each of these markets that the model does not have yet a run with it."""
        known = {run.market for run in self.members(head.run_id)}
        settings = (head.seed, head.is_seeded, head.settings_json, head.device, head.parameters)
        with write(self._db):
            (number,) = self._db.conn.execute("SELECT sequence FROM runs WHERE run_id = ?", (head.run_id,)).fetchone()
            for each in (market for market in markets if market not in known):
                identity = (_new_id(created_at_ms), add_market(self._db, each), head.fingerprint, created_at_ms)
                self._db.conn.execute(_INSERT, (*identity, *settings, each.is_simulated, number, head.fence)).fetchall()

    def acquire_fence(self, head_id: str, device: str | None = None) -> int:
        """Take over the runs of a model: trainers with a lower number can no longer write. Returns the new number.

        device: the new trainer's; None: unchanged.
        """
        with write(self._db):
            sql = f"UPDATE runs SET fence = fence + 1, device = COALESCE(?, device) WHERE {_OF_HEAD} RETURNING fence"
            rows = select(self._db, sql, (device, head_id))
        if not rows:
            raise _missing(head_id)
        return int(rows[0][0])


def _new_id(created_at_ms: int) -> str:
    return f"{utc_text(created_at_ms, '%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"


def _missing(run_id: str) -> StorageError:
    return StorageError(f"There is no run '{run_id}' in the database.")


def _run(row: tuple[Any, ...]) -> Run:
    run_id, venue, symbol, interval_ms, *stored, challengers = row
    values: dict[str, Any] = dict(zip(_STORED, stored, strict=True))
    values |= {name: bool(values[name]) for name in ("is_seeded", "is_simulated", "is_learned")}
    market = market_of(venue, symbol, interval_ms)
    return Run(run_id=run_id, market=market, **values, challengers=tuple(json.loads(challengers)))


_SET = """
INSERT INTO run_marks (run_id, is_archived) VALUES (?, ?)
ON CONFLICT (run_id) DO UPDATE SET is_archived = excluded.is_archived
"""


def set_archived(db: Database, run_id: str, is_archived: bool) -> None:
    """Archive or unarchive a run; nothing is deleted. Raises StorageError for an unknown run."""
    with write(db):
        if not select(db, "SELECT 1 FROM runs WHERE run_id = ?", (run_id,)):
            raise StorageError(f"There is no run '{run_id}' in the database; nothing was changed.")
        db.conn.execute(_SET, (run_id, is_archived))


def challenger_figures(db: Database, head_id: str) -> dict[str, ChallengerFigures]:
    """Figures of each challenger by name, in their order. Raises StorageError."""
    markets = len(RunStore(db).members(head_id))
    sql = (
        "SELECT name, cost_ms / NULLIF(candles * ?, 0), answered * 1.0 / NULLIF(asked, 0) FROM challengers "
        "WHERE run = (SELECT sequence FROM runs WHERE run_id = ?) ORDER BY place"
    )
    return {str(name): ChallengerFigures(*figures) for name, *figures in select(db, sql, (markets, head_id))}
