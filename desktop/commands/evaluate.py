"""`ghostcandle evaluate FILE`: the live session over a candle file, in order, no second pass."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from core.domain.candle import Interval
from core.evaluation.details import evaluate_run, timeline_of
from core.evaluation.report.page import page
from core.files.durable import write_durably
from core.storage.database import open_database
from core.storage.runs import RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError, wrong_usage
from desktop.commands.evaluate_together import evaluate_together
from desktop.commands.evaluation_run import run_over
from desktop.commands.inside_option import inside_option
from desktop.commands.options import NumberRange, common_options, model_option, print_json, with_context
from desktop.commands.start_from import find, starting_point
from desktop.commands.text import print_evaluation, print_together

_BASIS_POINT = 1e-4


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--together", is_flag=True, help="One model learns all files; each is judged, and all as one.")
@click.option("--candles", "count", type=click.IntRange(1), help="Use only the first N candles of each file.")
@inside_option("FILE", "insides")
@click.option(
    "--interval", "joined_to", help="Join the candles of each FILE to candles of this length, whose inside they are."
)
@click.option("--report", type=click.Path(path_type=Path), help="Write a page with plots to this file: OUT.html.")
@click.option("--checkpoint", help="Start from this checkpoint: its id, or the folder it was exported to.")
@click.option(
    "--frozen", is_flag=True, help="Do not train: keep the checkpoint's weights. Without it, training continues."
)
@click.option(
    "--trade-cost",
    "trade_cost_bp",
    type=NumberRange(0.0, 10_000.0),
    help="Cost of a trade in the paper score, in basis points of its value. Default: the settings' fee, half the "
    "spread and slippage.",
)
@click.option("--count-seen", is_flag=True, help="Also score candles that the checkpoint may have learned from.")
@model_option
@common_options
@with_context
def evaluate(
    context: Context,
    files: tuple[Path, ...],
    together: bool,
    count: int | None,
    insides: tuple[str, ...],
    joined_to: str | None,
    report: Path | None,
    checkpoint: str | None,
    frozen: bool,
    count_seen: bool,
    trade_cost_bp: float | None,
) -> None:
    """Run the session over FILE exactly as it runs live, and score it. Stores nothing in the data folder.

    Without --seed the seed is 0, so that two evaluations agree.
    """
    context = _joining(context, joined_to, insides)
    trade_cost = context.settings.paper.of_a_trade if trade_cost_bp is None else _BASIS_POINT * trade_cost_bp
    if together:
        if report is not None or checkpoint is not None or frozen or count_seen:
            raise UserError(
                "--together takes no --report, --checkpoint, --frozen or --count-seen; evaluate one file for those.", 2
            )
        found = evaluate_together(context, files, count, trade_cost, insides)
        print_json(found) if context.as_json else print_together(found)
        return
    if len(files) > 1:
        raise UserError("Several files need --together: one model then learns them all. Or give one file.", 2)
    (candle_file,) = files
    if report is not None:
        check_page("--report", report)
        if report.exists() and candle_file.exists() and report.samefile(candle_file):
            raise UserError(f"--report {report} is the candle file itself; name another file.", 2)
    if checkpoint is None and (frozen or count_seen):
        raise UserError("--frozen and --count-seen say how a --checkpoint is evaluated; name one.", 2)
    start, beginning = None, {}
    if checkpoint is not None:
        chosen = find(checkpoint, context.folder)
        context = dataclasses.replace(context, settings=chosen.settings_over(context.settings))
        start, description = starting_point(chosen, candle_file, count, counts_seen=count_seen, learns=not frozen)
        beginning = {"checkpoint": description}
    with run_over(context, files, count, start, insides) as (replayed, of_run):
        summary: dict[str, Any] = {"file": candle_file.name, **beginning, **of_run}
        with closing(open_database(replayed.folder.database, readonly=True)) as db:
            run, horizons = RunStore(db).get(summary["run_id"]), context.settings.model.horizons
            summary |= evaluate_run(db, run, horizons, trade_cost)
            timeline = None if report is None else timeline_of(db, run, horizons)
    print_json(summary) if context.as_json else print_evaluation(summary)
    if report is not None and timeline is not None:
        _write_report(report, page(summary, timeline))


def _joining(context: Context, length: str | None, insides: Sequence[str]) -> Context:
    """length: to which candles are joined, whatever the settings' own replay does. Raises UserError."""
    if length is not None and insides:
        raise UserError("--interval takes the inside of candles from FILE itself; leave out --inside.", 2)
    if length is not None:
        with wrong_usage(ValueError):
            Interval.parse(length)
    market = dataclasses.replace(context.settings.market, joined_to=length)
    return dataclasses.replace(context, settings=dataclasses.replace(context.settings, market=market))


def check_page(name: str, page: Path) -> None:
    """Check the page's path before many minutes of work. name: of the option or argument. Raises UserError."""
    if page.is_dir():
        raise UserError(f"{name} {page} is a folder; name a file to write the page to.", 2)
    if not page.parent.is_dir():
        raise UserError(f"{name} {page} cannot be written: there is no folder {page.parent}.", 2)
    if not os.access(page.parent, os.W_OK):
        raise UserError(f"{name} {page} cannot be written: nothing may be written to {page.parent}.", 2)
    if page.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"{name} {page} is a page: name a file that ends in .html.", 2)


def _write_report(report: Path, text: str) -> None:
    """The figures have been printed by now, so errors are reported on stderr alone."""
    try:
        write_durably(report, text.encode(), is_private=False)
    except OSError as error:
        click.echo(f"The report could not be written to {report}: {error.strerror}. The figures are above.", err=True)
        raise SystemExit(1) from error
