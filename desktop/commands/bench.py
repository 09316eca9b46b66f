"""`ghostcandle bench`: how fast the parts are, as ratios within one run."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from core.clock import SystemClock
from desktop.commands.errors import UserError
from desktop.commands.options import Context, common_options, print_json, with_context


@click.group()
def bench() -> None:
    """Measure speed on this machine."""


@bench.command()
@click.option("--steps", type=click.IntRange(10), default=200, show_default=True, help="Pairs of steps to time.")
@common_options
@with_context
def train(context: Context, steps: int) -> None:
    """Time the training engine against a bare PyTorch loop, in one process and step about."""
    from core.training.benchmark import measure_training  # noqa: PLC0415 - this command computes in its own process
    from core.training.device import DeviceError  # noqa: PLC0415

    try:
        measured = measure_training(context.settings, steps, SystemClock())
    except DeviceError as error:
        raise UserError(str(error)) from error
    print_json(measured) if context.as_json else _print(measured)


def _print(measured: dict[str, Any]) -> None:
    table = Table(title=f"Training on {measured['device']}, torch {measured['torch']}")
    for name in ("Model and batch", "Ours, ms", "Bare loop, ms", "Ratio (median)", "Ratio (p95)", "Clipping"):
        table.add_column(name, justify="left" if name == "Model and batch" else "right")
    for name, case in measured["cases"].items():
        ratio = case["ratio_to_bare_loop"]
        times = (f"{case['step_ms']['median']:.2f}", f"{case['bare_step_ms']['median']:.2f}")
        clip = f"{100.0 * case['clip_share_of_step']:.2f} %"
        table.add_row(name, *times, f"{ratio['median']:.3f}", f"{ratio['p95']:.3f}", clip)
    Console().print(table)
