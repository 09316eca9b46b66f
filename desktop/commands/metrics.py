"""`ghostcandle metrics`: a run's numbers, from the database alone."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import click
from sqlite_utils import Database

from core.evaluation.pooled import summarise_together
from core.evaluation.summary import summarise
from core.storage.database import open_database
from core.storage.runs import Run, RunStore
from desktop.app.context import Context
from desktop.commands.options import common_options, print_json, with_stored_context
from desktop.commands.text import print_summary

_OF_FIRST_MARKET = ("steps", "loss", "checkpoints")
"""Figures recorded with the first of several markets."""


@click.command()
@click.option("--run", "run_id", help="The run's id. Default: the newest run.")
@common_options
@with_stored_context
def metrics(context: Context, run_id: str | None) -> None:
    """Show a run's results so far: losses, accuracy, skill, checkpoints, incidents.

    Of a model of several markets it shows all of them, or with the id of one other than the first that market.
    """
    with closing(open_database(context.folder.database, readonly=True)) as db:
        run = RunStore(db).chosen(run_id)
        summary = summary_of(db, run)
    print_json(summary) if context.as_json else print_summary(summary)


def summary_of(db: Database, run: Run) -> dict[str, Any]:
    """The summary of a run; for the head of several markets, of all of them."""
    members = RunStore(db).members(run.head_id)
    if run.head_id == run.run_id and len(members) > 1:
        horizons = json.loads(run.settings_json)["model"]["horizons"]
        return summarise_together(db, {str(each.market): each for each in members}, horizons)
    summary = summarise(db, run)
    if run.head_id != run.run_id:
        summary = {name: found for name, found in summary.items() if name not in _OF_FIRST_MARKET}
        summary["head_run_id"] = run.head_id
    return summary
