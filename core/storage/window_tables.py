"""Tables of the window: results of evaluations, and what is on the chart. A part of `schema`."""

from __future__ import annotations

# Results of evaluations of checkpoints over candle files. A deleted checkpoint keeps its row, and so these.
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

# Alerts and notes at prices; they belong to a symbol, whatever the interval. Numbers are never reused, as a removed
# line may be restored under its own. known_*: the newest candle when an alert was armed. crossed_within_ms: the candle
# that fired it, if the exact time is unknown.
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
    is_armed INTEGER NOT NULL,
    known_open_time_ms INTEGER,
    known_low REAL,
    known_high REAL,
    crossed_within_ms INTEGER
) STRICT;
CREATE INDEX chart_lines_by_market ON chart_lines (venue, symbol);
"""

# Trend lines, rectangles and the like; as above. The end is empty for drawings with one anchor.
_DRAWINGS = """
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

_GHOST_ALERTS = """
CREATE TABLE ghost_alerts (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('armed', 'fired')),
    changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

WINDOW_TABLES = _EVALUATIONS + _CHART_LINES + _DRAWINGS + _GHOST_ALERTS
