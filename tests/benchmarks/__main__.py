"""For developers: how fast training, the chart, the start, the browser, the history and the record are; and the
window's memory.

python -m tests.benchmarks COMMAND [--json]
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from core.domain.clock import SystemClock
from core.settings.tree import Settings
from desktop.app.interpreter import freeze_imports
from desktop.commands.options import print_json
from tests.benchmarks.browser import measure_browser
from tests.benchmarks.chart.report import print_report
from tests.benchmarks.chart.rig import MeasureError, application
from tests.benchmarks.chart.run import HOSTS, measure_chart
from tests.benchmarks.chart.while_training import Host, measure_frames
from tests.benchmarks.ghost import measure_ghost
from tests.benchmarks.history import measure_history
from tests.benchmarks.memory import measure_memory
from tests.benchmarks.record import measure_record
from tests.benchmarks.start import measure_start
from tests.benchmarks.sweep import measure_sweep
from tests.benchmarks.tables import read_numbers
from tests.benchmarks.training.command import train

_SIZES = "1000,10000,100000,1000000"
_SECONDS = click.FloatRange(1.0, 120.0)
_as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


@click.group()
def benchmarks() -> None:
    """Measure on this machine, with nothing else running. Progress is written to stderr."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


benchmarks.add_command(train)


@benchmarks.command()
@click.option(
    "--sizes",
    default=_SIZES,
    show_default=True,
    callback=read_numbers("size", 400, 5_000_000, _SIZES),
    help="Stored candles, by commas.",
)
@click.option("--repeats", type=click.IntRange(20), default=400, show_default=True, help="Samples of each figure.")
@click.option("--seconds", type=_SECONDS, default=10.0, show_default=True, help="Of frames beside each trainer.")
@click.option(
    "--while-training/--no-while-training", default=True, show_default=True, help="Measure frames beside a trainer."
)
@_as_json
def chart(sizes: tuple[int, ...], repeats: int, seconds: float, while_training: bool, as_json: bool) -> None:
    """The real chart: from the call that brings the change to the return of the paint that shows it."""
    freeze_imports()  # as the window does
    try:
        measured = measure_chart(sizes, repeats, seconds if while_training else None, _say)
    except MeasureError as error:
        raise click.ClickException(str(error)) from error
    print_json(measured) if as_json else print_report(measured)


@benchmarks.command(hidden=True)
@click.option("--host", type=click.Choice(HOSTS), required=True)
@click.option("--seconds", type=_SECONDS, required=True)
def frames(host: Host, seconds: float) -> None:
    """Frames beside one kind of trainer. `chart` starts a process for each."""
    freeze_imports()  # as the window does
    try:
        print_json(measure_frames(Settings(), host, seconds, application()))
    except MeasureError as error:
        print_json({"error": str(error)})


@benchmarks.command()
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@_as_json
def start(repeats: int, as_json: bool) -> None:
    """The window's first paint: from exec on, with an empty data folder."""
    measured = measure_start(repeats)
    if as_json:
        print_json(measured)
        return
    wall_s, cpu_s, modules = (measured[name] for name in ("wall_s", "cpu_s", "modules"))
    click.echo(f"Painted after {wall_s:.2f} s, {cpu_s:.2f} of a core, with {modules:,} modules.")


@benchmarks.command()
@click.option("--markets", type=click.IntRange(1, 100), default=10, show_default=True)
@click.option("--seconds", type=click.FloatRange(1.0), default=60.0, show_default=True, help="Before it is read.")
@_as_json
def memory(markets: int, seconds: float, as_json: bool) -> None:
    """The memory of the window's process, with so many simulated markets."""
    measured = measure_memory(markets, seconds)
    if as_json:
        print_json(measured)
        return
    click.echo(f"{measured['rss_mb']:.0f} MB are resident, {measured['uss_mb']:.0f} of them its own.")


@benchmarks.command()
@click.option("--markets", type=click.IntRange(1, 100), default=50, show_default=True)
@click.option("--closes", type=click.IntRange(10), default=100, show_default=True)
@click.option("--speed", type=click.FloatRange(0.01, 10.0), default=0.25, show_default=True, help="Closes a second.")
@_as_json
def ghost(markets: int, closes: int, speed: float, as_json: bool) -> None:
    """From the last candle of a close until its ghost is painted, in the real window with a trainer's process."""
    freeze_imports()  # as the window does
    measured = measure_ghost(markets, closes, speed, application())
    if as_json:
        print_json(measured)
        return
    for name in ("forecast_ms", "painted_ms"):
        click.echo(f"{name}: {measured[name]['p50']:.0f} ms, 99 of 100 within {measured[name]['p99']:.0f} ms")


@benchmarks.command()
@click.option("--rows", type=click.IntRange(100, 1_000_000), default=10_000, show_default=True, help="Checkpoints.")
@_as_json
def browser(rows: int, as_json: bool) -> None:
    """The checkpoint browser over stored checkpoints, from what is typed to the painted rows."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_browser(Path(folder), rows, application(), SystemClock(), _say)
    if as_json:
        print_json(measured)
        return
    click.echo(f"{rows:,} checkpoints; a page is read in {measured['page_ms']['cpu']:.0f} ms of work.")
    for kind in ("filter_ms", "sort_ms"):
        for name, figures in measured[kind].items():
            words = f"{figures['median']:.0f} ms, {figures['worst']:.0f} at worst, {figures['cpu']:.0f} of work"
            click.echo(f"{kind.removesuffix('_ms')} {name}: {words}")


@benchmarks.command()
@click.option("--rows", type=click.IntRange(10_000, 20_000_000), default=1_000_000, show_default=True, help="Candles.")
@_as_json
def history(rows: int, as_json: bool) -> None:
    """The import of a candle file, windows read from it, and its export."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_history(Path(folder), rows, SystemClock())
    if as_json:
        print_json(measured)
        return
    click.echo(
        f"{rows:,} candles imported in {measured['import_s']:.1f} s ({measured['ratio_to_bare']:.2f} times pandas "
        f"and sqlite3 alone), exported in {measured['export_s']:.1f} s; a window of {measured['window_rows']:,} is "
        f"read in {measured['window_ms']['median']:.1f} ms, {measured['window_ms']['worst']:.1f} at worst."
    )


@benchmarks.command()
@click.option(
    "--rows", type=click.IntRange(10_000, 5_000_000), default=525_600, show_default=True, help="A year of 1m."
)
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the data folder that is made, here.")
@_as_json
def record(rows: int, keep: Path | None, as_json: bool) -> None:
    """The record of many candles, made up and thinned as the settings say: its size, and the time to read it."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise click.ClickException(f"{keep} is not empty. Name a folder that is, or that does not exist yet.")
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        measured = measure_record(keep or Path(folder), rows, Settings().record, SystemClock(), _say_share)
    if as_json:
        print_json(measured)
        return
    click.echo(
        f"{rows:,} candles take {measured['bytes'] / 1e6:,.0f} MB: {measured['bytes_a_detailed_candle']:,.0f} bytes "
        f"each with all detail, {measured['bytes_a_thinned_candle']:,.0f} without. Accuracy's first figures come after "
        f"{measured['accuracy_first_s']:.2f} s, all of them after {measured['accuracy_s']:.2f} s; metrics takes "
        f"{measured['metrics_s']:.2f} s."
    )


@benchmarks.command()
@click.option("--candles", type=click.IntRange(12), default=1500, show_default=True, help="Candles of each cell.")
@click.option("--workers", type=click.IntRange(2), default=2, show_default=True, help="Workers, one a core.")
@click.option("--pool", is_flag=True, help="The standard library's processes instead of Dask.")
@_as_json
def sweep(candles: int, workers: int, pool: bool, as_json: bool) -> None:
    """24 cells of a sweep on one worker and on several. Takes half an hour on two cores."""
    options = ("--pool",) if pool else ()
    with tempfile.TemporaryDirectory(prefix="ghostcandle-sweep-") as folder:
        measured = measure_sweep(Path(folder), candles, workers, options, SystemClock(), _say)
    if as_json:
        print_json(measured)
        return
    click.echo(f"One worker {measured['one_s']} s, {workers} workers {measured['many_s']} s: ", nl=False)
    click.echo(f"{measured['times_as_fast']} times as fast. The same bytes: {measured['same_bytes']}.")


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)


def _say_share(done: int, total: int) -> None:
    click.echo(f"\r{done / total:4.0%}", err=True, nl=False)


if __name__ == "__main__":
    benchmarks(prog_name="python -m tests.benchmarks")
