"""The verdict of a sweep in the terminal, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from desktop.commands.errors import UserError


def judge_and_report(folder: Path) -> dict[str, Any]:
    """The verdict, fit for JSON, and the path of the page, which is written. Takes seconds. Raises SweepError, and
    UserError if the page cannot be written."""
    from core.sweeps.report import read_figures, write_page  # noqa: PLC0415 - Jinja2 takes a moment to load

    figures = read_figures(folder)
    try:
        path = write_page(folder, figures)
    except OSError as error:
        raise UserError(f"The page cannot be written to {folder} ({error.strerror}). Check its disk.") from error
    verdict, labels = figures.verdict, figures.labels()
    return {
        "verdict": verdict.sentence,
        "notes": list(verdict.notes),
        "best": verdict.best,
        "is_better": verdict.is_better,
        "default": verdict.default,
        "any_better_p": verdict.any_better_p,
        "standings": [
            {
                "configuration": standing.configuration,
                "settings": labels[standing.configuration],
                "skill_first": standing.skill_first.value,
                "skill_second": standing.skill_second.value,
                "edge": standing.edge.value,
                "edge_ci95": standing.edge.ci95,
                "in_set": standing.in_set,
            }
            for standing in verdict.standings
        ],
        "report": str(path),
    }


def print_verdict(found: dict[str, Any]) -> None:
    for sentence in (found["verdict"], *found["notes"]):
        click.echo(sentence)
    click.echo(f"The page is {found['report']}.")
