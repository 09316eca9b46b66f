"""`ghostcandle backups list|make|verify|restore`."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from core.domain.clock import SystemClock
from core.storage.backup_record import Backup, list_backups, verify
from core.storage.backups import make_backup
from core.storage.ownership import own
from core.storage.recovering import missing_data_notice, moment, restore
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, print_json, report_whole, with_stored_context
from desktop.commands.text import print_whole


@click.group()
def backups() -> None:
    """List, make and verify backups of the database, and go back to one."""


@backups.command("list")
@common_options
@with_stored_context
def list_(context: Context) -> None:
    """All backups, the newest first."""
    known = list_backups(context.folder.backups)
    if context.as_json:
        print_json({"backups": [_facts(backup) for backup in known]})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Backup", "Made", "Size", "Candles and steps"):
        table.add_column(title, justify="left" if title in ("Backup", "Made") else "right")
    for backup in known:
        record = backup.record
        size = f"{record.size_bytes / 1e6:.1f} MB"
        table.add_row(backup.name, moment(record.made_at_ms), size, f"{record.rows:,}")
    print_whole(table if known else "No backup yet.")


@backups.command("make")
@common_options
@with_stored_context
def make(context: Context) -> None:
    """Make one now. A window or a run may be open meanwhile."""
    if not context.folder.database.exists():
        raise UserError(f"There is no database at {context.folder.database} yet, so there is nothing to back up.")
    made = make_backup(context.folder, SystemClock(), context.settings.backups.keep)
    if context.as_json:
        print_json(_facts(made))
    else:
        click.echo(
            f"{made.folder}: verified, {made.record.size_bytes / 1e6:.1f} MB, {made.record.rows:,} candles and steps."
        )


@backups.command("verify")
@common_options
@with_stored_context
def verify_(context: Context) -> None:
    """Check every backup against its recorded SHA-256. Exit code 1 if one differs."""
    known = list_backups(context.folder.backups)
    faults = {backup.name: fault for backup in known if (fault := verify(backup)) is not None}
    report_whole(context, "backups", len(known), faults)


@backups.command("restore")
@click.argument("name", required=False)
@common_options
@with_stored_context
def restore_(context: Context, name: str | None) -> None:
    """Put a backup (the newest, unless NAME is given) in the place of the database, which is kept in quarantine.

    Close the window first.
    """
    with own(context.folder, "backups"):
        restored = restore(context.folder, _chosen(context, name), SystemClock().now_ms())
    if context.as_json:
        kept, until_ms = restored.kept, restored.lost_until_ms
        from_ms = None if until_ms is None else restored.backup.record.made_at_ms
        lost = {"lost_from_ms": from_ms, "lost_until_ms": until_ms}
        print_json({"restored": restored.backup.name, "kept": None if kept is None else str(kept), **lost})
        return
    click.echo(f"The backup of {moment(restored.backup.record.made_at_ms)} is the database now.")
    if restored.kept is not None:
        click.echo(f"The former one was kept as {restored.kept}.")
    click.echo(missing_data_notice(restored))


def _chosen(context: Context, name: str | None) -> Backup:
    known = list_backups(context.folder.backups)
    found = [backup for backup in known if name in (None, backup.name)]
    if not found:
        which = "no backup yet" if name is None else f"no backup '{name}'"
        raise UserError(f"There is {which} in {context.folder.backups}. See: ghostcandle backups list")
    return found[0]


def _facts(backup: Backup) -> dict[str, Any]:
    return {"name": backup.name, "folder": str(backup.folder), **backup.record.model_dump()}
