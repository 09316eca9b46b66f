"""`ghostcandle bench`: how fast the parts are, as ratios within one run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console

from core.domain.clock import SystemClock
from core.training.engine.device_faults import DeviceError
from desktop.app.context import Context
from desktop.commands.bench_chart.report import figures_table, print_report
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, print_json, with_context

_SIZES = "1000,10000,100000,1000000"
_FEWEST, _MOST = 400, 5_000_000
_MARKETS = "1,10,50,200"
_MOST_MARKETS = 1_000
ReadNumbers = Callable[[click.Context, click.Parameter, str | None], tuple[int, ...]]
_SECONDS_HELP = "How long frames are measured beside each kind of trainer."


def _numbers(noun: str, fewest: int, most: int, example: str) -> ReadNumbers:
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
    """Measure speed on this machine."""


@bench.command()
@click.option("--steps", type=click.IntRange(10), default=200, show_default=True, help="Pairs of steps to time.")
@click.option(
    "--markets",
    callback=_numbers("number", 1, _MOST_MARKETS, _MARKETS),
    help=f"Instead, time one model of so many markets, such as {_MARKETS}.",
)
@click.option("--closes", type=click.IntRange(5), default=20, show_default=True, help="Of all these markets, to time.")
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


@bench.command()
@click.option(
    "--sizes",
    default=_SIZES,
    show_default=True,
    callback=_numbers("size", _FEWEST, _MOST, _SIZES),
    help="Stored candles, by commas.",
)
@click.option("--repeats", type=click.IntRange(20), default=400, show_default=True, help="Samples of each figure.")
@click.option("--seconds", type=click.FloatRange(1.0, 120.0), default=10.0, show_default=True, help=_SECONDS_HELP)
@click.option(
    "--while-training/--no-while-training", default=True, show_default=True, help="Measure frames beside one."
)
@common_options
@with_context
def chart(context: Context, sizes: tuple[int, ...], repeats: int, seconds: float, while_training: bool) -> None:
    """Time the real chart, offscreen: from the call that brings the news to the return of the paint that shows it."""
    from desktop.app.interpreter import freeze_imports  # noqa: PLC0415
    from desktop.commands.bench_chart.rig import MeasureError  # noqa: PLC0415
    from desktop.commands.bench_chart.run import measure_chart  # noqa: PLC0415 - Qt only for this command

    freeze_imports()  # as the window does
    try:
        measured = measure_chart(sizes, repeats, seconds if while_training else None, context.settings, _say(context))
    except MeasureError as error:
        raise UserError(str(error)) from error
    print_json(measured) if context.as_json else print_report(measured)


@bench.command()
@click.option("--rows", type=click.IntRange(10_000, 20_000_000), default=1_000_000, show_default=True, help="Candles.")
@common_options
@with_context
def history(context: Context, rows: int) -> None:
    """Time the import of a candle file, windows read from it, and its export, in a folder that is removed again."""
    from core.benchmark.history import measure_history  # noqa: PLC0415 - pandas only for this command

    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_history(Path(folder), rows, SystemClock())
    if context.as_json:
        print_json(measured)
    else:
        click.echo(
            f"{rows:,} candles imported in {measured['import_s']:.1f} s ({measured['ratio_to_bare']:.2f} times pandas "
            f"and sqlite3 alone), exported in {measured['export_s']:.1f} s; a window of {measured['window_rows']:,} is "
            f"read in {measured['window_ms']['median']:.1f} ms, {measured['window_ms']['worst']:.1f} at worst."
        )


@bench.command()
@click.option(
    "--rows", type=click.IntRange(10_000, 5_000_000), default=525_600, show_default=True, help="A year of 1m."
)
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the data folder that is made, here.")
@common_options
@with_context
def record(context: Context, rows: int, keep: Path | None) -> None:
    """Make up the record of so many candles, thin it as the settings say, and time what reads it."""
    from core.benchmark.record import measure_record  # noqa: PLC0415

    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UserError(f"{keep} is not empty. Name a folder that is, or that does not exist yet.")
    on_progress = _count if not context.as_json else (lambda done, total: None)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_record(keep or Path(folder), rows, context.settings.record, SystemClock(), on_progress)
    if context.as_json:
        print_json(measured)
        return
    click.echo(
        f"{rows:,} candles take {measured['bytes'] / 1e6:,.0f} MB: {measured['bytes_a_detailed_candle']:,.0f} bytes "
        f"each with all detail, {measured['bytes_a_thinned_candle']:,.0f} without. Accuracy's first figures come after "
        f"{measured['accuracy_first_s']:.2f} s, all of them after {measured['accuracy_s']:.2f} s; metrics takes "
        f"{measured['metrics_s']:.2f} s."
    )


@bench.command()
@click.option("--rows", type=click.IntRange(100, 1_000_000), default=100_000, show_default=True, help="Checkpoints.")
@common_options
@with_context
def browser(context: Context, rows: int) -> None:
    """Time the checkpoint browser over that many stored checkpoints, from what is typed to the painted rows."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from desktop.commands.bench_chart.browser import measure_browser  # noqa: PLC0415 - Qt only for this command
    from desktop.commands.bench_chart.rig import application  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_browser(Path(folder), rows, application(), SystemClock(), _say(context))
    if context.as_json:
        print_json(measured)
        return
    click.echo(f"{rows:,} checkpoints; a page is read in {measured['page_ms']['cpu']:.0f} ms of work.")
    for kind in ("filter_ms", "sort_ms"):
        for name, figures in measured[kind].items():
            words = f"{figures['median']:.0f} ms, {figures['worst']:.0f} at worst, {figures['cpu']:.0f} of work"
            click.echo(f"{kind.removesuffix('_ms')} {name}: {words}")


@bench.command(hidden=True)
@click.option("--host", type=click.Choice(["none", "process", "thread"]), required=True)
@click.option("--seconds", type=click.FloatRange(1.0, 120.0), required=True)
@common_options
@with_context
def frames(context: Context, host: Literal["none", "process", "thread"], seconds: float) -> None:
    """Time frames beside one kind of trainer. `bench chart` starts a process for each."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from desktop.app.interpreter import freeze_imports  # noqa: PLC0415
    from desktop.commands.bench_chart.rig import MeasureError, application  # noqa: PLC0415 - Qt only for this command
    from desktop.commands.bench_chart.while_training import measure_frames  # noqa: PLC0415

    freeze_imports()  # as the window does
    try:
        print_json(measure_frames(context.settings, host, seconds, application()))
    except MeasureError as error:
        raise UserError(str(error)) from error


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


def graph_sentence(graph: dict[str, Any]) -> str:
    """What whole-step CUDA graphs are worth here, and whether that is enough."""
    difference, missing = graph["largest_loss_difference"], graph["steps_without_loss"]
    loss = f"{missing} of their steps gave no loss" if difference is None else f"the loss differs by {difference:.2g}"
    return (
        f"{'Passed' if graph['passes'] else 'Failed'}: with CUDA graphs ({graph['execution']}) a step is "
        f"{graph['speedup_over_eager']['median']:.2f} times as fast as without (wanted: {graph['wanted_speedup']:g}), "
        f"and over {graph['steps']} steps {loss} (allowed: {graph['loss_tolerance']:g} of it)."
    )


def _count(done: int, total: int) -> None:
    click.echo(f"\r{done / total:4.0%}", err=True, nl=False)
