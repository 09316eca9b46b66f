"""One cell: an evaluation in a temporary folder, with a fixed seed. The same bytes wherever it runs.

Needs no main thread, so that any worker can run it. torch is imported with the first evaluation.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.files.durable import sha256_of
from core.forecast.score import LEAST_LOSS, skill
from core.settings.tree import MarketSettings, Settings
from core.sweeps.errors import SweepError
from core.sweeps.grid import settings_of
from core.sweeps.plan import Configuration, SweepFile
from core.sweeps.rows import CellResult, LossArray, LossSeries, Part, PartSkills

if TYPE_CHECKING:
    from core.market.feeds.base import Feed
    from core.storage.runs import Run

_LOOK_EVERY_S = 1.0


class CellCancelled(Exception):  # noqa: N818 - a wish, not an error
    """Nobody waits for the result any more."""


@dataclass(frozen=True, slots=True)
class CellJob:
    """All that a worker needs. model_file: the path and the sha256 of the model's own file; None without one."""

    number: int
    configuration: Configuration
    base: dict[str, Any]
    files: tuple[SweepFile, ...]
    seed: int
    candles: int | None
    device: str
    model_file: tuple[str, str] | None


def run_cell(
    job: CellJob,
    files: Sequence[Path],
    configuration: Configuration,
    clock: Clock,
    is_cancelled: Callable[[], bool] = lambda: False,
    within: Path | None = None,
) -> CellResult:
    """Evaluate. files: where those of the job are on this machine; configuration: with the model's file as it is
    called here. is_cancelled: polled about once a second. within: where the temporary folder is made.

    Raises SweepError with the sentence of the failed cell, and CellCancelled.
    """
    for path, file in zip(files, job.files, strict=True):
        require_content(path, file.sha256, file.name)
    settings = settings_of(job.base, configuration, job.seed, job.device)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-cell-", dir=within, ignore_cleanup_errors=True) as folder:
        runs = asyncio.run(_run(Path(folder), settings, files, job.candles, clock, is_cancelled))
        return _judged(Path(folder), runs, job)


def require_content(path: Path, sha256: str, name: str) -> None:
    """Raises SweepError unless the file is there with this content."""
    try:
        found = sha256_of(path)
    except OSError as error:
        raise SweepError(f"{name} cannot be read ({error.strerror or error}). Put it back, and try again.") from error
    if found != sha256:
        raise SweepError(f"{name} has changed since the sweep began. Put the former file back, or begin another sweep.")


async def _run(
    root: Path,
    settings: Settings,
    files: Sequence[Path],
    count: int | None,
    clock: Clock,
    is_cancelled: Callable[[], bool],
) -> tuple[Market, ...]:
    """Replay the files at full speed, as `evaluate` does. Returns their markets in the order of the files."""
    from core.storage.database import open_database  # noqa: PLC0415 - as below
    from core.storage.folder import DataFolder  # noqa: PLC0415
    from core.training.hosting.headless import HeadlessRun  # noqa: PLC0415 - a worker's, with its heavy imports
    from core.training.online.trainer_spec import SessionSpec, in_order  # noqa: PLC0415

    folder = DataFolder(root)
    folder.ensure()
    open_database(folder.database).close()
    feeds = [await _feed(path, count, clock) for path in files]
    by_market = {feed.market: feed for feed in _played_together(feeds)}
    try:
        first, *others = in_order(list(by_market))
    except ValueError as error:
        raise SweepError(str(error)) from error
    spec = SessionSpec(folder.root, first, settings, others=tuple(others))
    ordered = [by_market[market] for market in spec.markets]
    run = HeadlessRun(ordered, spec, clock, lambda batch: None, lambda status: None)
    with _stopped_if(is_cancelled, run.stop):
        await run.run()
    if run.is_stopped:
        raise CellCancelled
    failure = run.failure or next(iter(run.feed_failures.values()), None)
    if failure is not None:
        raise SweepError(failure)
    return tuple(feed.market for feed in feeds)


async def _feed(path: Path, count: int | None, clock: Clock) -> Feed:
    from core.market.feeds.auto import build_feed  # noqa: PLC0415 - needs ccxt

    market = MarketSettings(feed="replay", file=str(path), speed=0.0)
    return (await build_feed(market, seed=None, clock=clock, limit=count)).feed


def _played_together(feeds: Sequence[Feed]) -> Sequence[Feed]:
    from core.market.feeds.many import play_together  # noqa: PLC0415 - needs ccxt

    if len(feeds) > 1:
        play_together(feeds)
    return feeds


class _stopped_if:  # noqa: N801 - used as a function
    """While the block runs, a thread looks whether the cell is still wanted, and calls `stop` if not."""

    def __init__(self, is_cancelled: Callable[[], bool], stop: Callable[[], object]) -> None:
        self._is_cancelled, self._stop = is_cancelled, stop
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="sweep cell", daemon=True)

    def __enter__(self) -> None:
        if self._is_cancelled():
            self._stop()
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            if self._is_cancelled():
                self._stop()
                return


def _judged(root: Path, markets: Sequence[Market], job: CellJob) -> CellResult:
    from core.evaluation.summary import summarise  # noqa: PLC0415 - with the trainer's modules
    from core.storage.database import open_database  # noqa: PLC0415
    from core.storage.folder import DataFolder  # noqa: PLC0415
    from core.storage.runs import RunStore  # noqa: PLC0415

    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        store = RunStore(db)
        stored = store.list()
        if not stored:
            raise SweepError("The run ended before its first candle; nothing was learned.")
        runs = {run.market: run for run in store.members(stored[0].head_id)}
        found = {market: summarise(db, run) for market, run in runs.items()}
        losses = [_losses(db, runs[market], file, job) for market, file in zip(markets, job.files, strict=True)]
    digests = [found[market]["forecasts_sha256"] for market in markets]
    by_part = {part: [series for each in losses for of, series in each if of is part] for part in Part}
    first, second = (part_skills(by_part[part]) for part in Part)
    candles = sum(each["candles"] for each in found.values())
    return CellResult(joined_digest(digests), candles, first, second, tuple(pair for each in losses for pair in each))


def joined_digest(digests: Sequence[str]) -> str:
    """That of one file as `evaluate` reports it; of several, as it does for all of them together."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _losses(db: Any, run: Run, file: SweepFile, job: CellJob) -> list[tuple[Part, LossSeries]]:
    """The judged losses of one file, divided into its parts."""
    from core.evaluation.judged_scores import judged, judged_from_nth, read_columns  # noqa: PLC0415
    from core.storage.record_reader import RecordReader  # noqa: PLC0415

    reader = RecordReader(db, run.run_id)
    from_ms, _ = judged_from_nth(reader.nth_origin)
    those = judged(read_columns(reader, run, [1])[1], from_ms)
    times = those["target_open_time_ms"]
    close, spread = those.of(Quantity.CLOSE), those.of(Quantity.RANGE)
    arrays = (close.shown, spread.shown, close.reference, spread.reference)
    parts = {Part.FIRST: times < file.split_ms, Part.SECOND: times >= file.split_ms}
    found = []
    for part, rows in parts.items():
        chosen = (each[rows].astype(np.float32) for each in arrays)
        found.append((part, LossSeries(job.number, file.name, job.seed, times[rows], *chosen)))
    return found


def part_skills(series: Sequence[LossSeries]) -> PartSkills:
    """The skills over one part of a cell: of several files each in units of its mean reference loss, and the mean over
    the files at each target, as for `evaluate --together`."""
    close = [(each.forecast_close, each.reference_close) for each in series]
    spread = [(each.forecast_range, each.reference_range) for each in series]
    times = [each.target_open_time_ms for each in series]
    return PartSkills(_skill(times, close), _skill(times, spread))


def _skill(times: Sequence[Any], pairs: Sequence[tuple[LossArray, LossArray]]) -> Estimate:
    if len(pairs) == 1:
        ((loss, reference),) = pairs
        return skill(loss.astype(np.float64), reference.astype(np.float64))
    scaled = [_in_units_of_reference(*pair) for pair in pairs if len(pair[0])]
    if not scaled:
        return Estimate(None, None, None, 0)
    _, place, count = np.unique(np.concatenate(times), return_inverse=True, return_counts=True)
    sums = np.zeros((count.size, 2))
    np.add.at(sums, place, np.concatenate(scaled))
    means = sums / count[:, None]
    return skill(means[:, 0], means[:, 1])


def _in_units_of_reference(loss: LossArray, reference: LossArray) -> FloatArray:
    both = np.column_stack([loss, reference]).astype(np.float64)
    scale = float(both[:, 1].mean())
    return both / scale if scale > LEAST_LOSS else np.zeros_like(both)


def with_model_file(configuration: Configuration, file: Path | None) -> Configuration:
    """The configuration with its model's file where it is on this machine."""
    if file is None:
        return configuration
    return replace(configuration, model=f"{file}:{configuration.model.rpartition(':')[2]}")
