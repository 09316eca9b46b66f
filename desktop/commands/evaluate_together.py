"""`ghostcandle evaluate FILE... --together`: several markets learned by one model, and judged apart and as one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.domain.candle import Market
from core.domain.clock import Clock, SystemClock
from core.domain.events import EventBatch, Incident, JobProgress, TrainerEvent
from core.evaluation.details import evaluate_run
from core.evaluation.pooled import summarise_together
from core.market.feeds.base import FeedError, FeedState, FeedStatus
from core.market.feeds.many import require_different_candles
from core.market.feeds.replay import ReplayFeed, replay_name
from core.market.history.files import read_candle_file
from core.market.pipeline import MarketPipeline, PipelineListener
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore
from core.storage.runs import Run
from core.training.online.trainer_spec import SessionSpec, in_order
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.errors import INTERRUPTED, UserError, wrong_usage
from desktop.commands.start_from import judged

_JOB = "together"
_REPORT_EVERY_S = 0.25
_OF_MODEL = ("steps", "loss", "checkpoints", "steps_per_s", "wall_s", "notices")
"""What is the same under each file, so that each has all that `evaluate` finds for it alone."""


def evaluate_together(context: Context, files: Sequence[Path], count: int | None, trade_cost: float) -> dict[str, Any]:
    """What `evaluate` finds, under each file's name, and under "pooled" all files as one. Raises UserError,
    CandleFileError and StorageError.

    count: only the first so many candles of each file. trade_cost: of the paper scores, as a share of a trade's value.
    """
    settings = judged(context.settings)
    with (
        stopped_by_signals(_interrupt),
        tempfile.TemporaryDirectory(prefix="ghostcandle-") as place,
        TerminalProgress(not context.as_json, context.lines) as progress,
    ):
        folder, clock = DataFolder(Path(place)), SystemClock()
        folder.ensure()
        db = open_database(folder.database)
        try:
            markets = {path.name: _stored(db, path, count, progress) for path in _distinct(files)}
            with wrong_usage(FeedError):
                require_different_candles(markets.items())
            _require_one_interval(markets)
            started_s = clock.monotonic_s()
            runs = _learned(db, folder, settings, markets, progress)
            learned_s = clock.monotonic_s() - started_s
            if context.lines is not None:
                context.lines.start_part("Judging the forecasts")
            return _judged(db, runs, settings.model.horizons, learned_s, trade_cost)
        except KeyboardInterrupt as error:
            raise UserError("Stopped before the end of the files; nothing was judged.", INTERRUPTED) from error
        finally:
            db.close()


def _interrupt() -> None:
    """As Ctrl+C does it, so that the temporary folder goes."""
    raise KeyboardInterrupt


def _distinct(files: Sequence[Path]) -> Sequence[Path]:
    names = [path.name for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"Two of the files are called {twice}; the results are listed by name. Rename one.", 2)
    if "pooled" in names:
        raise UserError("No file may be called pooled: the results of all files are listed under that name.", 2)
    return files


def _stored(db: Database, path: Path, count: int | None, progress: TerminalProgress) -> Market:
    """Store the file's candles, checked as those of any feed."""
    file = read_candle_file(path)
    feed = ReplayFeed(file, replay_name(path, file), SystemClock(), limit=count)
    listener = _Failures(progress)
    asyncio.run(MarketPipeline(feed, CandleStore(db), HoleStore(db), SystemClock(), listener).run())
    if listener.failure is not None:
        raise UserError(listener.failure)
    return feed.market


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


def _learned(
    db: Database, folder: DataFolder, settings: Settings, markets: dict[str, Market], progress: TerminalProgress
) -> dict[str, Run]:
    """A run of each file. The order of the markets, not of the files, decides what is learned first."""
    from core.training.hosting.together import learn_together  # noqa: PLC0415 - it imports torch

    first, *others = in_order(list(markets.values()))
    spec = SessionSpec(folder.root, first, settings, others=tuple(others))
    store = CandleStore(db)
    total = sum(store.count(market) for market in spec.markets)
    title = f"Evaluating candles of {len(markets)} files"
    runs = learn_together(spec, db, SystemClock(), _meter(progress, title, total))
    names = {market: name for name, market in markets.items()}
    return {names[run.market]: run for run in runs}


def _meter(progress: TerminalProgress, title: str, total: int) -> Callable[[int, Sequence[TrainerEvent]], None]:
    clock: Clock = SystemClock()
    started_s = shown_s = clock.monotonic_s()
    done = 0

    def on_close(candles: int, events: Sequence[TrainerEvent]) -> None:
        nonlocal done, shown_s
        if incidents := tuple(event for event in events if isinstance(event, Incident)):
            progress.take_batch(EventBatch(incidents))
        done, now_s = done + candles, clock.monotonic_s()
        if now_s - shown_s >= _REPORT_EVERY_S or done == total:
            shown_s = now_s
            left_s = (now_s - started_s) / done * (total - done)
            progress.show(JobProgress(_JOB, title, done, total, left_s, done == total))

    return on_close


def _judged(db: Database, runs: dict[str, Run], horizons: int, learned_s: float, trade_cost: float) -> dict[str, Any]:
    found = summarise_together(db, runs, horizons)
    pooled = found["pooled"]
    for rate, count in (("candles_per_s", pooled["candles"]), ("steps_per_s", pooled["steps"])):
        pooled[rate] = round(count / learned_s, 3) if learned_s > 0.0 else None
    pooled.update(wall_s=round(learned_s, 3), notices=[])
    of_model = {key: pooled[key] for key in _OF_MODEL}
    judged_apart = {
        name: {"file": name, **found[name], **of_model, **evaluate_run(db, run, horizons, trade_cost)}
        for name, run in runs.items()
    }
    return {**judged_apart, "pooled": pooled}


class _Failures(PipelineListener):
    """Keeps why a feed ended, if it failed; what it says otherwise, as of rejected candles, is shown."""

    def __init__(self, progress: TerminalProgress) -> None:
        self.failure: str | None = None
        self._progress = progress

    def on_status(self, status: FeedStatus) -> None:
        if status.state is FeedState.FAILED:
            self.failure = status.sentence
        elif status.state is not FeedState.ENDED:
            self._progress.say(status.sentence)
