"""The SQL of the schema's steps; like these, it is never edited after its release (`core.storage.migrations`)."""

from __future__ import annotations

MARKETS = """
CREATE TABLE markets (
    id INTEGER PRIMARY KEY,
    venue TEXT NOT NULL,
    symbol TEXT NOT NULL,
    interval_ms INTEGER NOT NULL CHECK (interval_ms > 0),
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
"""

RUNS = """
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
    is_simulated INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_market ON runs (market_id, fingerprint);
"""

# The arrays are little-endian float64, in C order: quantiles [quantity, level], experts [expert, quantity, level].
FORECASTS = """
CREATE TABLE forecasts (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    origin_open_time_ms INTEGER NOT NULL,
    horizon INTEGER NOT NULL CHECK (horizon >= 1),
    inputs_until_ms INTEGER NOT NULL,
    made_at_ms INTEGER NOT NULL,
    mode TEXT NOT NULL,
    step INTEGER NOT NULL,
    checkpoint_id TEXT,
    origin_close REAL NOT NULL,
    scale REAL NOT NULL,
    expert_count INTEGER NOT NULL,
    quantity_count INTEGER NOT NULL,
    level_count INTEGER NOT NULL,
    quantiles BLOB NOT NULL,
    experts BLOB NOT NULL,
    UNIQUE (run_id, origin_open_time_ms, horizon)
) STRICT;
CREATE TRIGGER forecasts_stay BEFORE UPDATE ON forecasts
BEGIN
    SELECT RAISE(ABORT, 'a stored forecast is never rewritten');
END;
"""

SCORES = """
CREATE TABLE scores (
    run_id TEXT NOT NULL,
    origin_open_time_ms INTEGER NOT NULL,
    horizon INTEGER NOT NULL,
    target_open_time_ms INTEGER NOT NULL,
    mode TEXT NOT NULL,
    after_gap INTEGER NOT NULL,
    loss REAL NOT NULL,
    model_loss REAL NOT NULL,
    reference_loss REAL NOT NULL,
    range_loss REAL NOT NULL,
    range_model_loss REAL NOT NULL,
    range_reference_loss REAL NOT NULL,
    inside_50 INTEGER NOT NULL,
    inside_90 INTEGER NOT NULL,
    direction_hit INTEGER,
    overlap REAL NOT NULL,
    reference_overlap REAL NOT NULL,
    scored_at_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, horizon, origin_open_time_ms),
    FOREIGN KEY (run_id, origin_open_time_ms, horizon) REFERENCES forecasts (run_id, origin_open_time_ms, horizon)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX scores_by_target ON scores (run_id, horizon, target_open_time_ms);
CREATE TRIGGER scores_stay BEFORE UPDATE ON scores
BEGIN
    SELECT RAISE(ABORT, 'a stored score is never rewritten');
END;
"""

# A restored model counts its steps on from the checkpoint's, on later candles, so the candle is part of the key.
TRAINING_STEPS = """
CREATE TABLE steps (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
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
    PRIMARY KEY (run_id, candle_open_time_ms, step)
) STRICT, WITHOUT ROWID;
"""

CHECKPOINTS = """
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
    is_deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX checkpoints_by_run ON checkpoints (run_id, is_deleted);
CREATE TABLE checkpoint_marks (
    checkpoint_id TEXT PRIMARY KEY REFERENCES checkpoints (checkpoint_id),
    is_pinned INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint_deletions (
    checkpoint_id TEXT PRIMARY KEY REFERENCES checkpoints (checkpoint_id),
    requested_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

INCIDENTS = """
CREATE TABLE incidents (
    id INTEGER PRIMARY KEY,
    run_id TEXT REFERENCES runs (run_id),
    at_ms INTEGER NOT NULL,
    severity TEXT NOT NULL,
    kind TEXT NOT NULL,
    what_happened TEXT NOT NULL,
    what_was_done TEXT NOT NULL,
    what_it_cost TEXT NOT NULL,
    details TEXT NOT NULL
) STRICT;
CREATE INDEX incidents_by_run ON incidents (run_id);
"""

# Numbers are never reused, as a removed line may be restored under its own.
CHART_LINES = """
CREATE TABLE chart_lines (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    venue TEXT NOT NULL,
    symbol TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('alert', 'note')),
    price REAL NOT NULL,
    text TEXT NOT NULL DEFAULT '',
    direction TEXT NOT NULL CHECK (direction IN ('up', 'down', 'either')),
    created_at_ms INTEGER NOT NULL,
    watched_from_ms INTEGER NOT NULL,
    crossed_at_ms INTEGER,
    is_armed INTEGER NOT NULL
) STRICT;
CREATE INDEX chart_lines_by_market ON chart_lines (venue, symbol);
"""

EXCHANGE_HOLES = """
CREATE TABLE exchange_holes (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    first_ms INTEGER NOT NULL,
    stop_ms INTEGER NOT NULL CHECK (stop_ms > first_ms),
    asked_at_ms INTEGER NOT NULL,
    PRIMARY KEY (market_id, first_ms)
) STRICT, WITHOUT ROWID;
"""

# The key of a table WITHOUT ROWID cannot be changed, so the table is created again. The key columns come first:
# otherwise SQLite 3.40 reports damage that does not exist.
SCORE_VERSIONS = """
CREATE TABLE scores_with_versions (
    run_id TEXT NOT NULL,
    origin_open_time_ms INTEGER NOT NULL,
    horizon INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    target_open_time_ms INTEGER NOT NULL,
    mode TEXT NOT NULL,
    after_gap INTEGER NOT NULL,
    loss REAL NOT NULL,
    model_loss REAL NOT NULL,
    reference_loss REAL NOT NULL,
    range_loss REAL NOT NULL,
    range_model_loss REAL NOT NULL,
    range_reference_loss REAL NOT NULL,
    inside_50 INTEGER NOT NULL,
    inside_90 INTEGER NOT NULL,
    direction_hit INTEGER,
    overlap REAL NOT NULL,
    reference_overlap REAL NOT NULL,
    scored_at_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, horizon, origin_open_time_ms, version),
    FOREIGN KEY (run_id, origin_open_time_ms, horizon) REFERENCES forecasts (run_id, origin_open_time_ms, horizon)
) STRICT, WITHOUT ROWID;
"""
TAKE_SCORES_PLACE = """
DROP TABLE scores;
ALTER TABLE scores_with_versions RENAME TO scores;
CREATE UNIQUE INDEX scores_by_target ON scores (run_id, horizon, target_open_time_ms, version);
CREATE TRIGGER scores_stay BEFORE UPDATE ON scores
BEGIN
    SELECT RAISE(ABORT, 'a stored score is never rewritten');
END;
"""

# Written in the transaction that replaces the candle: a correction of the feed, an import, or a back-fill.
CANDLE_CORRECTIONS = """
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
ALTER TABLE runs ADD COLUMN corrections_taken INTEGER NOT NULL DEFAULT 0;
"""

# One row for all horizons of a forecast, separate from its arrays, as the chart reads thousands of them at once.
CONDITIONS = """
CREATE TABLE conditions (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    origin_open_time_ms INTEGER NOT NULL,
    calm REAL NOT NULL,
    trending REAL NOT NULL,
    volatile REAL NOT NULL,
    novelty REAL,
    oddity TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, origin_open_time_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER conditions_stay BEFORE UPDATE ON conditions
BEGIN
    SELECT RAISE(ABORT, 'what a forecast was made in is never rewritten');
END;
"""

# The same drift is found again if a candle is processed again after a crash, so the candle is the key.
DRIFTS = """
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

# These columns stay empty in old rows. A set of settings is stored once for all checkpoints that use it.
CHECKPOINT_BROWSER = """
ALTER TABLE checkpoints ADD COLUMN coverage REAL;
ALTER TABLE checkpoints ADD COLUMN direction REAL;
ALTER TABLE checkpoints ADD COLUMN health TEXT;
ALTER TABLE checkpoints ADD COLUMN device TEXT;
ALTER TABLE checkpoints ADD COLUMN settings_id TEXT;
CREATE TABLE setting_sets (
    settings_id TEXT PRIMARY KEY,
    settings_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE checkpoint_marks ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE checkpoint_marks ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE checkpoint_marks ADD COLUMN verified_at_ms INTEGER;
ALTER TABLE checkpoint_marks ADD COLUMN fault TEXT NOT NULL DEFAULT '';
CREATE TABLE run_marks (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id),
    is_archived INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
"""

# A deleted checkpoint keeps its row, and so its evaluations.
EVALUATIONS = """
CREATE TABLE evaluations (
    id INTEGER PRIMARY KEY,
    checkpoint_id TEXT NOT NULL REFERENCES checkpoints (checkpoint_id),
    at_ms INTEGER NOT NULL,
    file TEXT NOT NULL,
    interval TEXT NOT NULL,
    candles INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    learns INTEGER NOT NULL,
    close_skill REAL,
    close_low REAL,
    close_high REAL,
    range_skill REAL,
    range_low REAL,
    range_high REAL,
    coverage REAL,
    direction REAL,
    page TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX evaluations_by_checkpoint ON evaluations (checkpoint_id);
"""

# The trigger: the same numbers are never stored again, from any source; a corrected candle is. The bounds are those of
# `core.domain.validation` when this step was written.
SET_ASIDE_CANDLES = """
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
INSERT INTO set_aside_candles (market_id, open_time_ms, open, high, low, close, volume, reason)
SELECT market_id, open_time_ms, open, high, low, close, volume, 'numbers that no market has' FROM candles
WHERE low < 1e-18 OR high > 1e18 OR low < high / 1e9 OR volume < 0 OR volume > 1e24
OR high < MAX(open, low, close) OR low > MIN(open, high, close);
DELETE FROM candles WHERE EXISTS (
    SELECT 1 FROM set_aside_candles AS aside
    WHERE aside.market_id = candles.market_id AND aside.open_time_ms = candles.open_time_ms
);
"""

# Further models beside that of a run; of several markets, of the head.
CHALLENGERS = """
CREATE TABLE challengers (
    run INTEGER NOT NULL REFERENCES runs (sequence),
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    candles INTEGER NOT NULL DEFAULT 0,
    cost_ms REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
"""

EVIDENCE = """
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

GHOST_ALERTS = """
CREATE TABLE ghost_alerts (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('armed', 'fired')),
    changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

# Numbers are never reused, as a removed drawing may be restored under its own. The end is empty for drawings with one
# anchor.
DRAWINGS = """
CREATE TABLE drawings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    venue TEXT NOT NULL,
    symbol TEXT NOT NULL,
    kind TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    start_price REAL NOT NULL,
    end_ms INTEGER,
    end_price REAL,
    text TEXT NOT NULL DEFAULT '',
    colour TEXT NOT NULL DEFAULT '',
    width_px INTEGER NOT NULL DEFAULT 1,
    created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX drawings_by_market ON drawings (venue, symbol);
"""
