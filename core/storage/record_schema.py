"""The SQL of the step `bounded_record` of `migrations`; never edited; later steps add to it."""

from __future__ import annotations

RENAME_FORMER = """
DROP TRIGGER forecasts_stay;
DROP TRIGGER scores_stay;
DROP INDEX scores_by_target;
ALTER TABLE scores RENAME TO scores_before;
ALTER TABLE forecasts RENAME TO forecasts_before;
ALTER TABLE steps RENAME TO steps_before;
"""

# `checksum`: see `core.storage.checksums`. run: the run's sequence. drawn, records, arrays: `packing`. A detail
# has the id of its row, and is deleted with age (`record_thinning`). The rest is final.
_SCORE_TABLE = """
CREATE TABLE {name} (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (sequence),
    target_open_time_ms INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    mode INTEGER NOT NULL,
    after_gap INTEGER NOT NULL,
    scored_at_ms INTEGER NOT NULL,
    form INTEGER NOT NULL,
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
BOUNDED_RECORD = f"""
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
