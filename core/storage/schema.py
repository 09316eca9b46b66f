"""The schema: one script, and a version in the file's header. A change of a table is a new `VERSION`.

Who writes: the window writes candles (and with them insides and candle_corrections), set_aside_candles, exchange_holes,
checkpoint_marks, checkpoint_deletions, run_marks, evaluations, chart_lines, drawings and ghost_alerts (without one,
so do the commands that own the data folder; beside one, history commands write candles and exchange_holes in short
transactions); the trainer writes runs, challengers, steps, forecasts, conditions,
scores (each with its details), drifts, evidence, checkpoints (with checkpoint_gains), setting_sets and incidents;
either may be the first to name a market.
What is imported is new to this folder: the window adds its run, its settings and its checkpoint, and no trainer
continues such a run.
"""

from __future__ import annotations

import sqlite3
from enum import Enum

from core.storage.window_tables import WINDOW_TABLES

VERSION = 3
"""The schema's version, in the header as `user_version`. Databases from before 1.0.0 have 0, and a list of their
changes instead."""
_APPLICATION_ID = 0x47_43_44_4C
"""Marks a database of Ghostcandle, also in the header."""
_LIST_OF_OLDER = "_sqlite_migrations"


class Origin(Enum):
    """Which version of the program wrote a database."""

    NOBODY = "it is empty"
    THIS_SCHEMA = "this one, or one with the same schema"
    UPGRADABLE = "an earlier one, which lacks only tables"
    OLDER = "an older one"
    NEWER = "a newer one"
    FOREIGN = "another program, or the file is damaged"


# history_version: raised by each transaction that stores history (imported or fetched), so that a window beside it
# knows of which market to read the candles again.
_CANDLES = """
CREATE TABLE markets (
    id INTEGER PRIMARY KEY,
    venue TEXT NOT NULL,
    symbol TEXT NOT NULL,
    interval_ms INTEGER NOT NULL CHECK (interval_ms > 0),
    history_version INTEGER NOT NULL DEFAULT 0,
    UNIQUE (venue, symbol, interval_ms)
) STRICT;
CREATE TABLE candles (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    open_time_ms INTEGER NOT NULL,
    open REAL NOT NULL,
    high REAL NOT NULL,
    low REAL NOT NULL,
    close REAL NOT NULL,
    volume REAL NOT NULL,
    PRIMARY KEY (market_id, open_time_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE exchange_holes (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    first_ms INTEGER NOT NULL,
    stop_ms INTEGER NOT NULL CHECK (stop_ms > first_ms),
    asked_at_ms INTEGER NOT NULL,
    PRIMARY KEY (market_id, first_ms)
) STRICT, WITHOUT ROWID;
"""

# The inside of a candle (`candles.packed_inside`). Forecasts depend on it, so it never changes, and is written with the
# candle, or before a run that reads insides comes to it (`core.training.hosting.stored_insides`).
_INSIDES = """
CREATE TABLE insides (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    open_time_ms INTEGER NOT NULL,
    numbers BLOB NOT NULL,
    PRIMARY KEY (market_id, open_time_ms)
) STRICT, WITHOUT ROWID;
"""

# Written in the transaction that replaces the candle: a correction of the feed, an import, or a back-fill.
_CANDLE_CORRECTIONS = """
CREATE TABLE candle_corrections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    market_id INTEGER NOT NULL REFERENCES markets (id),
    open_time_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX candle_corrections_by_market ON candle_corrections (market_id, id);
CREATE TRIGGER candles_corrected AFTER UPDATE ON candles
BEGIN
    INSERT INTO candle_corrections (market_id, open_time_ms) VALUES (NEW.market_id, NEW.open_time_ms);
END;
"""

# Candles that the trainer cannot process (`CandleStore.set_aside`). The trigger: the same numbers are never stored
# again, from any source; a corrected candle is.
_SET_ASIDE_CANDLES = """
CREATE TABLE set_aside_candles (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    open_time_ms INTEGER NOT NULL,
    open REAL NOT NULL,
    high REAL NOT NULL,
    low REAL NOT NULL,
    close REAL NOT NULL,
    volume REAL NOT NULL,
    reason TEXT NOT NULL,
    is_announced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (market_id, open_time_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER set_aside_candles_stay BEFORE INSERT ON candles
WHEN EXISTS (
    SELECT 1 FROM set_aside_candles AS aside
    WHERE aside.market_id = NEW.market_id AND aside.open_time_ms = NEW.open_time_ms
    AND (aside.open, aside.high, aside.low, aside.close, aside.volume)
        IS (NEW.open, NEW.high, NEW.low, NEW.close, NEW.volume)
)
BEGIN
    SELECT RAISE(IGNORE);
END;
"""

# Which runs are archived is written by the window, so it has a separate table.
_RUNS = """
CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    market_id INTEGER NOT NULL REFERENCES markets (id),
    fingerprint TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    is_seeded INTEGER NOT NULL,
    settings_json TEXT NOT NULL,
    device TEXT NOT NULL,
    parameters INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    is_simulated INTEGER NOT NULL,
    corrections_taken INTEGER NOT NULL DEFAULT 0,
    head INTEGER REFERENCES runs (sequence),
    is_learned INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX runs_by_market ON runs (market_id, fingerprint);
CREATE INDEX runs_by_head ON runs (head) WHERE head IS NOT NULL;
CREATE TABLE run_marks (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id),
    is_archived INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
"""

# Forecasts, scores and steps: one row per candle. `checksum`: see `core.storage.checksums`. run: the run's sequence.
# drawn, records, arrays: `packing`. A detail has the id of its row, and is deleted with age (`record_thinning`). The
# rest is final.
_SCORE_TABLE = """
CREATE TABLE {name} (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    target_open_time_ms INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    mode INTEGER NOT NULL,
    after_gap INTEGER NOT NULL,
    scored_at_ms INTEGER NOT NULL,
    records BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run, target_open_time_ms, version)
) STRICT;
CREATE TABLE {detail} (id INTEGER PRIMARY KEY, losses BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TRIGGER {name}_stay BEFORE UPDATE ON {name}
BEGIN
    SELECT RAISE(ABORT, 'a stored score is never rewritten');
END;
"""
_RECORD = f"""
CREATE TABLE forecasts (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    origin_open_time_ms INTEGER NOT NULL,
    inputs_until_ms INTEGER NOT NULL,
    made_at_ms INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    checkpoint_id TEXT,
    origin_close REAL NOT NULL,
    scale REAL NOT NULL,
    horizons INTEGER NOT NULL CHECK (horizons >= 1),
    quantities INTEGER NOT NULL,
    levels INTEGER NOT NULL,
    drawn BLOB NOT NULL,
    digest BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run, origin_open_time_ms)
) STRICT;
CREATE TABLE forecast_details (id INTEGER PRIMARY KEY, arrays BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TRIGGER forecasts_stay BEFORE UPDATE ON forecasts
BEGIN
    SELECT RAISE(ABORT, 'a stored forecast is never rewritten');
END;
{_SCORE_TABLE.format(name="scores", detail="score_details")}
{_SCORE_TABLE.format(name="further_scores", detail="further_score_details")}
CREATE INDEX scores_by_mode ON scores (run, version, mode, after_gap, target_open_time_ms);
CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    candle_open_time_ms INTEGER NOT NULL,
    step INTEGER NOT NULL,
    loss REAL,
    prequential_loss REAL,
    gradient_norm REAL,
    clipped INTEGER NOT NULL,
    learning_rate REAL NOT NULL,
    clip_norm REAL NOT NULL,
    samples INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    at_ms INTEGER NOT NULL,
    skipped_because TEXT,
    checksum INTEGER NOT NULL,
    UNIQUE (run, candle_open_time_ms, step)
) STRICT;
CREATE TABLE step_details (id INTEGER PRIMARY KEY, gradients BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
"""

# One row for all horizons of a forecast, separate from its arrays, as the chart reads thousands of them at once. next_:
# what the model forecast for the next candle.
_CONDITIONS = """
CREATE TABLE conditions (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    origin_open_time_ms INTEGER NOT NULL,
    calm REAL NOT NULL,
    trending REAL NOT NULL,
    volatile REAL NOT NULL,
    next_calm REAL, next_trending REAL, next_volatile REAL,
    PRIMARY KEY (run_id, origin_open_time_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER conditions_stay BEFORE UPDATE ON conditions
BEGIN
    SELECT RAISE(ABORT, 'what a forecast was made in is never rewritten');
END;
"""

# The same drift is found again if a candle is processed again after a crash, so the candle is the key.
_DRIFTS = """
CREATE TABLE drifts (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    candle_open_time_ms INTEGER NOT NULL,
    step INTEGER NOT NULL,
    candles INTEGER NOT NULL,
    loss_before REAL NOT NULL,
    loss_after REAL NOT NULL,
    what_was_done TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, candle_open_time_ms)
) STRICT, WITHOUT ROWID;
"""

# The blocks of losses behind proven results (`core.storage.evidence_blocks`).
_EVIDENCE = """
CREATE TABLE evidence (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    kind TEXT NOT NULL,
    block INTEGER NOT NULL,
    last_target_ms INTEGER NOT NULL,
    sums BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (run_id, kind, block)
) STRICT, WITHOUT ROWID;
"""

# A set of settings is stored once for all checkpoints that use it.
_CHECKPOINTS = """
CREATE TABLE checkpoints (
    sequence INTEGER PRIMARY KEY,
    checkpoint_id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    step INTEGER NOT NULL,
    candle_open_time_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    skill REAL,
    skill_low REAL,
    skill_high REAL,
    scored INTEGER NOT NULL,
    loss REAL,
    file TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    parent_id TEXT,
    is_deleted INTEGER NOT NULL DEFAULT 0,
    is_known_good INTEGER NOT NULL DEFAULT 1,
    coverage REAL,
    direction REAL,
    health TEXT,
    device TEXT,
    settings_id TEXT,
    shown_skill REAL,
    model_gain REAL
) STRICT;
CREATE INDEX checkpoints_by_run ON checkpoints (run_id, is_deleted);
CREATE TABLE checkpoint_marks (
    checkpoint_id TEXT PRIMARY KEY REFERENCES checkpoints (checkpoint_id),
    is_pinned INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '',
    verified_at_ms INTEGER,
    fault TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint_deletions (
    checkpoint_id TEXT PRIMARY KEY REFERENCES checkpoints (checkpoint_id),
    requested_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE setting_sets (
    settings_id TEXT PRIMARY KEY,
    settings_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

# The interval of `checkpoints.model_gain`.
_CHECKPOINT_GAINS = """
CREATE TABLE checkpoint_gains (
    checkpoint_id TEXT PRIMARY KEY REFERENCES checkpoints (checkpoint_id),
    gain_low REAL,
    gain_high REAL,
    gain_candles INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

# Incidents that repeat at each step share one row per episode.
_INCIDENTS = """
CREATE TABLE incidents (
    id INTEGER PRIMARY KEY,
    run_id TEXT REFERENCES runs (run_id),
    at_ms INTEGER NOT NULL,
    severity TEXT NOT NULL,
    kind TEXT NOT NULL,
    what_happened TEXT NOT NULL,
    what_was_done TEXT NOT NULL,
    what_it_cost TEXT NOT NULL,
    details TEXT NOT NULL,
    last_at_ms INTEGER,
    count INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX incidents_by_run ON incidents (run_id);
"""

# Further models besides a run's own; with several markets, besides the head's.
_CHALLENGERS = """
CREATE TABLE challengers (
    run INTEGER NOT NULL REFERENCES runs (sequence),
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    candles INTEGER NOT NULL DEFAULT 0,
    cost_ms REAL NOT NULL DEFAULT 0,
    asked INTEGER NOT NULL DEFAULT 0,
    answered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
"""

_TABLES = (
    _CANDLES
    + _INSIDES
    + _CANDLE_CORRECTIONS
    + _SET_ASIDE_CANDLES
    + _RUNS
    + _RECORD
    + _CONDITIONS
    + _DRIFTS
    + _EVIDENCE
    + _CHECKPOINTS
    + _CHECKPOINT_GAINS
    + _INCIDENTS
    + _CHALLENGERS
    + WINDOW_TABLES
)

UPGRADES = {2: _CHECKPOINT_GAINS + _INSIDES}
"""The tables that a database of an earlier version lacks; all else in it is as it is now."""


def origin_of(connection: sqlite3.Connection) -> Origin:
    """Raises one of `soundness.UNREADABLE`."""
    # The tables first: another process may create them meanwhile, and then the version says so.
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    if application == _APPLICATION_ID and version:
        if version == VERSION:
            return Origin.THIS_SCHEMA
        return Origin.NEWER if version > VERSION else Origin.UPGRADABLE if version in UPGRADES else Origin.OLDER
    if not tables:
        return Origin.NOBODY
    return Origin.OLDER if _LIST_OF_OLDER in tables else Origin.FOREIGN


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables in the caller's transaction. `Connection.executescript` would commit first; `sqlite_utils`
    tests after each character whether a statement is complete, half the time of creating a database."""
    _execute(connection, _TABLES)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the tables that an upgradable database lacks, in the caller's transaction."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    _execute(connection, UPGRADES[version])
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _execute(connection: sqlite3.Connection, script: str) -> None:
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
