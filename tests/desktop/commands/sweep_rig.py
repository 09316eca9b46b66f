"""Sweeps as a user runs them: as processes, with workers that can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from core.sweeps.store import FILE_NAME, SweepStore
from tests.desktop.commands.walk_files import write
from tests.support import commands
from tests.support.waiting import wait_until

CANDLES = 12
PLAN = f"""
files = "*.csv"
seeds = [1, 2]
candles = {CANDLES}
[settings]
training.learning_rate = [1e-5, 3e-5]
"""
CELLS = 8


class SweepRig:
    """A plan of CELLS tiny cells and the processes that compute them."""

    def __init__(self, root: Path, plan: str = PLAN) -> None:
        self.root = root
        self.data = commands.configure(root / "data")
        for seed, name in enumerate(("alpha", "beta")):
            write(root / f"{name}.csv", seed)
        self.plan = root / "SWEEP.toml"
        self.plan.write_text(plan)

    def arguments(self, folder: str, *options: str) -> tuple[str, ...]:
        place = str(self.root / folder)
        return ("sweep", str(self.plan), "--folder", place, "--data-dir", str(self.data), *options)

    def run(self, folder: str, *options: str) -> str:
        """To the end. Returns the digest of the table."""
        done = commands.run_json(*self.arguments(folder, *options), timeout_s=900.0)
        assert (done["cells"], done["done"]) == (CELLS, CELLS), done
        return str(done["digest"])

    def start(self, folder: str, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            commands.command(*self.arguments(folder, *options)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=commands.ROOT,
            start_new_session=True,
        )

    def ended(self, folder: str) -> int:
        if not (self.root / folder / FILE_NAME).exists():
            return 0
        with SweepStore(self.root / folder, readonly=True) as store:
            return sum(row.worker is not None for row in store.read_cells())

    def digest(self, folder: str) -> str:
        with SweepStore(self.root / folder, readonly=True) as store:
            return store.digest()


class Scheduler:
    """A scheduler of Dask as its documentation starts one, which can be killed and started again."""

    def __init__(self, root: Path, host: str = "127.0.0.1") -> None:
        self._file, self._host, self.port = root / "scheduler.json", host, 0
        self.start()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._file.unlink(missing_ok=True)
        place = ("--host", self._host, "--port", str(self.port), "--scheduler-file", str(self._file))
        self.process = _dask("scheduler", *place, "--no-dashboard")
        wait_until(self._is_up, "the scheduler's file")

    def _is_up(self) -> bool:
        with contextlib.suppress(OSError, ValueError):
            found = re.search(r":(\d+)$", json.loads(self._file.read_text())["address"])
            self.port = int(found[1]) if found else 0
            return True
        return False


def worker(
    scheduler: str, *options: str, before: tuple[str, ...] = (), root: Path = commands.ROOT
) -> subprocess.Popen[str]:
    """before: a command that starts it, such as `ip netns exec NAME`. root: of the program's sources."""
    place = ("--nthreads", "1", "--no-dashboard", "--no-nanny")
    return _dask("worker", scheduler, *place, *options, before=before, root=root)


def _dask(
    kind: str, *arguments: str, before: tuple[str, ...] = (), root: Path = commands.ROOT
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def kill(process: subprocess.Popen[str]) -> None:
    """By SIGKILL, and wait for its end."""
    process.kill()
    process.communicate()


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes below the sweep that compute: those with torch's library in memory."""
    with contextlib.suppress(psutil.Error):
        return [child for child in psutil.Process(process.pid).children(recursive=True) if _has_torch(child)]
    return []


def _has_torch(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return any("libtorch_cpu" in each.path for each in process.memory_maps())
    return False


@contextlib.contextmanager
def namespaces(count: int) -> Iterator[list[tuple[str, str]]]:
    """Network namespaces of their networks; yields the name of each, and the address of this machine in it."""
    found = []
    try:
        for place in range(count):
            name, net = f"ghost{os.getpid() % 10_000}-{place}", f"10.213.{place}"
            found.append((name, f"{net}.1"))
            _ip("netns", "add", name)
            _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("addr", "add", f"{net}.1/24", "dev", name)
            _ip("link", "set", name, "up")
            _ip("-n", name, "addr", "add", f"{net}.2/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield found
    finally:
        for name, _ in found:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
