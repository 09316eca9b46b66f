"""Runs: one model learning one market, from its first candle on. Written by the trainer only."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.domain.candle import Market
from core.domain.dates import utc_text
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.markets import add_market, find_market, market_of

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = (
    "run_id, venue, symbol, interval_ms, fingerprint, created_at_ms, seed, is_seeded, settings_json, device, "
    "parameters, fence, is_simulated"
)
_SELECT = f"SELECT {_COLUMNS} FROM runs JOIN markets ON markets.id = market_id"


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
    parameters: int
    fence: int
    is_simulated: bool


class RunStore:
    """The table of runs. All methods raise StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find(self, market: Market, fingerprint: str) -> Run | None:
        """The newest run that can be continued with these settings."""
        values = (find_market(self._db, market), fingerprint)
        sql = f"{_SELECT} WHERE market_id = ? AND fingerprint = ? ORDER BY sequence DESC LIMIT 1"
        rows = select(self._db, sql, values)
        return _run(rows[0]) if rows else None

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

    def list(self) -> list[Run]:
        """All runs, the newest first."""
        return [_run(row) for row in select(self._db, f"{_SELECT} ORDER BY sequence DESC")]

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
    ) -> Run:
        """Create a run; its id begins with the date, and is the name of its folder. `seed` is below 2**63."""
        run_id = _new_id(created_at_ms)
        with write(self._db):
            self._db.conn.execute(
                "INSERT INTO runs (run_id, market_id, fingerprint, created_at_ms, seed, is_seeded, settings_json, "
                "device, parameters, is_simulated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    run_id,
                    add_market(self._db, market),
                    fingerprint,
                    created_at_ms,
                    seed,
                    is_seeded,
                    settings_json,
                    device,
                    parameters,
                    market.is_simulated,
                ),
            )
        return self.get(run_id)

    def take_fence(self, run_id: str) -> int:
        """Take over the run: trainers with a lower number can no longer write. Returns the new number."""
        with write(self._db):
            rows = select(self._db, "UPDATE runs SET fence = fence + 1 WHERE run_id = ? RETURNING fence", (run_id,))
        if not rows:
            raise _missing(run_id)
        return int(rows[0][0])


def _new_id(created_at_ms: int) -> str:
    return f"{utc_text(created_at_ms, '%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"


def _missing(run_id: str) -> StorageError:
    return StorageError(f"There is no run '{run_id}' in the database.")


def _run(row: tuple[Any, ...]) -> Run:
    run_id, venue, symbol, interval_ms, fingerprint, created_at_ms, seed, is_seeded, *rest = row
    settings_json, device, parameters, fence, is_simulated = rest
    return Run(
        run_id=run_id,
        market=market_of(venue, symbol, interval_ms),
        fingerprint=fingerprint,
        created_at_ms=created_at_ms,
        seed=seed,
        is_seeded=bool(is_seeded),
        settings_json=settings_json,
        device=device,
        parameters=parameters,
        fence=fence,
        is_simulated=bool(is_simulated),
    )
