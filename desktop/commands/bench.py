"""`ghostcandle bench`: how fast training is on this machine, as ratios within one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click
from rich.console import Console, JustifyMethod
from rich.table import Table

from core.domain.clock import SystemClock
from core.training.engine.device_faults import DeviceError
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, print_json, with_context

_MARKETS = "1,10,50,200"
_MOST_MARKETS = 1_000
ReadNumbers = Callable[[click.Context, click.Parameter, str | None], tuple[int, ...]]


def read_numbers(noun: str, fewest: int, most: int, example: str) -> ReadNumbers:
    """Reads an option's list of numbers, in ascending order; none if the option is not given."""

    def read(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...]:
        try:
            numbers = tuple(sorted({int(part) for part in text.split(",")})) if text is not None else ()
        except ValueError:
            raise click.BadParameter(f"'{text}' is no list of numbers; write for example {example}") from None
        if not all(fewest <= number <= most for number in numbers):
            raise click.BadParameter(f"each {noun} lies between {fewest} and {most}, was {text}")
        return numbers

    return read


@click.group()
def bench() -> None:
    """Measure how fast training is on this machine."""


@bench.command()
@click.option("--steps", type=click.IntRange(10), default=200, show_default=True, help="Pairs of steps to time.")
@click.option(
    "--markets",
    callback=read_numbers("number", 1, _MOST_MARKETS, _MARKETS),
    help=f"Instead, time one model of this many markets, such as {_MARKETS}.",
)
@click.option("--closes", type=click.IntRange(5), default=20, show_default=True, help="Closes to time, of all markets.")
@common_options
@with_context
def train(context: Context, steps: int, markets: tuple[int, ...], closes: int) -> None:
    """Time the training engine against a bare PyTorch loop, in one process and step about."""
    try:
        if markets:
            _train_markets(context, markets, closes)
            return
        from core.benchmark.engine import measure_training  # noqa: PLC0415 - this command computes in its own process

        measured = measure_training(context.settings, steps, SystemClock())
    except DeviceError as error:
        raise UserError(str(error)) from error
    print_json(measured) if context.as_json else _print(measured)


def _train_markets(context: Context, markets: tuple[int, ...], closes: int) -> None:
    from core.benchmark.markets import measure_markets  # noqa: PLC0415 - this command computes in its own process

    say = _say(context)
    measured = measure_markets(
        context.settings, markets, closes, SystemClock(), lambda count: say(f"{count} markets …")
    )
    if context.as_json:
        print_json(measured)
        return
    title = f"One model on {measured['device']}, torch {measured['torch']}, threads {measured['threads']}"
    names = ("Markets", "Candles a second", "Steps a second", "A close, ms", "At worst, ms")
    rows = []
    for count, found in measured["markets"].items():
        close_ms = found["close_ms"]
        rates = f"{found['candles_per_s']:.1f}", f"{found['steps_per_s']:.2f}"
        rows.append((count, *rates, f"{close_ms['median']:.1f}", f"{close_ms['worst']:.1f}"))
    Console(markup=False).print(figures_table(title, names, rows, "right"))


def _say(context: Context) -> Callable[[str], None]:
    """Writes what is being measured, unless the answer is for a program."""
    return (lambda sentence: None) if context.as_json else (lambda sentence: click.echo(sentence, err=True))


def _print(measured: dict[str, Any]) -> None:
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


def figures_table(
    title: str, names: Sequence[str], rows: Iterable[Sequence[str]], first: JustifyMethod = "left"
) -> Table:
    """first: how the first column is justified; the others have numbers."""
    table = Table(title=title)
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else first)
    for row in rows:
        table.add_row(*row)
    return table


def graph_sentence(graph: dict[str, Any]) -> str:
    """What whole-step CUDA graphs are worth here, and whether that is enough."""
    difference, missing = graph["largest_loss_difference"], graph["steps_without_loss"]
    loss = f"{missing} of their steps gave no loss" if difference is None else f"the loss differs by {difference:.2g}"
    return (
        f"{'Passed' if graph['passes'] else 'Failed'}: with CUDA graphs ({graph['execution']}) a step is "
        f"{graph['speedup_over_eager']['median']:.2f} times as fast as without (wanted: {graph['wanted_speedup']:g}), "
        f"and over {graph['steps']} steps {loss} (allowed: {graph['loss_tolerance']:g} of it)."
    )
