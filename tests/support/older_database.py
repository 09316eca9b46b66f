"""Databases of earlier versions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlite_utils import Database

from core.storage.migrations import schema


def open_old_database(path: Path, before: str) -> Database:
    """A new one with the steps of the schema before this one. The caller closes it."""
    db: Database = Database(sqlite3.connect(path, isolation_level=None))
    db.enable_wal()
    schema().apply(db, stop_before=before)
    return db


def add_old_run(db: Database, run_id: str = "old", market_id: int = 1) -> str:
    """A run of a market that is added if it is missing. Returns its id."""
    db.conn.execute("INSERT OR IGNORE INTO markets VALUES (?, 'binance', ?, 60000)", (market_id, f"M{market_id}/USDT"))
    names = "run_id, market_id, fingerprint, created_at_ms, seed, is_seeded, settings_json, device, parameters, "
    values = (run_id, market_id, "first", 1_700_000_000_000, 7, 1, "{}", "CPU", 101_376, 0)
    db.conn.execute(f"INSERT INTO runs ({names} is_simulated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return run_id
