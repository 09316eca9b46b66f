"""The whole of `ghostcandle bench chart`: sizes, loading, and frames beside each kind of trainer, in one run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PySide6
from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from core.settings import tree as settings_file
from core.settings.tree import Settings
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from desktop.commands.bench_chart.loading import measure_loading
from desktop.commands.bench_chart.measures import (
    APPENDS,
    CURSOR_MOVES,
    PANS,
    TICKS,
    WHOLE_VIEW,
    all_in_view,
    take,
)
from desktop.commands.bench_chart.report import with_ratios
from desktop.commands.bench_chart.rig import MeasureError, Rig, application
from desktop.jobs.child import own_program

HOSTS = ("none", "process", "thread")
_MOST_WITH_EVERYTHING = 200
_START_WITHIN_S = 240.0
_STORED = 1_000_000
"""Candles in the database whose loading is measured, where a chart of as many is measured at all."""

Say = Callable[[str], None]


def measure_chart(
    sizes: Sequence[int], repeats: int, seconds: float | None, settings: Settings, say: Say
) -> dict[str, Any]:
    """All figures, with the ratio and the limits. Raises MeasureError.

    seconds: of frames beside each kind of trainer; None: of none. say: called with the name of each measurement.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application()
    machine = _machine()  # its load before anything is measured
    by_size = measure_sizes(sizes, repeats, say)
    loading = _loading(say, with_everything=False) if _STORED in sizes else None
    everything = _with_everything(max(sizes), repeats, say)
    frames = {} if seconds is None else {host: _frames(host, seconds, settings, say) for host in HOSTS}
    measured = {"machine": machine, "sizes": by_size, "loading": loading, "with_everything": everything}
    return with_ratios({**measured, "while_training": frames})


def measure_sizes(
    sizes: Sequence[int], repeats: int, say: Say, *, with_everything: bool = False
) -> dict[str, dict[str, Any]]:
    """Each measure's percentiles by the size as a text, with the candles that were in view. Needs an application.
    Raises MeasureError.

    with_everything: indicators, hindsight and the strip of errors as well, and ticks and closing candles also while
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
    """Of the largest chart, with each kind of indicator, hindsight and the strip of errors."""
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


def _frames(host: str, seconds: float, settings: Settings, say: Say) -> dict[str, Any]:
    say(f"Measuring frames for {seconds:g} s, host: {host}.")
    with tempfile.TemporaryDirectory(prefix="ghostcandle-bench-") as folder:
        settings_file.save(settings, DataFolder(Path(folder)).settings)
        options = ["--host", host, "--seconds", str(seconds), "--json", "--data-dir", folder]
        command = [*own_program(), "bench", "frames", *options]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_START_WITHIN_S + seconds, check=False
            )
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
