"""`python -m tests.benchmarks train`: how fast training is on this machine, as ratios within one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from core.domain.clock import SystemClock
from core.settings import tree
from core.settings.tree import Settings
from core.training.engine.device_faults import DeviceError
from desktop.commands.options import DeviceType, data_folder, print_json
from tests.benchmarks.tables import figures_table, read_numbers

_MARKETS = "1,10,50,200"
_MOST_MARKETS = 1_000


@click.command()
@click.option("--steps", type=click.IntRange(10), default=200, show_default=True, help="Pairs of steps to time.")
@click.option(
    "--markets",
    callback=read_numbers("number", 1, _MOST_MARKETS, _MARKETS),
    help=f"Instead, time one model of this many markets, such as {_MARKETS}.",
)
@click.option("--closes", type=click.IntRange(5), default=20, show_default=True, help="Closes to time, of all markets.")
@click.option("--device", type=DeviceType(), help="The device that the model runs on.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="The data folder whose settings name the model.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def train(
    steps: int, markets: tuple[int, ...], closes: int, device: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """Time the training engine against a bare PyTorch loop, alternating in one process."""
    settings = _settings(device, data_dir)
    try:
        measured = _measured_markets(settings, markets, closes) if markets else _measured_engine(settings, steps)
    except DeviceError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json(measured)
    elif markets:
        _print_markets(measured)
    else:
        _print_engine(measured)


def _settings(device: str | None, data_dir: Path | None) -> Settings:
    settings, warnings = tree.load(data_folder(data_dir).settings)
    for warning in warnings:
        click.echo(warning, err=True)
    return replace(settings, training=replace(settings.training, device=device or settings.training.device))


def _measured_engine(settings: Settings, steps: int) -> dict[str, Any]:
    from tests.benchmarks.training.engine import measure_training  # noqa: PLC0415 - the other benchmarks need no torch

    return measure_training(settings, steps, SystemClock())


def _measured_markets(settings: Settings, markets: tuple[int, ...], closes: int) -> dict[str, Any]:
    from tests.benchmarks.training.markets import measure_markets  # noqa: PLC0415 - as above

    return measure_markets(
        settings, markets, closes, SystemClock(), lambda count: click.echo(f"{count} markets …", err=True)
    )


def _print_markets(measured: dict[str, Any]) -> None:
    title = f"One model on {measured['device']}, torch {measured['torch']}, threads {measured['threads']}"
    names = ("Markets", "Candles a second", "Steps a second", "A close, ms", "At worst, ms")
    rows = []
    for count, found in measured["markets"].items():
        close_ms = found["close_ms"]
        rates = f"{found['candles_per_s']:.1f}", f"{found['steps_per_s']:.2f}"
        rows.append((count, *rates, f"{close_ms['median']:.1f}", f"{close_ms['worst']:.1f}"))
    Console(markup=False).print(figures_table(title, names, rows, "right"))


def _print_engine(measured: dict[str, Any]) -> None:
    names = ("Model and batch", "Ours, ms", "Bare loop, ms", "Ratio (median)", "Ratio (p95)", "Clipping")
    rows = []
    for name, case in measured["cases"].items():
        ratio = case["ratio_to_bare_loop"]
        times = (f"{case['step_ms']['median']:.2f}", f"{case['bare_step_ms']['median']:.2f}")
        clip = f"{100.0 * case['clip_share_of_step']:.2f} %"
        rows.append((name, *times, f"{ratio['median']:.3f}", f"{ratio['p95']:.3f}", clip))
    console = Console(markup=False)
    console.print(figures_table(f"Training on {measured['device']}, torch {measured['torch']}", names, rows))
    if measured["cuda_graph"] is not None:
        console.print(graph_sentence(measured["cuda_graph"]), highlight=False)


def graph_sentence(graph: dict[str, Any]) -> str:
    """What whole-step CUDA graphs are worth here, and whether that is enough."""
    difference, missing = graph["largest_loss_difference"], graph["steps_without_loss"]
    loss = f"{missing} of their steps gave no loss" if difference is None else f"the loss differs by {difference:.2g}"
    return (
        f"{'Passed' if graph['passes'] else 'Failed'}: with CUDA graphs ({graph['execution']}) a step is "
        f"{graph['speedup_over_eager']['median']:.2f} times as fast as without (wanted: {graph['wanted_speedup']:g}), "
        f"and over {graph['steps']} steps {loss} (allowed: {graph['loss_tolerance']:g} of it)."
    )
