"""What a sweep prints while it runs, before and after."""

from __future__ import annotations

from typing import Any

import click

from core.domain.counts import counted
from core.sweeps.rows import CellRow, CellState
from core.sweeps.runner import SweepProgress
from desktop.app.progress_lines import ProgressLines
from desktop.commands.sweep_verdict import print_verdict

_TITLE = "Evaluating"
_MB = 1e6
_FAILURES_SHOWN = 10


class SweepOutput:
    """A line on stderr for each cell that ends; as JSON for the window."""

    def __init__(self, lines: ProgressLines | None, *, is_shown: bool) -> None:
        self._lines, self._is_shown = lines, is_shown and lines is None

    def start_part(self, title: str) -> None:
        if self._lines is not None:
            self._lines.start_part(title)
        elif self._is_shown:
            click.echo(f"{title} …", err=True)

    def say(self, sentence: str) -> None:
        if self._lines is not None:
            self._lines.say(sentence)
        elif self._is_shown:
            click.echo(sentence, err=True)

    def show(self, progress: SweepProgress, row: CellRow | None) -> None:
        ended = progress.done + progress.failed
        left = seconds_left(progress)
        if self._lines is not None:
            self._lines.progress(title=_TITLE, done=ended, total=progress.total, seconds_left=left)
        elif self._is_shown and row is not None:
            rest = "" if left is None or ended == progress.total else f", about {duration(left)} left"
            click.echo(f"{ended:,} of {progress.total:,}{rest}: {_ending(row)}", err=True)


def seconds_left(progress: SweepProgress) -> float | None:
    left = progress.total - progress.done - progress.failed
    return None if progress.seconds is None else left * progress.seconds / max(progress.slots, 1)


def _ending(row: CellRow) -> str:
    cell = f"{row.configuration.text} on {', '.join(row.files)}, seed {row.seed}"
    if row.state is CellState.FAILED:
        return f"{cell}: failed. {row.sentence}"
    return f"{cell}: {row.seconds:,.1f} s"


def print_outlook(outlook: dict[str, Any]) -> None:
    ended = f", of which {outlook['ended']:,} have ended" if outlook["ended"] else ""
    files, configurations = counted(len(outlook["files"]), "file"), counted(outlook["configurations"], "configuration")
    click.echo(f"{counted(outlook['cells'], 'cell')}{ended}: {configurations} on {files}.")
    where = "on one worker" if outlook["workers"] is None else f"on {counted(outlook['workers'], 'worker')}"
    click.echo(f"Time: about {duration(outlook['seconds'])} {where} ({outlook['seconds_are']}).")
    table, temporary = outlook["table_bytes"] / _MB, outlook["temporary_bytes"] / _MB
    click.echo(f"Disk: about {table:,.1f} MB in {outlook['folder']}, and {temporary:,.0f} MB while cells run.")


def print_result(result: dict[str, Any]) -> None:
    failed = result["failed"]
    click.echo(f"{counted(result['cells'], 'cell')}: {result['done']:,} done, {len(failed):,} failed.")
    for number, sentence in list(failed.items())[:_FAILURES_SHOWN]:
        click.echo(f"Cell {number}: {sentence}")
    if len(failed) > _FAILURES_SHOWN:
        click.echo(f"And {len(failed) - _FAILURES_SHOWN:,} more; `ghostcandle sweep export` lists them.")
    click.echo(f"The table is in {result['folder']}.")
    if "verdict" in result:
        print_verdict(result)


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h``, ``2.1 days``"""
    for unit, length, ends in (("s", 1.0, 90.0), ("min", 60.0, 90.0 * 60.0), ("h", 3600.0, 36.0 * 3600.0)):
        if seconds < ends:
            return f"{seconds / length:,.1f} {unit}" if unit == "h" else f"{max(seconds / length, 1.0):,.0f} {unit}"
    return f"{seconds / 86_400.0:,.1f} days"
