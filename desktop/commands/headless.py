"""`ghostcandle headless`: watch, learn and forecast without a window."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click

from core.domain.candle import Market
from core.domain.clock import Clock, SystemClock
from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.auto import BuiltFeed, build_feed, market_of, open_as_set
from core.market.feeds.base import Feed, FeedError, FeedState, FeedStatus
from core.market.feeds.many import play_together
from core.market.feeds.replay import ReplayFeed
from core.settings.tree import MarketSettings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.ownership import FolderOwner, own
from core.storage.recovering import moment, open_or_recover
from core.storage.runs import RunStore
from core.training.hosting.headless import HeadlessRun
from core.training.hosting.stored_insides import find_insides
from core.training.online.trainer_spec import SessionSpec, as_it_began, in_order
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.errors import INTERRUPTED, UserError, wrong_usage
from desktop.commands.metrics import summary_of
from desktop.commands.options import common_options, model_option, print_json, run_options, with_context
from desktop.commands.text import print_summary

_log = logging.getLogger("ghostcandle")


@click.command()
@run_options
@model_option
@common_options
@with_context
def headless(context: Context) -> None:
    """Watch a market, learn from every candle that closes, and forecast the next ones, without a window.

    Ends with the feed, after --candles, or on Ctrl+C; the next start continues from there. With several --symbol or
    --file one model learns all of these markets.
    """
    summary = run_headless(context)
    print_json(summary) if context.as_json else print_summary(summary)


def run_headless(context: Context, stopped: str | None = None, *, evaluated: str = "") -> dict[str, Any]:
    """Run to the end and return the summary. Raises the errors that `with_context` turns into sentences.

    stopped: the message of an interrupted run; None: the summary covers the part until then, also if one of several
    feeds has failed. evaluated: the file, or how many, that a copy is evaluated on; shown with the progress.
    """
    with own(context.folder, "headless") as owner:
        incidents = [] if owner.left_behind is None else [_unclean_end(owner.left_behind)]
        opened = open_or_recover(context.folder)
        opened.db.close()
        if opened.notice is not None:
            cost = "Everything written since the last backup; everything in the database if there was none."
            kind, now_ms = IncidentKind.DATABASE_DAMAGED, SystemClock().now_ms()
            done = "The run continues."
            incidents.append(Incident(None, now_ms, Severity.ERROR, kind, opened.notice, done, cost))
        for incident in incidents:  # on stderr and in the log in any case
            _log.warning("%s %s", incident.what_happened, incident.what_was_done)
        is_shown = not context.as_json
        with TerminalProgress(is_shown, context.lines, evaluated=evaluated) as progress:
            return asyncio.run(_run(context, progress, stopped, incidents))


def _unclean_end(left: FolderOwner) -> Incident:
    return Incident(
        None,
        SystemClock().now_ms(),
        Severity.WARNING,
        IncidentKind.UNCLEAN_END,
        f"The {left.role} that was started at {moment(left.since_ms)} (process {left.pid}) did not end by itself.",
        "The run continues from the newest whole checkpoint.",
        "Steps since that checkpoint are done again. No stored forecast and no score is lost.",
    )


async def _run(
    context: Context, progress: TerminalProgress, stopped: str | None, incidents: Sequence[Incident]
) -> dict[str, Any]:
    clock = SystemClock()
    started_s = clock.monotonic_s()
    feeds = await _feeds(context, clock, progress)
    await asyncio.to_thread(find_insides, context.folder.database, feeds)
    first, *others = feeds
    root, settings = context.folder.root, context.settings
    reads_inside = any(feed.has_insides for feed in feeds.values())
    spec = SessionSpec(root, first, settings, context.new_run, context.start, tuple(others), reads_inside)

    def show_feed(status: FeedStatus) -> None:
        progress.show_feed(status)
        if stopped is not None and status.state is FeedState.FAILED:
            run.stop()  # nothing will be judged

    run = HeadlessRun(list(feeds.values()), spec, clock, progress.apply_batch, show_feed)
    run.record(incidents)
    with stopped_by_signals(run.stop):  # a last checkpoint is written first
        await run.run()
        if run.failure is not None:
            raise UserError(run.failure)
        if stopped is not None and run.feed_failures:
            raise UserError(next(iter(run.feed_failures.values())))
        if stopped is not None and run.is_stopped:
            raise UserError(stopped, INTERRUPTED)
        summary = _summary(context, spec, progress, clock.monotonic_s() - started_s)
        skipped = [feed.skipped for feed in feeds.values() if isinstance(feed, ReplayFeed) and feed.skipped]
        summary.get("pooled", summary)["notices"] = [*(incident.what_happened for incident in incidents), *skipped]
        return summary


async def _feeds(context: Context, clock: Clock, progress: TerminalProgress) -> dict[Market, Feed]:
    """The feeds in the order of their markets; only a single one may be replaced by the sample. Raises UserError,
    FeedError and CandleFileError."""
    first = context.settings.market
    requested = (first, *context.others)
    if context.others and first.feed not in ("replay", "sample", "stored"):
        with wrong_usage(FeedError):
            markets = [market_of(each) for each in requested]
        return open_as_set(_ordered(markets), first, clock, context.candles, context.urls)
    feeds = [await _feed(context, clock, progress, each) for each in requested]
    if context.others and first.feed == "replay":
        with wrong_usage(FeedError):
            play_together(feeds)
    by_market = {feed.market: feed for feed in feeds}
    return {market: by_market[market] for market in _ordered([feed.market for feed in feeds])}


async def _feed(context: Context, clock: Clock, progress: TerminalProgress, market: MarketSettings) -> Feed:
    built: BuiltFeed = await build_feed(
        market,
        seed=context.settings.training.seed,
        clock=clock,
        limit=context.candles,
        urls=context.urls,
        is_known=lambda market: _has_candles(context, market),
        last_simulated=lambda: _last_simulated(context),
    )
    if built.notice is not None:
        progress.say(built.notice)
    return built.feed


def _ordered(markets: Sequence[Market]) -> tuple[Market, ...]:
    with wrong_usage(ValueError):
        return in_order(markets)


def _has_candles(context: Context, market: Market) -> bool:
    with closing(open_database(context.folder.database, readonly=True)) as db:
        return CandleStore(db).latest_open_time_ms(market) is not None


def _last_simulated(context: Context) -> Market | None:
    with closing(open_database(context.folder.database, readonly=True)) as db:
        return CandleStore(db).last_simulated()


def _summary(context: Context, spec: SessionSpec, progress: TerminalProgress, wall_s: float) -> dict[str, Any]:
    with closing(open_database(context.folder.database, readonly=True)) as db:
        spec = as_it_began(spec, RunStore(db))
        found = RunStore(db).find(spec.market, spec.fingerprint, spec.others)
        if found is None:
            raise UserError("The run ended before its first candle; nothing was learned.")
        summary = summary_of(db, found)
    rate = None if progress.status is None else progress.status.steps_per_s
    summary.get("pooled", summary).update(steps_per_s=rate, wall_s=round(wall_s, 3))
    return summary
