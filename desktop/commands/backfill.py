"""`ghostcandle backfill`: fetch a market's missing candles from its exchange."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import partial

import click

from core.domain.candle import Market
from core.domain.clock import SystemClock
from core.domain.counts import counted
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.utc_times import moment_text, parse_moment
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.errors import INTERRUPTED, UserError
from desktop.commands.history_store import open_history
from desktop.commands.market_options import market_options, read_interval, require_exchange
from desktop.commands.options import common_options, print_json, with_context

_REQUEST_S = 20.0


@click.command("backfill")
@market_options(is_required=True, is_fetched=True)
@click.option("--since", required=True, help="Candles that open at this time or later: 2024-01-31, UTC.")
@click.option("--until", help="Only candles that open before this time. Default: up to the newest closed one.")
@click.option("--ask-again", is_flag=True, help="Also request candles that the exchange did not have before.")
@common_options
@with_context
def backfill(
    context: Context, of_venue: str, of_symbol: str, of_interval: str, since: str, until: str | None, ask_again: bool
) -> None:
    """Fetch the candles that are missing since --since, inner holes included, and store them page by page.

    Can be stopped at any time; the same command continues from there. Candles that the exchange does not have are
    remembered.
    """
    interval = read_interval(of_interval)
    assert interval is not None, "the option is required"
    market = Market(of_venue, of_symbol, interval)
    require_exchange(market)
    span_ms = parse_moment(since), None if until is None else parse_moment(until)
    title = f"Fetching {market}"
    with (
        TerminalProgress(is_shown=not context.as_json, lines=context.lines) as progress,
        open_history(context, "backfill", title, progress) as history,
    ):
        open_venue = partial(CcxtVenue, market, context.urls, _REQUEST_S)
        job = Backfill(market, history.store, history.holes, history.writer, SystemClock(), open_venue, history)
        report = asyncio.run(_run(job, span_ms, ask_again))
    if context.as_json:
        named = {"venue": market.venue, "symbol": market.symbol, "interval": str(market.interval)}
        fields = dataclasses.asdict(report)
        print_json({**named, **fields.pop("span"), **fields})
    else:
        click.echo(_sentence(market, report))


async def _run(job: Backfill, span_ms: tuple[int, int | None], asks_again: bool) -> BackfillReport:
    task = asyncio.ensure_future(job.run(*span_ms, retries_absent=asks_again))
    try:
        with stopped_by_signals(task.cancel):
            return await task
    except asyncio.CancelledError:
        raise UserError(
            f"Stopped. {job.stored:,} candles have come and are stored; the same command continues from there.",
            INTERRUPTED,
        ) from None


def _sentence(market: Market, report: BackfillReport) -> str:
    span = f"{moment_text(report.span.first_ms)} to {moment_text(report.span.stop_ms)} UTC"
    if report.wanted == 0:
        parts = [f"Nothing was missing of {market}, {span}."]
    else:
        parts = [f"{report.stored:,} of {report.wanted:,} missing candles of {market} stored, {span}."]
    if report.all_absent:
        now = f" ({report.absent:,} newly found)" if report.absent else ""
        stay = "it stays" if report.all_absent == 1 else "they stay"
        parts.append(f"The exchange does not have {counted(report.all_absent, 'candle')}{now}; {stay} missing.")
    if report.out_of_reach:
        parts.append(
            f"{report.out_of_reach:,} lie before the first candle that the exchange lists, so they cannot be fetched, "
            "and may exist nevertheless. Import files of them instead, of candles or trades."
        )
    left = report.left - report.out_of_reach
    if left:
        why = ", ".join(f"{count:,} ({why})" for why, count in report.rejected.items())
        parts.append(f"{left:,} are still missing; rejected: {why or 'none'}. The same command asks again.")
    return " ".join(parts)
