"""`ghostcandle evaluate FILE... --together`: several markets learned by one model, and judged apart and as one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.evaluation.details import evaluate_run
from core.evaluation.pooled import summarise_together
from core.files.durable import sha256_of
from core.market.history.open_file import require_readable
from core.market.shown_names import file_symbol
from core.storage.database import open_database
from core.storage.runs import RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.evaluation_run import run_over

_OF_RUN = ("steps_per_s", "wall_s", "notices")
_OF_MODEL = ("steps", "loss", "checkpoints", *_OF_RUN)
"""Fields that are repeated under each file, so that each has all that `evaluate` finds for it alone."""


def evaluate_together(
    context: Context, files: Sequence[Path], count: int | None, trade_cost: float, insides: Sequence[str] = ()
) -> dict[str, Any]:
    """The results of `evaluate`, under each file's name, and under "pooled" all files as one. Raises UserError,
    CandleFileError and StorageError.

    count: the number of candles used of each file, from its start. trade_cost: of the paper scores, as a share of a
    trade's value. insides: as in `run_over`.
    """
    names = _names(files)
    with (
        run_over(context, files, count, insides=insides) as (replayed, summary),
        closing(open_database(replayed.folder.database, readonly=True)) as db,
    ):
        return _judged(db, names, summary, context.settings.model.horizons, trade_cost)


def _names(files: Sequence[Path]) -> dict[str, str]:
    """The files' names by the symbols of their markets. Raises UserError and CandleFileError."""
    names = [path.name for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"Two of the files are called {twice}; the results are listed by name. Rename one.", 2)
    if "pooled" in names:
        raise UserError("No file may be called pooled: the results of all files are listed under that name.", 2)
    for path in files:
        require_readable(path)
    return {file_symbol(path.stem, sha256_of(path)): path.name for path in files}


def _judged(
    db: Database, names: dict[str, str], summary: dict[str, Any], horizons: int, trade_cost: float
) -> dict[str, Any]:
    store = RunStore(db)
    runs = {str(run.market): run for run in store.members(store.list()[0].head_id)}
    found = summary if "pooled" in summary else summarise_together(db, runs, horizons)
    pooled = found["pooled"] | {key: summary.get("pooled", summary)[key] for key in _OF_RUN}
    pooled["candles_per_s"] = round(pooled["candles"] / pooled["wall_s"], 3)
    of_model = {key: pooled[key] for key in _OF_MODEL}
    judged_apart = {}
    for market, run in runs.items():
        name = names.get(run.market.symbol, run.market.symbol)  # its file may have changed since
        of_file = evaluate_run(db, run, horizons, trade_cost)
        judged_apart[name] = {"file": name, **found[market], **of_model, **of_file}
    return {**judged_apart, "pooled": pooled}
