"""`ghostcandle evaluate FILE`: the live session over a candle file, in order, no second pass."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import click

from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.training.evaluation import evaluate_run
from desktop.commands.headless import run_headless
from desktop.commands.options import Context, common_options, print_json, with_context
from desktop.commands.text import print_summary


@click.command()
@click.argument("candle_file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--candles", "count", type=click.IntRange(1), help="Only the first so many candles.")
@common_options
@with_context
def evaluate(context: Context, candle_file: Path, count: int | None) -> None:
    """Run the session over FILE exactly as it runs live, and score it. Nothing of it stays in the data folder.

    Without --seed the seed is 0, so that two evaluations agree.
    """
    settings = context.settings
    seed = 0 if settings.training.seed is None else settings.training.seed
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        replayed = dataclasses.replace(
            context,
            settings=dataclasses.replace(
                settings,
                market=dataclasses.replace(settings.market, feed="replay", file=str(candle_file), speed=0.0),
                training=dataclasses.replace(settings.training, seed=seed),
            ),
            folder=DataFolder(Path(folder)),
            candles=count,
        )
        replayed.folder.ensure()
        summary = {"file": candle_file.name, **run_headless(replayed)}
        summary |= _evaluated(replayed, summary["run_id"])
    print_json(summary) if context.as_json else print_summary(summary)


def _evaluated(context: Context, run_id: str) -> dict[str, Any]:
    db = open_database(context.folder.database, readonly=True)
    try:
        run = RunStore(db).get(run_id)
        return evaluate_run(db, run, context.settings.model.horizons)
    finally:
        db.close()
