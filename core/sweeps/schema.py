"""The tables of a sweep's database, `sweep.sqlite` in its folder.

One writer: the process that runs the sweep. What the machine and the hour decide (who computed a cell, and how long it
took) is in the table `work` alone, so that a sweep that was killed and continued has the same other tables, byte by
byte, as one that was not.
"""

from __future__ import annotations

VERSION = 1
APPLICATION_ID = 0x47_43_53_57
PARTS = ("first", "second")
QUANTITIES = ("close", "range")
ESTIMATE = ("value", "low", "high", "n")
SKILLS = tuple(f"{part}_{quantity}_{end}" for part in PARTS for quantity in QUANTITIES for end in ESTIMATE)
_SKILLS = ", ".join(f"{name} {'INTEGER' if name.endswith('_n') else 'REAL'}" for name in SKILLS)
SCHEMA = f"""
CREATE TABLE sweep (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    plan TEXT NOT NULL,
    base TEXT NOT NULL,
    files TEXT NOT NULL,
    models TEXT NOT NULL,
    program TEXT NOT NULL,
    torch TEXT NOT NULL
) STRICT;
CREATE TABLE configurations (
    number INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    settings TEXT NOT NULL,
    is_default INTEGER NOT NULL
) STRICT;
CREATE TABLE cells (
    number INTEGER PRIMARY KEY,
    configuration INTEGER NOT NULL REFERENCES configurations (number),
    files TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL,
    sentence TEXT NOT NULL DEFAULT '',
    digest TEXT,
    candles INTEGER,
    {_SKILLS}
) STRICT;
CREATE INDEX cells_by_configuration ON cells (configuration);
CREATE TABLE work (
    number INTEGER PRIMARY KEY REFERENCES cells (number),
    worker TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT;
CREATE TABLE losses (
    cell INTEGER NOT NULL REFERENCES cells (number),
    file TEXT NOT NULL,
    part TEXT NOT NULL,
    n INTEGER NOT NULL,
    times BLOB NOT NULL,
    numbers BLOB NOT NULL,
    PRIMARY KEY (cell, file, part)
) STRICT, WITHOUT ROWID;
"""
