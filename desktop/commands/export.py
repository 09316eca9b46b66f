"""`ghostcandle export`: stored candles into a file that `import` reads back bit for bit, or a run's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from core.domain.candle import Market
from core.domain.events import JobProgress
from core.domain.spans import TimeSpan
from core.market.history.errors import HistoryError
from core.market.history.export import export_candles
from core.market.history.utc_times import parse_moment
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.errors import UserError
from desktop.commands.history_store import stored_candles
from desktop.commands.market_options import market_options, read_interval
from desktop.commands.options import common_options, print_json, with_stored_context

_ALL_TIME = TimeSpan(0, 2**62)
_USAGE = 2
_TABLES = ("forecasts", "scores", "steps", "checkpoints")


@click.command("export")
@click.argument("target", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@market_options(is_required=False)
@click.option("--since", help="Candles that open at this time or later: 2024-01-31, UTC unless a zone is named.")
@click.option("--until", help="Only candles that open before this time.")
@click.option("--forecasts", is_flag=True, help="Instead of candles: a run's forecasts.")
@click.option("--scores", is_flag=True, help="The scores of its forecasts.")
@click.option("--steps", is_flag=True, help="Its training steps.")
@click.option("--checkpoints", is_flag=True, help="Its kept checkpoints.")
@click.option("--run", "run_id", help="The run of these tables. Default: the newest.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="File format of these tables.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@common_options
@with_stored_context
def export(context: Context, target: Path, overwrite: bool, **options: Any) -> None:
    """Write stored candles as CSV, .csv.gz, Feather or Parquet, as FILE's ending says; or tables of a run into FOLDER,
    a file each. A window may be open."""
    tables = [name for name in _TABLES if options[name]]
    of_market = ("of_venue", "of_symbol", "of_interval", "since", "until")
    if tables and any(options[name] is not None for name in of_market):
        raise UserError("A run's tables are exported whole: name the run with --run, and no market or time.", _USAGE)
    if tables:
        _export_tables(context, target, tables, overwrite, options)
    elif any(options[name] is None for name in of_market[:3]):
        raise UserError(
            "Say what to export: candles with --venue, --symbol and --interval, or a run's tables with "
            f"{', '.join(f'--{name}' for name in _TABLES)}.",
            _USAGE,
        )
    else:
        _export_candles(context, target, overwrite, options)


def _export_tables(context: Context, folder: Path, names: list[str], overwrite: bool, options: dict[str, Any]) -> None:
    from core.run_data.files import export_tables  # noqa: PLC0415 - pandas takes a moment to load
    from core.run_data.reader import open_run  # noqa: PLC0415

    with open_run(context.folder.root, options["run_id"]) as data:
        written = export_tables(data, names, folder, options["format"], overwrites=overwrite)
        run_id, damaged = data.run.run_id, data.damaged_rows
    if context.as_json:
        rows = {name: count for name, count in zip(names, written.values(), strict=True)}
        files = {name: str(path) for name, path in zip(names, written, strict=True)}
        print_json({"run_id": run_id, "files": files, "rows": rows, "damaged_rows": damaged})
        return
    for path, count in written.items():
        click.echo(f"{count:,} rows of run {run_id} written to {path}.")
    if damaged:
        click.echo(f"{damaged:,} damaged rows were left out.", err=True)


def _export_candles(context: Context, file: Path, overwrite: bool, options: dict[str, Any]) -> None:
    interval = read_interval(options["of_interval"])
    assert interval is not None, "it was looked at"
    market = Market(options["of_venue"], options["of_symbol"], interval)
    since, until = options["since"], options["until"]
    span = TimeSpan(
        _ALL_TIME.first_ms if since is None else parse_moment(since),
        _ALL_TIME.stop_ms if until is None else parse_moment(until),
    )
    title = f"Writing {file.name}"
    with (
        stored_candles(context.folder) as store,
        TerminalProgress(is_shown=not context.as_json, lines=context.lines) as progress,
    ):
        if store is None:
            raise HistoryError(f"Nothing is stored in {context.folder.root} yet.")

        def show_progress(done: int) -> None:
            progress.apply(JobProgress(title, title, done, 0))

        count = export_candles(store, market, span, file, overwrites=overwrite, on_progress=show_progress)
    if context.as_json:
        named = {"venue": market.venue, "symbol": market.symbol, "interval": options["of_interval"]}
        print_json({"file": str(file), **named, "candles": count})
    else:
        click.echo(f"{count:,} candles of {market} written to {file}.")
