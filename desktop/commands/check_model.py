"""`ghostcandle check-model MODEL`: try a user's own model before a run depends on it."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.domain.clock import SystemClock
from core.market.history.candle_file import read_candle_file, sample_file
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.commands.errors import UserError
from desktop.commands.options import absolute, common_options, print_json, with_context

if TYPE_CHECKING:
    from core.training.checking.check import Check

_CANDLES = 200
_STYLES = {"passed": "green", "failed": "red", "note": "yellow"}


@click.command("check-model")
@click.argument("name", metavar="MODEL")
@click.option("--file", "candle_file", type=click.Path(path_type=Path), help="Candle file to use, not the sample.")
@click.option(
    "--candles", "count", type=click.IntRange(120), default=_CANDLES, show_default=True, help="Number of candles."
)
@common_options
@with_context
def check_model(context: Context, name: str, candle_file: Path | None, count: int) -> None:
    """Check a model before a run uses it: shapes, repeatability, restarts, speed, and whether it sees the future.

    MODEL is given as for --model. Exit code 1 if a check fails. Without --seed the seed is 0.
    """
    model = absolute(name)
    checks = _checks(context, model, candle_file, count)
    ok = all(check.passed or not check.is_required for check in checks)
    if context.as_json:
        print_json({"model": model, "ok": ok, "checks": [dataclasses.asdict(check) for check in checks]})
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            state = "passed" if check.passed else "failed" if check.is_required else "note"
            table.add_row(Text(state, style=_STYLES[state]), check.requirement, check.found)
        Console(markup=False).print(table)
    if not ok:
        raise SystemExit(1)


def _checks(context: Context, model: str, candle_file: Path | None, count: int) -> list[Check]:
    stop = threading.Event()
    with stopped_by_signals(stop.set):  # torch loses a Ctrl+C that comes while it is imported
        from core.training.checking.check import FEWEST_CANDLES, Subject, check_model  # noqa: PLC0415 - torch
    if stop.is_set():
        raise KeyboardInterrupt
    file = sample_file() if candle_file is None else read_candle_file(candle_file)
    if len(file.candles) < FEWEST_CANDLES:
        raise UserError(f"{len(file.candles)} candles are too few to check a model; give {FEWEST_CANDLES} or more.", 2)
    training = context.settings.training
    settings = dataclasses.replace(context.settings, training=dataclasses.replace(training, seed=training.seed or 0))

    def report_part(name: str) -> None:
        if context.lines is not None:
            context.lines.start_part(name)
        elif not context.as_json:
            click.echo(f"{name} ...", err=True)

    subject = Subject(model, list(file.candles[:count]), file.interval, candle_file, settings)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        return check_model(subject, Path(folder), SystemClock(), report_part)
