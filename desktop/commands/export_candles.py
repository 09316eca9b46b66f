"""`ghostcandle export FILE`: stored candles into a file that `ghostcandle import` reads back bit for bit."""

from __future__ import annotations

from pathlib import Path

import click

from core.domain.candle import Market
from core.domain.events import EventBatch, JobProgress
from core.domain.spans import TimeSpan
from core.market.history.errors import HistoryError
from core.market.history.exporting import export_candles as export
from core.market.history.moments import parse_moment
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.history_store import stored_candles
from desktop.commands.market_options import market_options, read_interval
from desktop.commands.options import common_options, print_json, with_context

_ALL_TIME = TimeSpan(0, 2**62)


@click.command("export")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@market_options(is_required=True)
@click.option("--since", help="The first candle opens then or later: 2024-01-31, UTC unless a zone is named.")
@click.option("--until", help="All candles open before.")
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@common_options
@with_context
def export_candles(
    context: Context,
    target: Path,
    of_venue: str,
    of_symbol: str,
    of_interval: str,
    since: str | None,
    until: str | None,
    overwrite: bool,
) -> None:
    """Write stored candles as CSV, .csv.gz, Feather or Parquet, as FILE's ending says. A window may be open."""
    interval = read_interval(of_interval)
    assert interval is not None, "the option is required"
    market = Market(of_venue, of_symbol, interval)
    span = TimeSpan(
        _ALL_TIME.first_ms if since is None else parse_moment(since),
        _ALL_TIME.stop_ms if until is None else parse_moment(until),
    )
    title = f"Writing {target.name}"
    with (
        stored_candles(context.folder) as store,
        TerminalProgress(is_shown=not context.as_json, lines=context.lines) as progress,
    ):
        if store is None:
            raise HistoryError(f"Nothing is stored in {context.folder.root} yet.")

        def show_progress(done: int) -> None:
            progress.take_batch(EventBatch((JobProgress(title, title, done, 0),)))

        count = export(store, market, span, target, overwrites=overwrite, on_progress=show_progress)
    if context.as_json:
        print_json(
            {"file": str(target), "venue": of_venue, "symbol": of_symbol, "interval": of_interval, "candles": count}
        )
    else:
        click.echo(f"{count:,} candles of {market} written to {target}.")
