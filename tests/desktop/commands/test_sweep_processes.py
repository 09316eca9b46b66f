"""`ghostcandle sweep` with real workers: the same bytes wherever cells run, and whatever is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.sweeps.rows import CellState
from core.sweeps.store import SweepStore
from tests.desktop.commands.sweep_rig import (
    CELLS,
    PLAN,
    Scheduler,
    SweepRig,
    kill,
    namespaces,
    worker,
    workers_of,
)
from tests.support import commands
from tests.support.waiting import wait_until

pytest.importorskip("distributed", reason="needs the extra cluster")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and process groups of Unix"),
]
KILLS = 10
LATE = (1, 4, 7)
"""Kills after a further cell has ended; where a start takes long, the others come before the first."""
can_divide_networks = sys.platform == "linux" and os.geteuid() == 0 and shutil.which("ip") is not None


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> SweepRig:
    return SweepRig(tmp_path_factory.mktemp("sweep"))


@pytest.fixture(scope="module")
def undisturbed(rig: SweepRig) -> str:
    """The digest of the table that one process computed."""
    return rig.run("alone", "--pool", "--workers", "1")


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Killed after the test."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        kill(process)


def test_one_worker_and_two_give_the_same_table(rig: SweepRig, undisturbed: str) -> None:
    assert rig.run("pool", "--pool", "--workers", "2") == undisturbed
    assert rig.run("one", "--workers", "1") == undisturbed
    assert rig.run("two", "--workers", "2") == undisturbed


@pytest.mark.skipif(not can_divide_networks, reason="network namespaces need Linux, root, and the program ip")
def test_two_workers_in_networks_apart_give_the_same_table(
    rig: SweepRig, undisturbed: str, processes: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    with namespaces(2) as apart:
        scheduler = Scheduler(tmp_path, "0.0.0.0")
        processes.append(scheduler.process)
        for name, host in apart:
            processes.append(worker(f"tcp://{host}:{scheduler.port}", before=("ip", "netns", "exec", name)))
        assert rig.run("apart", "--scheduler", scheduler.address) == undisturbed
        for process in processes:
            kill(process)


@pytest.mark.parametrize("options", [("--pool",), ()], ids=["pool", "dask"])
def test_ctrl_c_ends_it_within_ten_seconds_and_it_continues(
    rig: SweepRig,
    undisturbed: str,
    options: tuple[str, ...],
    processes: list[subprocess.Popen[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = "stopped" + "".join(options)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    sweep = rig.start(folder, "--workers", "2", *options)
    processes.append(sweep)
    wait_until(lambda: rig.ended(folder) >= 2, "two cells", 600.0, sweep)
    began_s = time.monotonic()
    os.killpg(sweep.pid, signal.SIGINT)
    _, errors = sweep.communicate(timeout=60)
    assert time.monotonic() - began_s < 10.0
    assert sweep.returncode == 130 and "The same command continues" in errors
    assert 2 <= rig.ended(folder) < CELLS
    assert not list(tmp_path.rglob("ghostcandle-cell-*")), "the folders of the cells that ran are removed"
    assert rig.run(folder, *options) == undisturbed


@pytest.mark.parametrize("options", [("--pool",), ()], ids=["pool", "dask"])
def test_killed_workers_and_sweeps_change_nothing(
    rig: SweepRig, undisturbed: str, options: tuple[str, ...], processes: list[subprocess.Popen[str]]
) -> None:
    chance, folder = random.Random(44), "killed" + "".join(options)
    for round_ in range(KILLS):
        sweep = rig.start(folder, "--workers", "2", *options)
        processes.append(sweep)
        if round_ in LATE:
            before = rig.ended(folder)
            wait_until(lambda before=before: rig.ended(folder) > before, "a cell that ends", 300.0, sweep)
            time.sleep(chance.uniform(0.0, 1.0))
        else:
            wait_until(lambda sweep=sweep: bool(workers_of(sweep)), "a worker", 300.0, sweep)
            time.sleep(chance.uniform(0.0, 3.0))
        if chance.random() < 0.5:
            for victim in workers_of(sweep)[:1]:
                victim.kill()
            time.sleep(chance.uniform(0.0, 2.0))
        kill(sweep)
        if rig.ended(folder) == CELLS:
            break
    assert rig.ended(folder) >= len(LATE), "what had ended before a kill is kept"
    assert rig.run(folder, *options) == undisturbed


def test_a_killed_scheduler_and_killed_workers_change_nothing(
    rig: SweepRig, undisturbed: str, processes: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    chance, folder = random.Random(45), "scheduled"
    with ExitStack() as stack:
        scheduler = Scheduler(tmp_path)
        workers = [worker(scheduler.address) for _ in range(2)]
        stack.callback(lambda: [kill(each) for each in (scheduler.process, *workers)])
        sweep = rig.start(folder, "--scheduler", scheduler.address)
        processes.append(sweep)
        for _ in range(KILLS):
            time.sleep(chance.uniform(1.0, 8.0))
            victim = chance.choice(("worker", "worker", "sweep", "scheduler"))
            if victim == "worker":
                place = chance.randrange(2)
                kill(workers[place])
                workers[place] = worker(scheduler.address)
            elif victim == "scheduler":
                for each in (scheduler.process, *workers):
                    kill(each)
                scheduler.start()
                workers = [worker(scheduler.address) for _ in range(2)]
            else:
                kill(sweep)
            if sweep.poll() is not None:
                sweep = rig.start(folder, "--scheduler", scheduler.address)
                processes.append(sweep)
        kill(sweep)
        assert rig.run(folder, "--scheduler", scheduler.address) == undisturbed


def test_a_worker_of_another_version_is_refused_with_a_sentence(
    rig: SweepRig, undisturbed: str, processes: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for package in ("core", "models", "resources"):
        shutil.copytree(commands.ROOT / package, other / package, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "core" / "sweeps" / "cell.py").open("a") as file:
        file.write("# another version\n")
    scheduler = Scheduler(tmp_path)
    processes += [scheduler.process, worker(scheduler.address, root=other), worker(scheduler.address)]
    sweep = rig.start("refused", "--scheduler", scheduler.address)
    processes.append(sweep)
    _, errors = sweep.communicate(timeout=900)
    assert sweep.returncode == 0 and errors.count("It gets no cells.") == 1 and "has Ghostcandle" in errors
    assert rig.digest("refused") == undisturbed


def test_cuda_cells_go_to_workers_with_a_gpu(
    rig: SweepRig, processes: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    scheduler = Scheduler(tmp_path)
    with_gpu = worker(scheduler.address, "--resources", "GPU=1")
    processes += [scheduler.process, worker(scheduler.address), with_gpu]
    plan = rig.root / "CUDA.toml"
    plan.write_text(PLAN.replace("seeds", 'device = "cuda"\nseeds'))
    options = ("--folder", str(tmp_path / "cuda"), "--scheduler", scheduler.address, "--data-dir", str(rig.data))
    done = commands.run_json("sweep", str(plan), *options, timeout_s=900.0)
    with SweepStore(tmp_path / "cuda", readonly=True) as store:
        rows = store.read_cells()
    assert {str(row.worker).rpartition(":")[2] for row in rows} == {str(with_gpu.pid)}
    assert done["cells"] == CELLS and all(row.state is CellState.DONE or row.sentence for row in rows)


def test_an_address_without_a_scheduler_is_a_sentence(rig: SweepRig) -> None:
    done = commands.run(*rig.arguments("nowhere", "--scheduler", "tcp://127.0.0.1:9"))
    assert done.returncode == 1 and "No Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
