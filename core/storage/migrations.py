"""The schema, as a list of steps that only ever grows: a released step is never edited.

Who writes: the window writes candles (and with them candle_corrections), set_aside_candles, exchange_holes,
checkpoint_marks, checkpoint_deletions, run_marks, evaluations and chart_lines (without one, so do the commands that own
the data folder); the trainer writes runs, steps, forecasts, conditions, scores (each with its details), drifts,
evidence, checkpoints, setting_sets and incidents; either may be the first to name a market. What is imported is new to
this folder: the window adds its run, its settings and its checkpoint, and no trainer goes on with such a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.storage.record_schema import BOUNDED_RECORD, RENAME_FORMER
from core.storage.scripts import run_script

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


def schema() -> Migrations:
    """All steps, in order."""
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - see database._prepare

    steps = Migrations("ghostcandle")
    for step in STEPS:
        steps()(step)
    return steps


def first_tables(db: Database) -> None:
    """Markets and candles; runs with what they forecast, scored, learned and saved."""
    for script in (_MARKETS, _RUNS, _FORECASTS, _SCORES, _STEPS, _CHECKPOINTS, _INCIDENTS):
        run_script(db, script)


def gradients_and_known_good(db: Database) -> None:
    """What each step measured of its gradients (`core.storage.gradients`), and which checkpoints are known good."""
    run_script(
        db,
        "ALTER TABLE steps ADD COLUMN gradients BLOB;"
        "ALTER TABLE checkpoints ADD COLUMN is_known_good INTEGER NOT NULL DEFAULT 1;",
    )


def chart_lines(db: Database) -> None:
    """Alerts and notes at prices; they belong to a symbol, whatever the interval."""
    run_script(db, _CHART_LINES)


def alerts_known_candles(db: Database) -> None:
    """What the newest candle had done when an alert was armed, so that a restart does not forget it."""
    run_script(
        db,
        "ALTER TABLE chart_lines ADD COLUMN known_open_time_ms INTEGER;"
        "ALTER TABLE chart_lines ADD COLUMN known_low REAL;"
        "ALTER TABLE chart_lines ADD COLUMN known_high REAL;",
    )


def exchange_holes(db: Database) -> None:
    """What an exchange was asked for and does not have, so that it is not asked again."""
    run_script(db, _EXCHANGE_HOLES)


def score_versions(db: Database) -> None:
    """A score may be followed by another version of itself, because its target was corrected; and the record of those
    corrections, so that none is missed by a trainer that did not run."""
    run_script(db, _SCORE_VERSIONS)
    _copy_scores(db)
    run_script(db, _TAKE_SCORES_PLACE)
    run_script(db, _CANDLE_CORRECTIONS)


def _copy_scores(db: Database) -> None:
    """All columns, also one that another step has added meanwhile: each score is its first version."""
    has = {column.name for column in db["scores_with_versions"].columns}
    for column in db["scores"].columns:
        if column.name not in has:
            definition = f"{column.name} {column.type}"
            if column.notnull:
                definition += f" NOT NULL DEFAULT {column.default_value}"
            db.execute(f"ALTER TABLE scores_with_versions ADD COLUMN {definition}")
    names = ", ".join(column.name for column in db["scores"].columns)
    db.execute(f"INSERT INTO scores_with_versions ({names}, version) SELECT {names}, 1 FROM scores")


def expert_losses(db: Database) -> None:
    """What every expert's forecast lost, beside the score of what was shown."""
    run_script(db, "ALTER TABLE scores ADD COLUMN expert_losses BLOB NOT NULL DEFAULT X'';")


def market_conditions(db: Database) -> None:
    """What the market was like where each forecast was made: its regime, and whether its input was odd."""
    run_script(db, _CONDITIONS)


def twin_and_drifts(db: Database) -> None:
    """What the frozen twin's forecast lost, beside each score; and where the loss rose for longer than by chance."""
    run_script(db, "ALTER TABLE scores ADD COLUMN twin_loss REAL; ALTER TABLE scores ADD COLUMN range_twin_loss REAL;")
    run_script(db, _DRIFTS)


def checkpoint_browser(db: Database) -> None:
    """What the checkpoint browser shows beside the score; names, tags and checks of files; which runs are put away."""
    run_script(db, _CHECKPOINT_BROWSER)


def checkpoint_evaluations(db: Database) -> None:
    """What evaluations of kept checkpoints over candle files found."""
    run_script(db, _EVALUATIONS)


def candles_set_aside(db: Database) -> None:
    """Candles that no trainer can take (`CandleStore.set_aside`); first those that are no market's."""
    run_script(db, _SET_ASIDE_CANDLES)


def bounded_record(db: Database) -> None:
    """Forecasts, scores and steps in a row a candle, each with a checksum; what goes after a while in rows apart."""
    from core.storage.converting import convert  # noqa: PLC0415 - it needs NumPy, and is needed once in a life

    run_script(db, RENAME_FORMER)
    run_script(db, BOUNDED_RECORD)
    convert(db)
    run_script(db, "DROP TABLE scores_before; DROP TABLE forecasts_before; DROP TABLE steps_before;")


def incident_episodes(db: Database) -> None:
    """Incidents that come with each step are one row an episode."""
    run_script(
        db,
        "ALTER TABLE incidents ADD COLUMN last_at_ms INTEGER;"
        "ALTER TABLE incidents ADD COLUMN count INTEGER NOT NULL DEFAULT 1;",
    )


def evidence(db: Database) -> None:
    """The blocks of losses that verdicts rest on (`core.storage.evidence`)."""
    run_script(db, _EVIDENCE)


def model_scores(db: Database) -> None:
    """A checkpoint's score is its model's; what is shown, and what the model adds to it, are stored beside."""
    run_script(
        db,
        "ALTER TABLE checkpoints ADD COLUMN shown_skill REAL; ALTER TABLE checkpoints ADD COLUMN model_gain REAL;"
        "UPDATE checkpoints SET shown_skill = skill, skill = NULL, skill_low = NULL, skill_high = NULL;",
    )


_MARKETS = """
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
    is_simulated INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_market ON runs (market_id, fingerprint);
"""

# The arrays are little-endian float64, in C order: quantiles [quantity, level], experts [expert, quantity, level].
_FORECASTS = """
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

_SCORES = """
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

# A restored model counts its steps from the checkpoint's again, on later candles: the candle is part of the key.
_STEPS = """
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
    details TEXT NOT NULL
) STRICT;
CREATE INDEX incidents_by_run ON incidents (run_id);
"""

# A number is never given again: a line that was removed may come back under its own.
_CHART_LINES = """
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

_EXCHANGE_HOLES = """
CREATE TABLE exchange_holes (
    market_id INTEGER NOT NULL REFERENCES markets (id),
    first_ms INTEGER NOT NULL,
    stop_ms INTEGER NOT NULL CHECK (stop_ms > first_ms),
    asked_at_ms INTEGER NOT NULL,
    PRIMARY KEY (market_id, first_ms)
) STRICT, WITHOUT ROWID;
"""

# The key of a table WITHOUT ROWID cannot be changed, so the table is made anew. Its columns stand first: where one of
# them follows others, SQLite 3.40 finds damage that is none.
_SCORE_VERSIONS = """
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
_TAKE_SCORES_PLACE = """
DROP TABLE scores;
ALTER TABLE scores_with_versions RENAME TO scores;
CREATE UNIQUE INDEX scores_by_target ON scores (run_id, horizon, target_open_time_ms, version);
CREATE TRIGGER scores_stay BEFORE UPDATE ON scores
BEGIN
    SELECT RAISE(ABORT, 'a stored score is never rewritten');
END;
"""

# Written in the transaction that replaces the candle, whoever does that: the feed's correction, an import, a back-fill.
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
ALTER TABLE runs ADD COLUMN corrections_taken INTEGER NOT NULL DEFAULT 0;
"""

# One row for all horizons of a forecast, apart from its arrays: the chart reads thousands of them at once.
_CONDITIONS = """
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

# A drift is found again, the same, where a candle is gone through again after a crash: the candle is the key.
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

# Columns of what was saved before stay empty: nobody knows. A set of settings is stored once, however many name it.
_CHECKPOINT_BROWSER = """
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

# A checkpoint that is deleted keeps its row, and so what was found of it.
_EVALUATIONS = """
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

# The trigger: the same numbers are not stored again, whoever brings them; a corrected candle is. The bounds are those
# of `core.market.validate` when this step was written.
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
INSERT INTO set_aside_candles (market_id, open_time_ms, open, high, low, close, volume, reason)
SELECT market_id, open_time_ms, open, high, low, close, volume, 'numbers that no market has' FROM candles
WHERE low < 1e-18 OR high > 1e18 OR low < high / 1e9 OR volume < 0 OR volume > 1e24
OR high < MAX(open, low, close) OR low > MIN(open, high, close);
DELETE FROM candles WHERE EXISTS (
    SELECT 1 FROM set_aside_candles AS aside
    WHERE aside.market_id = candles.market_id AND aside.open_time_ms = candles.open_time_ms
);
"""

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

STEPS = (
    first_tables,
    gradients_and_known_good,
    chart_lines,
    alerts_known_candles,
    exchange_holes,
    score_versions,
    expert_losses,
    market_conditions,
    twin_and_drifts,
    checkpoint_browser,
    checkpoint_evaluations,
    candles_set_aside,
    bounded_record,
    incident_episodes,
    evidence,
    model_scores,
)
"""Every step ever released; a name in the database that is not among them comes from a newer version."""
