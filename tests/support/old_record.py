"""Databases of versions before the bounded record: a row per horizon, without checksums."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.domain.events import StepDone
from core.storage.migrations import schema
from core.storage.packing import pack_gradients
from core.storage.records import StoredForecast, StoredScore


def open_old_database(path: Path, before: str = "bounded_record") -> Database:
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


def add_old_forecast(db: Database, run_id: str, forecast: StoredForecast) -> None:
    names = [field.name for field in fields(StoredForecast)][:-1]
    values = [getattr(forecast, name) for name in names]
    columns = (*names, "horizon", *_SHAPE, "quantiles", "experts")
    for row in range(forecast.horizons):
        shown, experts = forecast.quantiles.shown[row], forecast.quantiles.experts[:, row]
        arrays = [np.ascontiguousarray(each, "<f8").tobytes() for each in (shown, experts)]
        _insert(db, "forecasts", columns, run_id, *values, row + 1, *experts.shape, *arrays)


def add_old_scores(db: Database, run_id: str, scores: Iterable[StoredScore]) -> None:
    names = [column.name for column in db["scores"].columns][1:]
    for row in scores:
        _insert(db, "scores", names, run_id, *(getattr(row, name) for name in names))


def add_old_steps(db: Database, run_id: str, steps: Iterable[StepDone]) -> None:
    names = [field.name for field in fields(StepDone)][1:-1]
    for row in steps:
        values = [getattr(row, name) for name in names]
        _insert(db, "steps", (*names, "gradients"), run_id, *values, pack_gradients(row.gradients))


_SHAPE = ("expert_count", "quantity_count", "level_count")


def _insert(db: Database, table: str, names: Iterable[str], *values: object) -> None:
    columns = ", ".join(("run_id", *names))
    db.conn.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})", values)
