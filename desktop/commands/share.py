"""`ghostcandle share FILE.html`: a run's record as one page to share."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from core.evaluation.report.page import shared_page
from core.evaluation.sharing import read_shared
from core.files.durable import write_durably
from core.market.shown_names import shown_market
from core.storage.database import open_database
from core.storage.runs import RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.evaluate import check_page
from desktop.commands.options import common_options, print_json, with_stored_context


@click.command()
@click.argument("target", metavar="FILE.html", type=click.Path(path_type=Path))
@click.option("--run", "run_id", help="The run's id. Default: the newest run.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@common_options
@with_stored_context
def share(context: Context, target: Path, run_id: str | None, overwrite: bool) -> None:
    """Write a run's record as one page: market, model, results with their intervals, charts, incidents, and how to
    reproduce it. The page has no script, loads nothing, and shows no path of this machine. Works while a window is
    open."""
    check_page("FILE.html", target)
    if target.exists() and not overwrite:
        raise UserError(f"{target} exists already. Name another file, or add --overwrite.", 2)
    with closing(open_database(context.folder.database, readonly=True)) as db:
        run = RunStore(db).chosen(run_id)
        root, home = context.folder.root, Path.home()
        # The home of some containers is "/", which is in BTC/USDT too.
        private = [str(path) for path in (root.resolve(), root, home.resolve(), home) if path != path.parent]
        trade_cost = context.settings.paper.of_a_trade
        text = shared_page(read_shared(db, run, trade_cost, private))
    try:
        write_durably(target, text.encode(), is_private=False)
    except OSError as error:
        raise UserError(f"{target} could not be written ({error.strerror or error}). Name another file.") from error
    if context.as_json:
        print_json({"file": str(target), "run_id": run.run_id, "market": str(run.market)})
    else:
        click.echo(f"The page of run {run.run_id} ({shown_market(run.market)}) was written to {target}.")
