"""The job that runs a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop.jobs.job_commands import Order, command_line
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate

PLAN_NAME = "SWEEP.toml"


def sweep_order(folder: Path, name: str) -> Order:
    """Run the plan in this folder; cells that have ended are not run again."""
    return Order(
        translate("Sweeps", "Sweep {0}").format(name),
        command_line("sweep", [folder / PLAN_NAME], folder=str(folder)),
        _summarise,
        cancelled=translate("Sweeps", "Cells that have ended are kept; Continue runs the others."),
        works_aside=True,
        has_own_page=True,
    )


def _summarise(summary: Mapping[str, Any]) -> str:
    done, cells = format_count(int(summary["done"])), format_count(int(summary["cells"]))
    text = translate("Sweeps", "{0} of {1} cells done.").format(done, cells)
    failed = dict(summary["failed"])
    if not failed:
        return text
    first = next(iter(failed.values()))
    faults = translate("Sweeps", "{0} failed, the first with: {1}").format(format_count(len(failed)), first)
    return f"{text} {faults}"
