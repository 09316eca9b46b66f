"""Imports a checkpoint of another data folder: its file, run, settings and row."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING

from core.checkpoints.package import Card, Package
from core.checkpoints.provenance import IMPORTED_RUN, is_imported
from core.domain.candle import Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.files.durable import write_durably
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.markets import add_market
from core.storage.rows import CHECKPOINT_COLUMNS, GAIN_COLUMNS, checkpoint_row, gain_row
from core.storage.setting_sets import ADD_SETTINGS, identified

if TYPE_CHECKING:
    from sqlite_utils import Database


def import_package(db: Database, folder: DataFolder, package: Package, now_ms: int) -> CheckpointInfo:
    """Store a package. Returns the new row. Slow, so not for the GUI thread.

    It gets a separate run, which no trainer continues and no rule cleans up. Raises StorageError, with nothing
    stored, if it is here already or the disk refuses it.
    """
    card = package.card
    run_id = card.run_id if is_imported(card.run_id) else f"{IMPORTED_RUN}{card.run_id}"
    sql = "SELECT step FROM checkpoints WHERE sha256 = ? AND is_deleted = 0 AND run_id IN (?, ?)"
    if select(db, sql, (card.sha256, run_id, card.run_id)):
        raise StorageError(f"The checkpoint of step {card.step:,} of run {card.run_id} already exists here.")
    path = folder.checkpoints(run_id) / f"step-{card.step:08d}-{secrets.token_hex(3)}.safetensors"
    names = (name for name in (*CHECKPOINT_COLUMNS, *GAIN_COLUMNS) if name in Card.model_fields)
    stored = {name: getattr(card, name) for name in names}
    stored |= {"checkpoint_id": f"{run_id}-{card.step:08d}-{secrets.token_hex(3)}", "run_id": run_id}
    stored |= {"file": folder.relative(path)}
    info = CheckpointInfo(**stored, settings_id=None if card.settings is None else identified(card.settings)[0])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, package.weights)
    except OSError as error:
        raise StorageError(f"The checkpoint could not be stored ({error.strerror or error}).") from error
    try:
        with write(db):
            _add(db, info, card, now_ms)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return info


def _add(db: Database, info: CheckpointInfo, card: Card, now_ms: int) -> None:
    market = Market(card.venue, card.symbol, Interval.parse(card.interval))
    if not select(db, "SELECT 1 FROM runs WHERE run_id = ?", (info.run_id,)):
        settings_json = json.dumps(card.settings or {})
        # No settings have this fingerprint, so no trainer continues the run.
        fingerprint = f"imported {hashlib.sha256(info.run_id.encode()).hexdigest()[:16]}"
        db.conn.execute(
            "INSERT INTO runs (run_id, market_id, fingerprint, created_at_ms, seed, is_seeded, settings_json, device, "
            "parameters, is_simulated) VALUES (?, ?, ?, ?, 0, 0, ?, ?, 0, ?)",
            (
                info.run_id,
                add_market(db, market),
                fingerprint,
                now_ms,
                settings_json,
                card.device or "",
                market.is_simulated,
            ),
        )
    if info.settings_id is not None and card.settings is not None:
        db.conn.execute(ADD_SETTINGS, identified(card.settings))
    columns, holes = ", ".join(CHECKPOINT_COLUMNS), ", ".join("?" * len(CHECKPOINT_COLUMNS))
    db.conn.execute(f"INSERT INTO checkpoints ({columns}) VALUES ({holes})", checkpoint_row(info))
    db.conn.execute("INSERT INTO checkpoint_gains VALUES (?, ?, ?, ?)", gain_row(info))
    db.conn.execute(
        "INSERT INTO checkpoint_marks (checkpoint_id, note, name, tags, verified_at_ms) VALUES (?, ?, ?, ?, ?)",
        (info.checkpoint_id, card.note, card.name, ",".join(card.tags), now_ms),
    )
