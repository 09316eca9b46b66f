"""`ghostcandle evaluate FILE... --together`: several markets learned by one model, and judged apart and as one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.domain.candle import FILE_VENUE, Market
from core.evaluation.details import evaluate_run
from core.evaluation.pooled import summarise_together
from core.market.feeds.base import FeedError
from core.market.feeds.many import require_different_candles
from core.market.feeds.replay import replay_name
from core.market.history.files import read_candle_file
from core.storage.database import open_database
from core.storage.runs import RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError, wrong_usage
from desktop.commands.evaluation_run import run_over

_OF_RUN = ("wall_s", "notices")
_OF_MODEL = ("steps", "loss", "checkpoints", "steps_per_s", *_OF_RUN)
"""What is the same under each file, so that each has all that `evaluate` finds for it alone."""


def evaluate_together(context: Context, files: Sequence[Path], count: int | None, trade_cost: float) -> dict[str, Any]:
    """What `evaluate` finds, under each file's name, and under "pooled" all files as one. Raises UserError,
    CandleFileError and StorageError.

    count: only the first so many candles of each file. trade_cost: of the paper scores, as a share of a trade's value.
    """
    names = _names(files)
    with (
        run_over(context, files, count) as (replayed, summary),
        closing(open_database(replayed.folder.database, readonly=True)) as db,
    ):
        return _judged(db, names, summary, context.settings.model.horizons, trade_cost)


def _names(files: Sequence[Path]) -> dict[Market, str]:
    """The files' names by their markets. Raises UserError and CandleFileError."""
    names = [path.name for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"Two of the files are called {twice}; the results are listed by name. Rename one.", 2)
    if "pooled" in names:
        raise UserError("No file may be called pooled: the results of all files are listed under that name.", 2)
    markets = {path.name: _market(path) for path in files}
    with wrong_usage(FeedError):
        require_different_candles(markets.items())
    _require_one_interval(markets)
    return {market: name for name, market in markets.items()}


def _market(path: Path) -> Market:
    file = read_candle_file(path)
    return Market(FILE_VENUE, replay_name(path, file), file.interval)


def _require_one_interval(markets: dict[str, Market]) -> None:
    intervals = {name: str(market.interval) for name, market in markets.items()}
    (first, wanted), *others = intervals.items()
    other = next((name for name, interval in others if interval != wanted), None)
    if other is not None:
        raise UserError(
            f"{first} has candles of {wanted} and {other} of {intervals[other]}. "
            "One model learns markets of one interval: give files of the same.",
            2,
        )


def _judged(
    db: Database, names: dict[Market, str], summary: dict[str, Any], horizons: int, trade_cost: float
) -> dict[str, Any]:
    store = RunStore(db)
    runs = {str(run.market): run for run in store.members(store.list()[0].head_id)}
    found = summary if "pooled" in summary else summarise_together(db, runs, horizons)
    pooled = found["pooled"] | {key: summary.get("pooled", summary)[key] for key in _OF_RUN}
    for name in ("candles", "steps"):
        pooled[f"{name}_per_s"] = round(pooled[name] / pooled["wall_s"], 3)
    of_model = {key: pooled[key] for key in _OF_MODEL}
    judged_apart = {}
    for market, run in runs.items():
        name = names[run.market]
        of_file = evaluate_run(db, run, horizons, trade_cost)
        judged_apart[name] = {"file": name, **found[market], **of_model, **of_file}
    return {**judged_apart, "pooled": pooled}
