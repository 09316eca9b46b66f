"""All of `python -m tests.benchmarks chart`: sizes, loading, and frames beside each kind of trainer, in one run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import PySide6
from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from core.storage.errors import StorageError
from tests.benchmarks.chart.loading import measure_loading
from tests.benchmarks.chart.measures import (
    APPENDS,
    CURSOR_MOVES,
    PANS,
    TICKS,
    WHOLE_VIEW,
    all_in_view,
    take,
)
from tests.benchmarks.chart.report import with_ratios
from tests.benchmarks.chart.rig import MeasureError, Rig, application
from tests.benchmarks.chart.while_training import Host

HOSTS = get_args(Host)
_ROOT = Path(__file__).resolve().parents[3]
_MOST_WITH_EVERYTHING = 200
_START_WITHIN_S = 240.0
_STORED = 1_000_000
"""Candles in the database whose loading is measured, where a chart of as many is measured at all."""

Say = Callable[[str], None]


def measure_chart(sizes: Sequence[int], repeats: int, seconds: float | None, say: Say) -> dict[str, Any]:
    """All figures, with the ratio and the limits. Raises MeasureError.

    seconds: of frames beside each kind of trainer; None: of none. say: called with the name of each measurement.
    """
    application()
    machine = _machine()  # its load before anything is measured
    by_size = measure_sizes(sizes, repeats, say)
    loading = _loading(say, with_everything=False) if _STORED in sizes else None
    everything = _with_everything(max(sizes), repeats, say)
    frames = {} if seconds is None else {host: measure_frames_beside(host, seconds, say) for host in HOSTS}
    measured = {"machine": machine, "sizes": by_size, "loading": loading, "with_everything": everything}
    return with_ratios({**measured, "while_training": frames})


def measure_sizes(
    sizes: Sequence[int], repeats: int, say: Say, *, with_everything: bool = False
) -> dict[str, dict[str, Any]]:
    """Each measure's percentiles by the size as a text, with the candles that were in view. Needs an application.
    Raises MeasureError.

    with_everything: indicators and hindsight as well, and ticks and closing candles also while
    all is in view.
    """
    say(f"Making charts of {', '.join(f'{size:,}' for size in sizes)} candles.")
    rigs = [Rig(size, with_everything=with_everything) for size in sizes]
    found: dict[str, dict[str, Any]] = {str(rig.count): {"in_view": rig.in_view} for rig in rigs}
    # appending changes what is stored, so it comes last
    measures = [TICKS, CURSOR_MOVES, PANS, WHOLE_VIEW, APPENDS]
    if with_everything:
        measures += [all_in_view(TICKS, "tick_all_ms"), all_in_view(APPENDS, "append_all_ms")]
    try:
        for measure in measures:
            say(f"Measuring {measure.name}, {repeats} times on each.")
            for count, figure in take(measure, rigs, repeats).items():
                found[str(count)][measure.name] = figure.summary()
    finally:
        for rig in rigs:
            rig.close()
    return found


def _with_everything(largest: int, repeats: int, say: Say) -> dict[str, Any]:
    """Of the largest chart, with each kind of indicator and hindsight."""
    say("Everything is switched on.")
    figures = measure_sizes((largest,), min(repeats, _MOST_WITH_EVERYTHING), say, with_everything=True)
    loading = _loading(say, with_everything=True) if largest >= _STORED else None
    return {"size": largest, **figures[str(largest)], "loading": loading}


def _loading(say: Say, *, with_everything: bool) -> dict[str, Any]:
    say(f"Storing {_STORED:,} candles and loading them.")
    try:
        return measure_loading(_STORED, with_everything=with_everything)
    except StorageError as error:
        raise MeasureError(f"Loading could not be measured: {error}") from error


def measure_frames_beside(host: str, seconds: float, say: Say) -> dict[str, Any]:
    """Frames beside this kind of trainer, in a separate process. Raises MeasureError."""
    say(f"Measuring frames for {seconds:g} s, host: {host}.")
    command = [sys.executable, "-m", "tests.benchmarks", "frames", "--host", host, "--seconds", str(seconds)]
    within_s = _START_WITHIN_S + seconds
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False, cwd=_ROOT)
    except subprocess.TimeoutExpired as error:
        raise MeasureError(f"The frames beside host {host} were not measured in time.") from error
    return _answer(done, host)


def _answer(done: subprocess.CompletedProcess[str], host: str) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        answer = {"error": f"its process ended with exit code {done.returncode} and no answer."}
    if "error" in answer:
        raise MeasureError(f"The frames beside host {host} were not measured: {answer['error']}")
    return answer


def _machine() -> dict[str, Any]:
    """Cores, system and versions; the load says how quiet it was."""
    return {
        "cpus": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "qt": qVersion(),
        "pyside": PySide6.__version__,
        "numpy": np.__version__,
        "platform": QGuiApplication.platformName(),
    }
