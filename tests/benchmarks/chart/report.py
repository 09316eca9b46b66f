"""The limits that the chart is held to, and the figures as people read them."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.tables import figures_table

_MEASURES = {
    "tick_ms": "Tick",
    "cursor_ms": "Mouse move",
    "pan_ms": "Pan",
    "all_ms": "All in view",
    "append_ms": "Candle closes",
}
_WITH_EVERYTHING = {**_MEASURES, "tick_all_ms": "Tick, all in view", "append_all_ms": "Closes, all in view"}
_MOMENTS = {
    "newest_painted_ms": "Newest painted",
    "all_painted_ms": "All painted",
    "everything_painted_ms": "Indicators over all painted",
}
_FRAMES_OF_LOADING = {"while_loading": "Frames meanwhile", "before_loading": "Frames before"}
_HOSTS = {"none": "no trainer", "process": "trainer in a process", "thread": "trainer in a thread"}

_LIMITS: dict[str, tuple[float, tuple[str, ...]]] = {
    "tick p50 at 1,000,000 candles over that at 1,000": (1.2, ("tick_ratio_1e6_to_1e3",)),
    "pan p99 at 1,000,000 candles, ms": (8.0, ("sizes", "1000000", "pan_ms", "p99")),
    "all of 1,000,000 in view p99, ms": (16.0, ("sizes", "1000000", "all_ms", "p99")),
    "paints of closed candles by mouse moves": (0.0, ("closed_paints",)),
    "newest 2,000 of 1,000,000 stored candles painted, ms": (200.0, ("loading", "newest_painted_ms")),
    "all of 1,000,000 stored candles painted, ms": (3_000.0, ("loading", "all_painted_ms")),
    "longest frame while they load, ms": (33.0, ("loading", "while_loading", "worst_ms")),
    "frame p99 beside a trainer's process, ms": (16.7, ("while_training", "process", "frame_ms", "p99")),
    "longest frame while they load, with everything switched on, ms": (
        33.0,
        ("with_everything", "loading", "while_loading", "worst_ms"),
    ),
}
"""Upper limits that the documentation promises, and where the figures have their values."""

Measured = dict[str, Any]


def with_ratios(measured: Measured) -> Measured:
    """The figures with the ratio and the limits that follow from them."""
    whole = {**measured, "tick_ratio_1e6_to_1e3": _tick_ratio(measured)}
    found = {**whole, "closed_paints": _closed_paints(measured)}
    return {**whole, "bars": [_limit(name, bound, _at(found, *path)) for name, (bound, path) in _LIMITS.items()]}


def _limit(name: str, bound: float, value: float | None) -> Measured:
    """`value` and `is_met` are None where it was not measured."""
    return {"name": name, "bound": bound, "value": value, "is_met": None if value is None else value <= bound}


def print_report(measured: Measured) -> None:
    """Tables and the limits on stdout."""
    console = Console()
    console.print(_sizes_table(measured))
    if measured["with_everything"]:
        console.print(_everything_table(measured["with_everything"]))
    loadings = {
        "the chart alone": measured["loading"],
        "everything on": (measured["with_everything"] or {}).get("loading"),
    }
    if any(loadings.values()):
        console.print(_loading_table({name: figures for name, figures in loadings.items() if figures}))
    if measured["while_training"]:
        console.print(_frames_table(measured["while_training"]))
    for entry in measured["bars"]:
        console.print(_limit_text(entry), highlight=False)


def _sizes_table(measured: Measured) -> Table:
    machine = measured["machine"]
    title = f"The chart, 1600 x 900, {machine['cpus']} cores, Qt {machine['qt']}; p50/p99 in ms"
    rows = (
        (f"{int(size):,}", *(_spread(figures[name]) for name in _MEASURES))
        for size, figures in measured["sizes"].items()
    )
    return figures_table(title, ("Stored candles", *_MEASURES.values()), rows, "right")


def _everything_table(everything: Measured) -> Table:
    names = (f"{everything['size']:,} candles", "p50/p99 in ms")
    rows = ((label, _spread(everything[name])) for name, label in _WITH_EVERYTHING.items())
    return figures_table("With all indicators, hindsight and errors", names, rows)


def _loading_table(loadings: Measured) -> Table:
    title = "A stored history loads; ms, frames p50/p99/longest from paint to paint"
    moments = [
        (label, *("–" if figures[key] is None else f"{figures[key]:.0f}" for figures in loadings.values()))
        for key, label in _MOMENTS.items()
    ]
    frames = [
        (label, *(_frame_times(figures[key]) for figures in loadings.values()))
        for key, label in _FRAMES_OF_LOADING.items()
    ]
    return figures_table(title, ("", *loadings), (*moments, *frames))


def _frame_times(times: dict[str, float]) -> str:
    return f"{times['p50_ms']:.1f}/{times['p99_ms']:.1f}/{times['worst_ms']:.1f}"


def _frames_table(hosts: Measured) -> Table:
    rows = []
    for host, figures in hosts.items():
        spreads = (f"{_spread(figures[name])}/{figures[name]['max']:.1f}" for name in ("frame_ms", "interval_ms"))
        steps = "–" if figures["steps_per_s"] is None else f"{figures['steps_per_s']:.0f}"
        rows.append((_HOSTS[host], *spreads, f"{figures['ticks_per_s']:.0f}", steps))
    names = ("Beside", "Frame", "From paint to paint", "Ticks/s", "Training steps/s")
    return figures_table("Frames with the mouse moving and 100 ticks a second; p50/p99/longest in ms", names, rows)


def _limit_text(entry: Measured) -> str:
    if entry["is_met"] is None:
        return f"not measured  {entry['name']} (at most {entry['bound']:g})"
    verdict = "met" if entry["is_met"] else "NOT MET"
    return f"{verdict:<12}  {entry['name']}: {entry['value']:.2f} (at most {entry['bound']:g})"


def _spread(figure: dict[str, float]) -> str:
    return f"{figure['p50']:.2f}/{figure['p99']:.2f}"


def _at(measured: Measured, *path: str) -> float | None:
    found: Any = measured
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return None if found is None else float(found)


def _tick_ratio(measured: Measured) -> float | None:
    many, few = (_at(measured, "sizes", size, "tick_ms", "p50") for size in ("1000000", "1000"))
    return None if many is None or not few else many / few


def _closed_paints(measured: Measured) -> float | None:
    counts = [figures["cursor_ms"]["closed_paints"] for figures in measured["sizes"].values()]
    return float(sum(counts)) if counts else None
