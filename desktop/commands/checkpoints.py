"""`ghostcandle checkpoints list|show|verify`."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import click
from rich.table import Table

from core.checkpoints.best import proven_gain
from core.checkpoints.weight_file import verify
from core.domain.checkpoint_info import NAMES_IN_EXPORTS, CheckpointInfo
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, print_json, report_whole, with_stored_context
from desktop.commands.text import print_whole


@click.group()
def checkpoints() -> None:
    """List, show and verify checkpoints."""


@checkpoints.command("list")
@common_options
@with_stored_context
def list_(context: Context) -> None:
    """All checkpoints of all runs, the newest run first, with what their models are proven to add."""
    known = _all(context.folder)
    if context.as_json:
        print_json({"checkpoints": [_data(info) for info in known]})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Checkpoint", "Step", "Reason", "Adds", "Loss", "Size", ""):
        table.add_column(title, justify="right" if title in ("Step", "Adds", "Loss", "Size") else "left")
    for info in known:
        flags = ", ".join(name for name, is_set in (("best", info.is_best), ("pinned", info.is_pinned)) if is_set)
        gain = proven_gain(info)
        adds = "–" if gain is None else f"{100 * gain:+.2f} %"
        loss = "–" if info.loss is None else f"{info.loss:.4f}"
        size = f"{info.size_bytes / 1e6:.1f} MB"
        table.add_row(info.checkpoint_id, f"{info.step:,}", info.reason, adds, loss, size, flags)
    print_whole(table if known else "No checkpoint yet.")


@checkpoints.command("show")
@click.argument("checkpoint_id")
@common_options
@with_stored_context
def show_(context: Context, checkpoint_id: str) -> None:
    """One checkpoint in full."""
    found = [info for info in _all(context.folder) if info.checkpoint_id == checkpoint_id]
    if not found:
        raise UserError(f"There is no checkpoint '{checkpoint_id}'. See: ghostcandle checkpoints list")
    data = _data(found[0])
    if context.as_json:
        print_json(data)
    else:
        for name, value in data.items():
            click.echo(f"{name.replace('_', ' '):<20} {'–' if value is None else value}")


@checkpoints.command("verify")
@common_options
@with_stored_context
def verify_(context: Context) -> None:
    """Compare every file with its recorded SHA-256. Exit code 1 if one differs."""
    known = _all(context.folder)
    faults = {info.checkpoint_id: verify(context.folder.absolute(info.file), info.sha256) for info in known}
    report_whole(context, "checkpoints", len(known), {id_: fault for id_, fault in faults.items() if fault})


def _data(info: CheckpointInfo) -> dict[str, object]:
    return {NAMES_IN_EXPORTS.get(name, name): value for name, value in dataclasses.asdict(info).items()}


def _all(folder: DataFolder) -> list[CheckpointInfo]:
    with closing(open_database(folder.database, readonly=True)) as db:
        rows = CheckpointRows(db)
        return [info for run in RunStore(db).list() for info in rows.list(run.run_id)]
