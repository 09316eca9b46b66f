"""`ghostcandle doctor`: check this machine, and say what to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from desktop.commands.doctor_findings import State, collect
from desktop.commands.options import common_options, data_folder, print_json

_STYLES = {State.OK: "green", State.WARN: "yellow", State.BAD: "red"}


@click.command()
@common_options
def doctor(as_json: bool, data_dir: Path | None, seed: int | None, device: str | None, progress_lines: bool) -> None:
    """Check Python, Qt, the display, torch, ccxt, the data folder and the database. Exit code 1 if one is bad.

    --seed and --progress-lines change nothing here.
    """
    findings = collect(data_folder(data_dir), device)  # a folder that cannot be written is a finding like the others
    ok = all(finding.state is not State.BAD for finding in findings)
    if as_json:
        print_json({"ok": ok, "findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for finding in findings:
            style = _STYLES[finding.state]
            table.add_row(Text(finding.state.value, style=style), finding.name, finding.what, finding.advice)
        Console(markup=False).print(table)
    if not ok:
        raise SystemExit(1)
