"""The schema, as a list of steps that only ever grows: a released step is never edited.

Who writes: the window writes candles (and with them candle_corrections), set_aside_candles, exchange_holes,
checkpoint_marks, checkpoint_deletions, run_marks, evaluations, chart_lines, drawings and ghost_alerts (without one,
so do the commands that own the data folder); the trainer writes runs, challengers, steps, forecasts, conditions,
scores (each with its details), drifts, evidence, checkpoints, setting_sets and incidents; either may be the first to
name a market.
What is imported is new to this folder: the window adds its run, its settings and its checkpoint, and no trainer
continues such a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.storage import schema_scripts as sql

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


Progress = Callable[[int, int], object]
"""Called with the amount done and the total."""


def schema(on_progress: Progress = lambda done, total: None) -> Migrations:
    """All steps, in order. on_progress: for the step that takes minutes."""
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - see `open_database`

    steps = Migrations("ghostcandle")
    for name, step in STEPS.items():
        steps(name=name)(_bound(step, on_progress))
    return steps


def _bound(step: str | Callable[[Database, Progress], None], on_progress: Progress) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        if isinstance(step, str):
            run_script(db, step)
        else:
            step(db, on_progress)

    return run


def _score_versions(db: Database, _on_progress: Progress) -> None:
    """Copy all columns, also those of later steps; each score becomes version 1."""
    run_script(db, sql.SCORE_VERSIONS)
    has = {column.name for column in db["scores_with_versions"].columns}
    for column in db["scores"].columns:
        if column.name not in has:
            definition = f"{column.name} {column.type}"
            if column.notnull:
                definition += f" NOT NULL DEFAULT {column.default_value}"
            db.execute(f"ALTER TABLE scores_with_versions ADD COLUMN {definition}")
    names = ", ".join(column.name for column in db["scores"].columns)
    db.execute(f"INSERT INTO scores_with_versions ({names}, version) SELECT {names}, 1 FROM scores")
    run_script(db, sql.TAKE_SCORES_PLACE + sql.CANDLE_CORRECTIONS)


def _bounded_record(db: Database, on_progress: Progress) -> None:
    from core.storage.converting import convert  # noqa: PLC0415 - it needs NumPy, and runs once per database

    convert(db, on_progress)


STEPS: dict[str, str | Callable[[Database, Progress], None]] = {
    # Markets and candles; runs with their forecasts, scores, steps and checkpoints.
    "first_tables": (
        sql.MARKETS + sql.RUNS + sql.FORECASTS + sql.SCORES + sql.TRAINING_STEPS + sql.CHECKPOINTS + sql.INCIDENTS
    ),
    # Gradient statistics of each step (`core.storage.packing`), and known good checkpoints.
    "gradients_and_known_good": (
        "ALTER TABLE steps ADD COLUMN gradients BLOB;"
        "ALTER TABLE checkpoints ADD COLUMN is_known_good INTEGER NOT NULL DEFAULT 1;"
    ),
    # Alerts and notes at prices; they belong to a symbol, whatever the interval.
    "chart_lines": sql.CHART_LINES,
    # The newest candle when an alert was armed, kept across restarts.
    "alerts_known_candles": (
        "ALTER TABLE chart_lines ADD COLUMN known_open_time_ms INTEGER;"
        "ALTER TABLE chart_lines ADD COLUMN known_low REAL;"
        "ALTER TABLE chart_lines ADD COLUMN known_high REAL;"
    ),
    # Candles that an exchange does not have, so that they are not requested again.
    "exchange_holes": sql.EXCHANGE_HOLES,
    # Versions of scores, for corrected targets; and the record of corrections, so that a trainer that was not running
    # misses none.
    "score_versions": _score_versions,
    # Every expert's losses, besides the score of the shown forecast.
    "expert_losses": "ALTER TABLE scores ADD COLUMN expert_losses BLOB NOT NULL DEFAULT X'';",
    # Market conditions of each forecast: the regime, and unusual inputs.
    "market_conditions": sql.CONDITIONS,
    # The reference model's loss of each score; and drifts, where the loss rose for longer than by chance.
    "twin_and_drifts": (
        "ALTER TABLE scores ADD COLUMN twin_loss REAL;ALTER TABLE scores ADD COLUMN range_twin_loss REAL;" + sql.DRIFTS
    ),
    # Further columns of the checkpoint browser; names, tags and file checks; archived runs.
    "checkpoint_browser": sql.CHECKPOINT_BROWSER,
    # Results of evaluations of checkpoints over candle files.
    "checkpoint_evaluations": sql.EVALUATIONS,
    # Candles that the trainer cannot process (`CandleStore.set_aside`); first those with impossible numbers.
    "candles_set_aside": sql.SET_ASIDE_CANDLES,
    # Forecasts, scores and steps in one row per candle with a checksum; details that are thinned in separate rows.
    "bounded_record": _bounded_record,
    # Incidents that repeat at each step share one row per episode.
    "incident_episodes": (
        "ALTER TABLE incidents ADD COLUMN last_at_ms INTEGER;"
        "ALTER TABLE incidents ADD COLUMN count INTEGER NOT NULL DEFAULT 1;"
    ),
    # The blocks of losses behind proven results (`core.storage.evidence`).
    "evidence": sql.EVIDENCE,
    # A checkpoint's score is its model's; the shown skill and the model's gain are stored besides.
    "model_scores": (
        "ALTER TABLE checkpoints ADD COLUMN shown_skill REAL; ALTER TABLE checkpoints ADD COLUMN model_gain REAL;"
        "UPDATE checkpoints SET shown_skill = skill, skill = NULL, skill_low = NULL, skill_high = NULL;"
    ),
    # Trend lines, rectangles and the like; they belong to a symbol, whatever the interval.
    "drawings": sql.DRAWINGS,
    # The candle that fired an alert, if the exact time is unknown.
    "crossings_within_candles": "ALTER TABLE chart_lines ADD COLUMN crossed_within_ms INTEGER;",
    # Runs of several markets with one model (`core.storage.runs`); each older run has a model to itself.
    "universes": (
        "ALTER TABLE runs ADD COLUMN head INTEGER REFERENCES runs (sequence);"
        "ALTER TABLE runs ADD COLUMN is_learned INTEGER NOT NULL DEFAULT 1;"
        "CREATE INDEX runs_by_head ON runs (head) WHERE head IS NOT NULL;"
    ),
    # Further models beside that of a run, and what they cost; older runs have none.
    "challengers": sql.CHALLENGERS,
    # Which alerts on ghosts are armed, and which have fired.
    "ghost_alerts": sql.GHOST_ALERTS,
    # How many forecasts challengers were asked for, and how many they gave; 0 of the time before.
    "challenger_answers": (
        "ALTER TABLE challengers ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE challengers ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;"
    ),
}
"""Every step ever released; a name in the database that is not among them comes from a newer version."""


def run_script(db: Database, script: str) -> None:
    """Execute each statement. `Connection.executescript` would commit first; that of sqlite_utils tests after each
    character whether a statement is complete, which takes half the time of creating a database."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""
