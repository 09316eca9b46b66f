"""`ghostcandle import FILE...`: candle and trade files into the database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from core.domain.candle import FILE_VENUE, Market
from core.domain.clock import SystemClock
from core.domain.plain_text import plain
from core.domain.time_zones import find
from core.market.history.candle_table import CandleTable, ReadOptions
from core.market.history.errors import CandleFileError, HistoryError, UnnamedMarketError
from core.market.history.forms.form import Stamp
from core.market.history.guess_market import suggested_symbol, symbol_of, venue_of
from core.market.history.import_plan import ImportPlan, plan_import
from core.market.history.read import read_candle_table
from core.market.symbols import known_venues
from core.storage.candles import CandleStore
from core.storage.folder import DataFolder
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.history_store import HistoryAccess, open_history, stored_candles
from desktop.commands.import_text import contents, print_forms
from desktop.commands.market_options import market_options, read_interval, require_known_venue
from desktop.commands.options import common_options, print_json, with_context
from desktop.commands.text import print_pairs

_NO_ZONES = ("local", "exchange")
"""These are zones for the chart alone."""


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@market_options(is_required=False)
@click.option("--form", metavar="NAME", help="Known form that the file has. [default: as recognised]")
@click.option("--forms", is_flag=True, help="List the known forms, and read no file.")
@click.option(
    "--stamp",
    type=click.Choice([each.value for each in Stamp]),
    help="What a candle's time marks. [default: as recognised]",
)
@click.option("--time-zone", help="Of times that name none, such as Europe/Berlin. [default: the form's, or UTC]")
@click.option("--skip-invalid", is_flag=True, help="Leave out bad rows, however many.")
@click.option("--replace", is_flag=True, help="Overwrite stored candles that differ.")
@click.option("--dry-run", is_flag=True, help="Show what would be done; store nothing.")
@common_options
def import_candles(files: tuple[Path, ...], *, forms: bool, **options: Any) -> None:
    """Read candles from CSV or JSON (also in .gz, .zip and .zst), Feather or Parquet; trades become candles of
    --interval.

    Name what the file's name and rows do not show, except for a dry run. Each file is stored whole or not at all;
    candles that are stored already stay as they are. Exit code 1 if a file cannot be used.
    """
    if forms:  # makes no data folder
        print_forms(as_json=options["as_json"])
    elif files:
        _import_files(files=files, **options)
    else:
        raise click.MissingParameter(param_type="argument", param_hint="FILE...")


@with_context
def _import_files(context: Context, files: tuple[Path, ...], dry_run: bool, **options: Any) -> None:
    problems: list[str] = []
    with TerminalProgress(is_shown=not context.as_json, lines=context.lines) as progress:
        if dry_run:
            results, problems = _preview_files(files, options, context.folder)
        else:
            results = _import_each(files, options, context, progress)
    if context.as_json:
        print_json({"files": results, "is_dry_run": dry_run, **({"errors": problems} if problems else {})})
    else:
        for report in results:
            rows = contents(report, is_dry_run=dry_run, replaces=options["replace"])
            print_pairs(((name, plain(text)) for name, text in rows), plain(report["file"]))
        for sentence in problems:
            click.echo(sentence, err=True)
    if problems:
        raise SystemExit(1)


def _preview_files(
    files: tuple[Path, ...], options: dict[str, Any], folder: DataFolder
) -> tuple[list[dict[str, Any]], list[str]]:
    """The contents of each file, and a sentence for each that cannot be used. Raises StorageError."""
    results, problems = [], []
    with stored_candles(folder) as store:
        for file in files:
            try:
                results.append({**_preview(file, options, store), "stored": 0})
            except (CandleFileError, HistoryError) as error:
                problems.append(str(error))
    return results, problems


def _preview(file: Path, options: dict[str, Any], store: CandleStore | None) -> dict[str, Any]:
    """The content of one file. If its market is unknown, it is compared with nothing, and the missing names are
    listed."""
    try:
        return _plan(file, options, store).describe()
    except UnnamedMarketError:
        table = _table(file, options)
        asked: dict[str, str] = {}
        named_market: dict[str, str | None] = {"venue": None, "symbol": None}
        finders: tuple[tuple[str, Callable[[], str]], ...] = (
            ("venue", lambda: venue_of(file, options["of_venue"], known_venues())),
            ("symbol", lambda: symbol_of(file, options["of_symbol"], table.symbol)),
        )
        for name, find in finders:
            try:
                named_market[name] = find()
            except UnnamedMarketError as unnamed:
                asked[name] = str(unnamed)
        market = Market(FILE_VENUE, file.name, table.interval)  # it only lends its interval
        found = plan_import(table, market, None, SystemClock().now_ms(), replaces=False).describe()
        return {
            **found,
            **named_market,
            **dict.fromkeys(("new", "same", "different")),
            "unnamed": asked,
            "suggestion": suggested_symbol(file),
        }


def _import_each(
    files: tuple[Path, ...], options: dict[str, Any], context: Context, progress: TerminalProgress
) -> list[dict[str, Any]]:
    """A file that cannot be used ends the command; earlier files stay imported and are listed."""
    results: list[dict[str, Any]] = []
    with open_history(context, "candle import", "Importing candles", progress) as history:
        for file in files:
            try:
                results.append(_import(file, options, history))
            except (CandleFileError, HistoryError) as error:
                kept = f" Imported before it: {', '.join(report['file'] for report in results)}." if results else ""
                raise HistoryError(f"{error}{kept}") from error
            if not context.as_json and file is not files[-1]:
                progress.say(f"{file.name}: {results[-1]['stored']:,} candles stored.")
    return results


def _plan(file: Path, options: dict[str, Any], store: CandleStore | None) -> ImportPlan:
    """Read the file and compare it. Raises CandleFileError, HistoryError and StorageError."""
    named = options["of_venue"]
    venue = venue_of(file, named, known_venues() if named is None else ())
    table = _table(file, options)
    market = Market(venue, symbol_of(file, options["of_symbol"], table.symbol), table.interval)
    require_known_venue(market, store)
    return plan_import(table, market, store, SystemClock().now_ms(), replaces=options["replace"])


def _table(file: Path, options: dict[str, Any]) -> CandleTable:
    """Raises CandleFileError and HistoryError."""
    zone = options["time_zone"]
    return read_candle_table(
        file,
        ReadOptions(
            interval=read_interval(options["of_interval"]),
            zone=None if zone is None else _zone(zone),
            zone_name=zone,
            form=options["form"],
            stamp=None if options["stamp"] is None else Stamp(options["stamp"]),
            skips_invalid=options["skip_invalid"],
        ),
    )


def _import(file: Path, options: dict[str, Any], history: HistoryAccess) -> dict[str, Any]:
    plan = _plan(file, options, history.store)
    rows, title = plan.to_store, f"Storing {file.name}"
    show = lambda done: history.show(done, len(rows), title)  # noqa: E731
    stored = history.writer.put(plan.market, rows, replaces=plan.replaces, on_progress=show) if len(rows) else 0
    return {**plan.describe(), "stored": stored}


def _zone(name: str) -> tzinfo:
    try:
        zone = None if name in _NO_ZONES else find(name)
    except ValueError as error:
        raise HistoryError(f"'{name}' is not a time zone; name one as in --time-zone Europe/Berlin.") from error
    if zone is None:  # a fixed offset of today would mix up summer and winter
        raise HistoryError(f"Name the zone, as in --time-zone Europe/Berlin; '{name}' is not the same everywhere.")
    return zone
