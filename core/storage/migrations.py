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

from core.storage.record_schema import BOUNDED_RECORD, RENAME_FORMER
from core.storage.schema_scripts import (
    CANDLE_CORRECTIONS,
    CHALLENGERS,
    CHART_LINES,
    CHECKPOINT_BROWSER,
    CHECKPOINTS,
    CONDITIONS,
    DRAWINGS,
    DRIFTS,
    EVALUATIONS,
    EVIDENCE,
    EXCHANGE_HOLES,
    FORECASTS,
    GHOST_ALERTS,
    INCIDENTS,
    MARKETS,
    RUNS,
    SCORE_VERSIONS,
    SCORES,
    SET_ASIDE_CANDLES,
    TAKE_SCORES_PLACE,
    TRAINING_STEPS,
)

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


Progress = Callable[[int, int], object]
"""Called with the amount done and the total."""


def schema(on_progress: Progress = lambda done, total: None) -> Migrations:
    """All steps, in order. on_progress: for the step that takes minutes."""
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - see database._prepare

    def with_progress(db: Database) -> None:
        bounded_record(db, on_progress)

    steps = Migrations("ghostcandle")
    for step in STEPS:
        steps(name=step.__name__)(with_progress if step is bounded_record else step)
    return steps


def first_tables(db: Database) -> None:
    """Markets and candles; runs with their forecasts, scores, steps and checkpoints."""
    for script in (MARKETS, RUNS, FORECASTS, SCORES, TRAINING_STEPS, CHECKPOINTS, INCIDENTS):
        run_script(db, script)


def gradients_and_known_good(db: Database) -> None:
    """Gradient statistics of each step (`core.storage.gradients`), and known good checkpoints."""
    run_script(
        db,
        "ALTER TABLE steps ADD COLUMN gradients BLOB;"
        "ALTER TABLE checkpoints ADD COLUMN is_known_good INTEGER NOT NULL DEFAULT 1;",
    )


def chart_lines(db: Database) -> None:
    """Alerts and notes at prices; they belong to a symbol, whatever the interval."""
    run_script(db, CHART_LINES)


def alerts_known_candles(db: Database) -> None:
    """The newest candle when an alert was armed, kept across restarts."""
    run_script(
        db,
        "ALTER TABLE chart_lines ADD COLUMN known_open_time_ms INTEGER;"
        "ALTER TABLE chart_lines ADD COLUMN known_low REAL;"
        "ALTER TABLE chart_lines ADD COLUMN known_high REAL;",
    )


def exchange_holes(db: Database) -> None:
    """Candles that an exchange does not have, so that they are not requested again."""
    run_script(db, EXCHANGE_HOLES)


def score_versions(db: Database) -> None:
    """Versions of scores, for corrected targets; and the record of corrections, so that a trainer that was not running
    misses none."""
    run_script(db, SCORE_VERSIONS)
    _copy_scores(db)
    run_script(db, TAKE_SCORES_PLACE)
    run_script(db, CANDLE_CORRECTIONS)


def _copy_scores(db: Database) -> None:
    """Copy all columns, also those of later steps; each score becomes version 1."""
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
    """Every expert's losses, besides the score of the shown forecast."""
    run_script(db, "ALTER TABLE scores ADD COLUMN expert_losses BLOB NOT NULL DEFAULT X'';")


def market_conditions(db: Database) -> None:
    """Market conditions of each forecast: the regime, and unusual inputs."""
    run_script(db, CONDITIONS)


def twin_and_drifts(db: Database) -> None:
    """The reference model's loss of each score; and drifts, where the loss rose for longer than by chance."""
    run_script(db, "ALTER TABLE scores ADD COLUMN twin_loss REAL; ALTER TABLE scores ADD COLUMN range_twin_loss REAL;")
    run_script(db, DRIFTS)


def checkpoint_browser(db: Database) -> None:
    """Further columns of the checkpoint browser; names, tags and file checks; archived runs."""
    run_script(db, CHECKPOINT_BROWSER)


def checkpoint_evaluations(db: Database) -> None:
    """Results of evaluations of checkpoints over candle files."""
    run_script(db, EVALUATIONS)


def candles_set_aside(db: Database) -> None:
    """Candles that the trainer cannot process (`CandleStore.set_aside`); first those with impossible numbers."""
    run_script(db, SET_ASIDE_CANDLES)


def bounded_record(db: Database, on_progress: Progress = lambda done, total: None) -> None:
    """Forecasts, scores and steps in one row per candle with a checksum; details that are thinned in separate rows."""
    from core.storage.converting import convert  # noqa: PLC0415 - it needs NumPy, and runs once per database

    run_script(db, RENAME_FORMER)
    run_script(db, BOUNDED_RECORD)
    convert(db, on_progress)
    run_script(db, "DROP TABLE scores_before; DROP TABLE forecasts_before; DROP TABLE steps_before;")


def incident_episodes(db: Database) -> None:
    """Incidents that repeat at each step share one row per episode."""
    run_script(
        db,
        "ALTER TABLE incidents ADD COLUMN last_at_ms INTEGER;"
        "ALTER TABLE incidents ADD COLUMN count INTEGER NOT NULL DEFAULT 1;",
    )


def evidence(db: Database) -> None:
    """The blocks of losses behind proven results (`core.storage.evidence`)."""
    run_script(db, EVIDENCE)


def model_scores(db: Database) -> None:
    """A checkpoint's score is its model's; the shown skill and the model's gain are stored besides."""
    run_script(
        db,
        "ALTER TABLE checkpoints ADD COLUMN shown_skill REAL; ALTER TABLE checkpoints ADD COLUMN model_gain REAL;"
        "UPDATE checkpoints SET shown_skill = skill, skill = NULL, skill_low = NULL, skill_high = NULL;",
    )


def drawings(db: Database) -> None:
    """Trend lines, rectangles and the like; they belong to a symbol, whatever the interval."""
    run_script(db, DRAWINGS)


def crossings_within_candles(db: Database) -> None:
    """The candle that fired an alert, if the exact time is unknown."""
    run_script(db, "ALTER TABLE chart_lines ADD COLUMN crossed_within_ms INTEGER;")


def universes(db: Database) -> None:
    """Runs of several markets with one model (`core.storage.runs`); each older run has a model to itself."""
    run_script(
        db,
        "ALTER TABLE runs ADD COLUMN head INTEGER REFERENCES runs (sequence);"
        "ALTER TABLE runs ADD COLUMN is_learned INTEGER NOT NULL DEFAULT 1;"
        "CREATE INDEX runs_by_head ON runs (head) WHERE head IS NOT NULL;",
    )


def challengers(db: Database) -> None:
    """Further models beside that of a run, and what they cost; older runs have none."""
    run_script(db, CHALLENGERS)


def challenger_answers(db: Database) -> None:
    """How many forecasts challengers were asked for, and how many they gave; 0 of the time before."""
    run_script(
        db,
        "ALTER TABLE challengers ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE challengers ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;",
    )


def ghost_alerts(db: Database) -> None:
    """Which alerts on ghosts are armed, and which have fired."""
    run_script(db, GHOST_ALERTS)


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
    drawings,
    crossings_within_candles,
    universes,
    challengers,
    ghost_alerts,
    challenger_answers,
)
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
