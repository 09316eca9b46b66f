"""`ghostcandle bench`: how fast the parts are, as ratios within one run."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from core.clock import SystemClock
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
    measured = _measure(context, steps)
    print_json(measured) if context.as_json else _print(measured)


def _measure(context: Context, steps: int) -> dict[str, Any]:
    import torch  # noqa: PLC0415 - this command computes in its own process

    from core.training import benchmark  # noqa: PLC0415 - it imports torch
    from core.training.device import choose_device, prepare_thread  # noqa: PLC0415

    prepare_thread()
    device = choose_device(context.settings.training.device)
    is_cuda = device.torch_device.type == "cuda"
    cases = {
        workload.name: benchmark.compare(workload, context.settings, device.torch_device, steps, SystemClock())
        for workload in benchmark.workloads(context.settings, is_cuda)
    }
    return {
        "device": device.label,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "ratio_to_bare_loop": cases["default"]["ratio_to_bare_loop"],
        "cases": cases,
    }


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
