"""`ghostcandle metrics`: a run's numbers, from the database alone."""

from __future__ import annotations

import click

from core.evaluation.summary import summarise
from core.storage.database import open_database
from core.storage.runs import Run, RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, print_json, with_context
from desktop.commands.text import print_summary


@click.command()
@click.option("--run", "run_id", help="The run's id; the newest without it.")
@common_options
@with_context
def metrics(context: Context, run_id: str | None) -> None:
    """Show what a run has achieved so far: losses, accuracy, skill, checkpoints, incidents."""
    db = open_database(context.folder.database, readonly=True)
    try:
        run = _chosen(RunStore(db), run_id)
        summary = summarise(db, run)
    finally:
        db.close()
    print_json(summary) if context.as_json else print_summary(summary)


def _chosen(runs: RunStore, run_id: str | None) -> Run:
    if run_id is not None:
        return runs.get(run_id)
    known = runs.list()
    if not known:
        raise UserError("There is no run in this data folder yet. Start one with: ghostcandle headless --feed simulate")
    return known[0]
