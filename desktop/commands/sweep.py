"""`ghostcandle sweep SWEEP.toml`: many evaluations, on this machine or on a Dask cluster."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.domain.clock import SystemClock
from core.sweeps import estimate
from core.sweeps.errors import SweepError
from core.sweeps.grid import extent_of
from core.sweeps.model_check import check_device, check_own_models
from core.sweeps.ownership import owned
from core.sweeps.rows import CellState
from core.sweeps.runner import SweepRunner
from core.sweeps.start import Draft, begin, draft_of
from core.sweeps.store import SweepStore
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.commands.errors import INTERRUPTED, UserError
from desktop.commands.options import common_options, print_json, with_context, with_stored_context
from desktop.commands.sweep_output import SweepOutput, print_outlook, print_result
from desktop.commands.sweep_verdict import judge_and_report, print_verdict

if TYPE_CHECKING:
    from core.sweeps.executor import Executor
    from core.sweeps.proposals import Proposals

_RUN = "run"


class _PlanFirst(click.Group):
    """`sweep SWEEP.toml` is `sweep run SWEEP.toml`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_PlanFirst)
def sweep() -> None:
    """Evaluate models and settings on many files: `ghostcandle sweep SWEEP.toml`.

    The plan names files, models, settings and seeds. A sweep that was stopped continues where it was.
    """


@sweep.command(_RUN)
@click.argument("plan", metavar="SWEEP.toml", type=click.Path(path_type=Path))
@click.option("--folder", type=click.Path(path_type=Path), help="Where the sweep's table is, and what continues it.")
@click.option("--workers", type=click.IntRange(1, 4096), help="Processes on this machine. Default: one a core.")
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Use the workers of this Dask scheduler.")
@click.option("--pool", is_flag=True, help="Use the standard library's processes, also where Dask is installed.")
@click.option("--dry-run", is_flag=True, help="Check the plan, and say how many cells, how long and how much disk.")
@click.option("--retry-failed", is_flag=True, help="Run the failed cells of an earlier start again.")
@common_options
@with_context
def run(
    context: Context,
    plan: Path,
    folder: Path | None,
    workers: int | None,
    scheduler: str | None,
    pool: bool,
    dry_run: bool,
    retry_failed: bool,
) -> None:
    """Run the cells of the plan that have not ended. Ctrl+C stops within seconds; the same command continues.

    Without --folder the results are in the data folder, under the plan's name.
    """
    _refuse_options(workers, scheduler, pool)
    draft, chosen = draft_of(plan, context.settings), folder or context.folder.sweeps / plan.stem
    count = workers or os.cpu_count() or 1
    if retry_failed and draft.plan.budget is not None:
        raise UserError(
            "--retry-failed is not for a plan with a budget: what Optuna proposed later rests on the failures. Begin "
            "another sweep with --folder.",
            2,
        )
    if dry_run:
        _report_outlook(context, draft, chosen, count, scheduler)
        return
    if scheduler is None and draft.plan.device != "cpu":
        check_device(draft.plan.device)
    with owned(chosen), SweepStore(chosen) as store:
        output = SweepOutput(context.lines, is_shown=not context.as_json)
        stop = threading.Event()
        with stopped_by_signals(stop.set):
            if store.head() is None:
                check_own_models(draft, SystemClock(), output.start_part)
            _run(context, draft, store, output, stop, _Place(count, scheduler, pool), retry_failed)
        result = _result(store, stop.is_set())
        _store_rate(context, store)
    if not result["stopped"]:
        result |= judge_and_report(chosen)
    print_json(result) if context.as_json else print_result(result)
    if result["stopped"]:
        raise UserError(f"Stopped. The same command continues the sweep in {chosen}.", INTERRUPTED)


class _Place:
    """Where the cells are computed."""

    def __init__(self, workers: int, scheduler: str | None, is_pool: bool) -> None:
        self.workers, self.scheduler, self.is_pool = workers, scheduler, is_pool


def _run(
    context: Context,
    draft: Draft,
    store: SweepStore,
    output: SweepOutput,
    stop: threading.Event,
    place: _Place,
    retries: bool,
) -> None:
    head = begin(store, draft)
    draft = replace(draft, base=head.base)  # the user's settings may have changed since it began
    if retries:
        store.mark([row.number for row in store.read_cells() if row.state is CellState.FAILED], CellState.WAITING)
    proposals = _proposals(store, draft)
    if stop.is_set():
        return
    executor = _executor(draft, place, output)
    try:
        SweepRunner(store, head, draft.models, executor, proposals, output.show).run(stop.is_set)
    finally:
        executor.close()


def _refuse_options(workers: int | None, scheduler: str | None, is_pool: bool) -> None:
    given = click.get_current_context().get_parameter_source
    for name, where in (("seed", "seeds"), ("device", "device")):
        if given(name) is not click.core.ParameterSource.DEFAULT:
            raise UserError(f"--{name} is no option of a sweep: its plan names it under {where}.", 2)
    if scheduler is not None and (workers is not None or is_pool):
        raise UserError("--scheduler uses the workers that it has; leave out --workers and --pool.", 2)


def _proposals(store: SweepStore, draft: Draft) -> Proposals:
    if draft.plan.budget is None:
        from core.sweeps.proposals import NoProposals  # noqa: PLC0415 - one of the two

        return NoProposals()
    if find_spec("optuna") is None:
        raise SweepError(
            "budget needs Optuna, which is not installed. Install it with `pip install 'ghostcandle[sweeps]'`, or "
            "leave out budget for a grid."
        )
    from core.sweeps.guided import GuidedProposals  # noqa: PLC0415 - Optuna, an extra

    return GuidedProposals(store, draft)


def _executor(draft: Draft, place: _Place, output: SweepOutput) -> Executor:
    """Dask if it is installed or a scheduler is named, else the standard library."""
    from core.sweeps.cluster_check import has_dask  # noqa: PLC0415 - as below

    if place.scheduler is None and (place.is_pool or not has_dask()):
        if draft.plan.device != "cpu":
            place.workers = 1  # one process has the GPU
        from core.sweeps.pool import LocalPool  # noqa: PLC0415 - one of the two

        return LocalPool(place.workers)
    if not has_dask():
        raise SweepError(
            "--scheduler needs Dask, which is not installed. Install it with `pip install 'ghostcandle[cluster]'`."
        )
    from core.sweeps.cluster import open_cluster  # noqa: PLC0415 - Dask, an extra

    return open_cluster(draft, place.scheduler, place.workers, output.say)


def _report_outlook(context: Context, draft: Draft, folder: Path, workers: int, scheduler: str | None) -> None:
    configurations = draft.plan.budget or len(draft.configurations)
    extent = extent_of(draft.plan, configurations, draft.files)
    rate, ended = None, 0
    if (folder / "sweep.sqlite").exists():
        with SweepStore(folder, readonly=True) as store:
            rows = store.read_cells()
        rate = estimate.rate_of(rows)
        ended = sum(row.state in (CellState.DONE, CellState.FAILED) for row in rows)
    rate = rate or estimate.stored_rate(context.folder.sweeps)
    left = extent.candles * max(extent.cells - ended, 0) // max(extent.cells, 1)
    outlook: dict[str, Any] = {
        "folder": str(folder),
        "files": [file.name for file in draft.files],
        "configurations": extent.configurations,
        "cells": extent.cells,
        "ended": ended,
        "candles": extent.candles,
        "workers": None if scheduler else workers,
        "seconds": estimate.seconds_for(left, 1 if scheduler else min(workers, extent.cells), rate),
        "seconds_are": rate.source,
        "table_bytes": estimate.table_bytes(extent),
        "temporary_bytes": estimate.temporary_bytes(extent, workers),
    }
    print_json(outlook) if context.as_json else print_outlook(outlook)


def _result(store: SweepStore, is_stopped: bool) -> dict[str, Any]:
    rows = store.read_cells()
    failed = [row for row in rows if row.state is CellState.FAILED]
    done = sum(row.state is CellState.DONE for row in rows)
    return {
        "folder": str(store.path.parent),
        "cells": len(rows),
        "done": done,
        "failed": {row.number: row.sentence for row in failed},
        "stopped": is_stopped and done + len(failed) < len(rows),
        "digest": store.digest(),
    }


def _store_rate(context: Context, store: SweepStore) -> None:
    rate = estimate.rate_of(store.read_cells())
    if rate is not None:
        try:
            estimate.store_rate(context.folder.sweeps, rate)
        except OSError as error:
            click.echo(f"The rate for later estimates was not stored ({error.strerror}).", err=True)


@sweep.command("report")
@click.argument("folder", type=click.Path(path_type=Path))
@common_options
@with_context
def report(context: Context, folder: Path) -> None:
    """Judge the sweep in FOLDER, also while it is running, and write its page, report.html, there."""
    found = judge_and_report(folder)
    print_json(found) if context.as_json else print_verdict(found)


@sweep.command("export")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--losses", is_flag=True, help="The losses of every candle too.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="File format.")
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
@common_options
@with_stored_context
def export(context: Context, folder: Path, target: Path, losses: bool, format: str, overwrite: bool) -> None:
    """Write the table of the sweep in FOLDER to files in TARGET: cells, and with --losses the loss of each candle."""
    from core.sweeps.export import export_sweep  # noqa: PLC0415 - pandas takes a moment to load

    with SweepStore(folder, readonly=True) as store:
        written = export_sweep(store, target, format, with_losses=losses, overwrites=overwrite)
    if context.as_json:
        rows = {path.stem: count for path, count in written.items()}
        print_json({"files": {path.stem: str(path) for path in written}, "rows": rows})
        return
    for path, count in written.items():
        click.echo(f"{count:,} rows written to {path}.")
