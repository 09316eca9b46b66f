"""The schema, as a list of steps that only ever grows: a released step is never edited.

Who writes: the window writes candles (and with them candle_corrections), set_aside_candles, exchange_holes,
checkpoint_marks, checkpoint_deletions, run_marks, evaluations, chart_lines, drawings and ghost_alerts (without one,
so do the commands that own the data folder; beside one, history commands write candles and exchange_holes in turns that
it grants); the trainer writes runs, challengers, steps, forecasts, conditions,
scores (each with its details), drifts, evidence, checkpoints, setting_sets and incidents; either may be the first to
name a market.
What is imported is new to this folder: the window adds its run, its settings and its checkpoint, and no trainer
continues such a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from core.storage import schema_scripts as sql

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


BASELINE = "crossings_within_candles"
"""The step that creates the tables as they were on 23 November 2026, under the name of the last step until then."""
_FORMER = frozenset(
    {
        "first_tables",
        "gradients_and_known_good",
        "chart_lines",
        "alerts_known_candles",
        "exchange_holes",
        "score_versions",
        "expert_losses",
        "market_conditions",
        "twin_and_drifts",
        "checkpoint_browser",
        "checkpoint_evaluations",
        "candles_set_aside",
        "bounded_record",
        "incident_episodes",
        "evidence",
        "model_scores",
        "drawings",
    }
)
"""Steps that older databases name beside `BASELINE`, which has taken their place."""

STEPS = {
    BASELINE: sql.CANDLES
    + sql.CANDLE_CORRECTIONS
    + sql.SET_ASIDE_CANDLES
    + sql.RUNS
    + sql.RECORD
    + sql.CONDITIONS
    + sql.DRIFTS
    + sql.EVIDENCE
    + sql.CHECKPOINTS
    + sql.EVALUATIONS
    + sql.INCIDENTS
    + sql.CHART_LINES
    + sql.DRAWINGS,
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
    # Before, holes were recorded that were none: of lists with the newest candles only, and of answers of a proxy.
    "proven_holes": "ALTER TABLE exchange_holes ADD COLUMN is_proven INTEGER NOT NULL DEFAULT 0;",
}
"""The SQL of every step by its name."""


def schema() -> Migrations:
    """All steps, in order."""
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - see `open_database`

    steps = Migrations("ghostcandle")
    for name, script in STEPS.items():
        steps(name=name)(_step(script))
    return steps


def is_newer(steps: Collection[str]) -> bool:
    """Whether a database with these steps comes from a later version."""
    return not STEPS.keys() | _FORMER >= set(steps)


def is_too_old(steps: Collection[str]) -> bool:
    """Whether a database with these steps is older than any that can be brought up to date."""
    return bool(steps) and BASELINE not in steps


def _step(script: str) -> Callable[[Database], None]:
    """Executes each statement. `Connection.executescript` would commit first; that of sqlite_utils tests after each
    character whether a statement is complete, which takes half the time of creating a database."""

    def run(db: Database) -> None:
        statement = ""
        for piece in script.split(";"):
            statement += f"{piece};"
            if sqlite3.complete_statement(statement):
                db.conn.execute(statement)
                statement = ""

    return run
