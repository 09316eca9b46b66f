"""The tables of a run's record: permanent rows, and for each the details that are deleted with age (`record_thinning`).

A detail has the id of the row that it belongs to. Rows are added in one piece (a forecast with all its horizons, the
scores of a target) and never changed.
"""

from __future__ import annotations

from core.storage.checksums import SealedTable

RUN = "(SELECT sequence FROM runs WHERE run_id = ?)"
"""SQL for the number of a run, from its id."""

FORECASTS = SealedTable(
    "forecasts",
    (
        ("run", int),
        ("origin_open_time_ms", int),
        ("inputs_until_ms", int),
        ("made_at_ms", int),
        ("mode", int),
        ("step", int),
        ("checkpoint_id", str),
        ("origin_close", float),
        ("scale", float),
        ("horizons", int),
        ("quantities", int),
        ("levels", int),
        ("drawn", bytes),
        ("digest", bytes),
    ),
)
FORECAST_DETAILS = SealedTable("forecast_details", (("arrays", bytes),))

_SCORE_COLUMNS = (
    ("run", int),
    ("target_open_time_ms", int),
    ("version", int),
    ("mode", int),
    ("after_gap", int),
    ("scored_at_ms", int),
    ("records", bytes),
)
SCORES = SealedTable("scores", _SCORE_COLUMNS)
"""One candle ahead."""
SCORE_DETAILS = SealedTable("score_details", (("losses", bytes),))
FURTHER_SCORES = SealedTable("further_scores", _SCORE_COLUMNS)
"""Two and more candles ahead, one row per target. Separate, to keep the most used table small."""
FURTHER_SCORE_DETAILS = SealedTable("further_score_details", (("losses", bytes),))

STEPS = SealedTable(
    "steps",
    (
        ("run", int),
        ("candle_open_time_ms", int),
        ("step", int),
        ("loss", float),
        ("prequential_loss", float),
        ("gradient_norm", float),
        ("clipped", int),
        ("learning_rate", float),
        ("clip_norm", float),
        ("samples", int),
        ("duration_ms", float),
        ("at_ms", int),
        ("skipped_because", str),
    ),
)
STEP_DETAILS = SealedTable("step_details", (("gradients", bytes),))

KEYS = {
    FORECASTS: ("run", "origin_open_time_ms"),
    SCORES: ("run", "target_open_time_ms", "version"),
    FURTHER_SCORES: ("run", "target_open_time_ms", "version"),
    STEPS: ("run", "candle_open_time_ms", "step"),
}
"""The unique keys; the first two columns are the run and the candle that determines the age."""
DETAILS = {
    FORECASTS: FORECAST_DETAILS,
    SCORES: SCORE_DETAILS,
    FURTHER_SCORES: FURTHER_SCORE_DETAILS,
    STEPS: STEP_DETAILS,
}
SEALED = (*KEYS, *DETAILS.values())


def scores_at(horizon: int) -> SealedTable:
    return SCORES if horizon == 1 else FURTHER_SCORES
