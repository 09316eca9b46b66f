"""The schema, as a list of steps that only ever grows: a released step is never edited.

Who writes: the window writes candles (and with them candle_corrections), set_aside_candles, exchange_holes,
checkpoint_marks, checkpoint_deletions, run_marks, evaluations, chart_lines and drawings (without one, so do the
commands that own the data folder); the trainer writes runs, steps, forecasts, conditions, scores (each with its
details), drifts, evidence, checkpoints, setting_sets and incidents; either may be the first to name a market. What is
imported is new to this folder: the window adds its run, its settings and its checkpoint, and no trainer goes on with
such a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.storage.record_schema import BOUNDED_RECORD, RENAME_FORMER
from core.storage.schema_scripts import (
    CANDLE_CORRECTIONS,
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
    INCIDENTS,
    MARKETS,
    RUNS,
    SCORE_VERSIONS,
    SCORES,
    SET_ASIDE_CANDLES,
    TAKE_SCORES_PLACE,
    TRAINING_STEPS,
)
from core.storage.scripts import run_script

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


Progress = Callable[[int, int], object]
"""Told how much is done, and of how much."""


def schema(on_progress: Progress = lambda done, total: None) -> Migrations:
    """All steps, in order. on_progress: for the one that takes minutes."""
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - see database._prepare

    def told(db: Database) -> None:
        bounded_record(db, on_progress)

    steps = Migrations("ghostcandle")
    for step in STEPS:
        steps(name=step.__name__)(told if step is bounded_record else step)
    return steps


def first_tables(db: Database) -> None:
    """Markets and candles; runs with what they forecast, scored, learned and saved."""
    for script in (MARKETS, RUNS, FORECASTS, SCORES, TRAINING_STEPS, CHECKPOINTS, INCIDENTS):
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
    run_script(db, CHART_LINES)


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
    run_script(db, EXCHANGE_HOLES)


def score_versions(db: Database) -> None:
    """A score may be followed by another version of itself, because its target was corrected; and the record of those
    corrections, so that none is missed by a trainer that did not run."""
    run_script(db, SCORE_VERSIONS)
    _copy_scores(db)
    run_script(db, TAKE_SCORES_PLACE)
    run_script(db, CANDLE_CORRECTIONS)


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
    run_script(db, CONDITIONS)


def twin_and_drifts(db: Database) -> None:
    """What the frozen twin's forecast lost, beside each score; and where the loss rose for longer than by chance."""
    run_script(db, "ALTER TABLE scores ADD COLUMN twin_loss REAL; ALTER TABLE scores ADD COLUMN range_twin_loss REAL;")
    run_script(db, DRIFTS)


def checkpoint_browser(db: Database) -> None:
    """What the checkpoint browser shows beside the score; names, tags and checks of files; which runs are put away."""
    run_script(db, CHECKPOINT_BROWSER)


def checkpoint_evaluations(db: Database) -> None:
    """What evaluations of kept checkpoints over candle files found."""
    run_script(db, EVALUATIONS)


def candles_set_aside(db: Database) -> None:
    """Candles that no trainer can take (`CandleStore.set_aside`); first those that are no market's."""
    run_script(db, SET_ASIDE_CANDLES)


def bounded_record(db: Database, on_progress: Progress = lambda done, total: None) -> None:
    """Forecasts, scores and steps in a row a candle, each with a checksum; what goes after a while in rows apart."""
    from core.storage.converting import convert  # noqa: PLC0415 - it needs NumPy, and is needed once in a life

    run_script(db, RENAME_FORMER)
    run_script(db, BOUNDED_RECORD)
    convert(db, on_progress)
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
    run_script(db, EVIDENCE)


def model_scores(db: Database) -> None:
    """A checkpoint's score is its model's; what is shown, and what the model adds to it, are stored beside."""
    run_script(
        db,
        "ALTER TABLE checkpoints ADD COLUMN shown_skill REAL; ALTER TABLE checkpoints ADD COLUMN model_gain REAL;"
        "UPDATE checkpoints SET shown_skill = skill, skill = NULL, skill_low = NULL, skill_high = NULL;",
    )


def drawings(db: Database) -> None:
    """Trend lines, rectangles and the like; they belong to a symbol, whatever the interval."""
    run_script(db, DRAWINGS)


def crossings_within_candles(db: Database) -> None:
    """Of an alert that a closed candle set off no more is known than in which candle that was."""
    run_script(db, "ALTER TABLE chart_lines ADD COLUMN crossed_within_ms INTEGER;")


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
)
"""Every step ever released; a name in the database that is not among them comes from a newer version."""
