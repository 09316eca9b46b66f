"""Another chart over the same candles, in a separate environment: finplot's ticks and pans, and its ticks over ours.

python -m tests.benchmarks.peers [--sizes 1000,10000] [--repeats 100] [--json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from tests.benchmarks.chart import scenario
from tests.benchmarks.chart.measures import TICKS, take
from tests.benchmarks.chart.rig import IN_VIEW, MeasureError, Rig, application

FINPLOT = (
    "finplot==1.9.7",
    "PyQt6==6.11.0",
    "PyQt6-Qt6==6.11.2",
    "pyqtgraph==0.14.0",
    "numpy==2.4.6",
    "pandas==3.1.1",
)
_SCRIPT = Path(__file__).with_name("finplot_chart.py")
_READY = "ready"
_INSTALL_WITHIN_S = 900.0
_MEASURE_WITHIN_S = 900.0
_PAIRED_SIZE = 10_000
_PAIRS = 5
_WANTED_RATIO = 15.0
"""finplot's tick over ours, at least."""

Say = Callable[[str], None]


class PeerEnvironment:
    """A virtual environment under the cache folder, made once for each list of pinned packages."""

    def __init__(self, cache: Path, packages: Sequence[str] = FINPLOT) -> None:
        self._packages = tuple(packages)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        name = hashlib.sha256("\n".join((version, *self._packages)).encode()).hexdigest()[:12]
        self._folder = cache / "peers" / name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        windows, other = self._folder / "Scripts" / "python.exe", self._folder / "bin" / "python"
        return windows if sys.platform == "win32" else other

    def prepare(self, say: Say) -> None:
        """Install what is not there yet. Raises MeasureError with a sentence where that is not possible."""
        if (self._folder / _READY).exists():
            return
        say(f"Installing {self._packages[0]} into a separate environment (once).")
        shutil.rmtree(self._folder, ignore_errors=True)
        for command in _install_commands(self._folder, self.python, self._packages):
            _run_tool(command)
        (self._folder / _READY).touch()


def measure_finplot(environment: PeerEnvironment, sizes: Sequence[int], samples: int, say: Say) -> dict[str, Any]:
    """finplot's percentiles by the size as a text, over the candles that our own chart shows. Raises MeasureError."""
    found: dict[str, Any] = {"packages": list(FINPLOT)}
    with tempfile.TemporaryDirectory(prefix="ghostcandle-peer-") as folder:
        for size in sizes:
            say(f"Measuring finplot over {size:,} candles, {samples} times.")
            file = Path(folder) / f"{size}.npz"
            _save(file, size)
            found[str(size)] = _measure(environment.python, file, samples)
    return found


def paired_ticks(environment: PeerEnvironment, samples: int, say: Say) -> dict[str, Any]:
    """Our tick and finplot's at 10,000 candles, by turns, and the ratio of the smallest medians: the turns in which
    the machine did least beside. Needs an application. Raises MeasureError."""
    say(f"Measuring our ticks and finplot's by turns over {_PAIRED_SIZE:,} candles.")
    ticks, pairs = TICKS, []
    with tempfile.TemporaryDirectory(prefix="ghostcandle-peer-") as folder:
        file = Path(folder) / f"{_PAIRED_SIZE}.npz"
        _save(file, _PAIRED_SIZE)
        rig = Rig(_PAIRED_SIZE)
        try:
            for _ in range(_PAIRS):
                ours = take(ticks, [rig], samples)[_PAIRED_SIZE].summary()["p50"]
                theirs = _measure(environment.python, file, samples)["tick_ms"]["p50"]
                pairs.append({"ours_p50": ours, "finplot_p50": theirs})
        finally:
            rig.close()
    smallest = {name: min(pair[name] for pair in pairs) for name in ("ours_p50", "finplot_p50")}
    return {"size": _PAIRED_SIZE, "pairs": pairs, "ratio": smallest["finplot_p50"] / smallest["ours_p50"]}


def _save(file: Path, count: int) -> None:
    made = scenario.columns(count)
    prices = dict(zip(("open", "high", "low", "close"), made.values, strict=False))
    np.savez(file, open_time_ms=made.open_time_ms, **prices)


def _measure(python: Path, file: Path, samples: int) -> dict[str, Any]:
    command = [str(python), str(_SCRIPT), str(file), str(IN_VIEW), str(samples)]
    done = _run(command, _MEASURE_WITHIN_S)
    if done.returncode != 0:
        raise MeasureError(f"finplot could not be measured: {_last_line(done)}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _install_commands(folder: Path, python: Path, packages: Sequence[str]) -> list[list[str]]:
    """With uv where there is one, else with venv and pip."""
    uv = shutil.which("uv")
    if uv is not None:
        return [
            [uv, "venv", "--quiet", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", str(python), *packages],
        ]
    return [
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
    ]


def _run_tool(command: list[str]) -> None:
    done = _run(command, _INSTALL_WITHIN_S)
    if done.returncode != 0:
        raise MeasureError(
            f"finplot could not be installed: {_last_line(done)} "
            f"It is fetched from the package index that pip or uv is set up for; is there a network?"
        )


def _run(command: list[str], within_s: float) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=within_s, check=False, env=environment, cwd=Path.home()
        )
    except subprocess.TimeoutExpired as error:
        raise MeasureError(f"{Path(command[0]).name} took longer than {within_s:.0f} s and was ended.") from error
    except OSError as error:
        raise MeasureError(f"{command[0]} could not be started ({error.strerror or error}).") from error


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return f"{lines[-1].rstrip('.')}." if lines else f"it ended with exit code {done.returncode}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", help="stored candles, by commas")
    parser.add_argument("--repeats", type=int, default=100, help="samples of each figure")
    parser.add_argument("--json", action="store_true", help="one object instead of lines")
    given = parser.parse_args()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    environment = PeerEnvironment(user_cache_path("ghostcandle", appauthor=False))
    say: Say = lambda sentence: print(sentence, file=sys.stderr)  # noqa: E731
    try:
        environment.prepare(say)
        application()
        sizes = [int(size) for size in given.sizes.split(",")]
        found = measure_finplot(environment, sizes, given.repeats, say)
        found["tick_pairs"] = paired_ticks(environment, given.repeats, say)
    except MeasureError as error:
        sys.exit(str(error))
    if given.json:
        print(json.dumps(found))
        return
    for size in sizes:
        tick, pan = (found[str(size)][name] for name in ("tick_ms", "pan_ms"))
        print(f"{size:,}: tick {tick['p50']:.2f}/{tick['p99']:.2f} ms, pan {pan['p50']:.2f}/{pan['p99']:.2f} ms")
    ratio = found["tick_pairs"]["ratio"]
    verdict = "met" if ratio >= _WANTED_RATIO else "NOT MET"
    print(f"{verdict}  finplot's tick over ours: {ratio:.2f} (at least {_WANTED_RATIO:g})")


if __name__ == "__main__":
    main()
