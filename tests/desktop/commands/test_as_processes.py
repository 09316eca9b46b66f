"""The commands as a user starts them: as processes, with their real streams, signals and children.

The other files test them within the tests' process; here one of each kind runs as a whole.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import resources
from core.domain.candle import Market
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from tests.core.training.pretraining.rigs import reverting, write
from tests.support import commands
from tests.support.candles import MINUTE
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape
from tests.support.waiting import wait_until

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
IN_A_CHILD = {**commands.TINY, "training": {**commands.TINY["training"], "host": "process"}}
HEAVY = ("torch", "ccxt", "pandas", "numpy", "PySide6")


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        commands.command(*arguments, "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env={**os.environ, **environment},
    )


def test_help_names_every_command_and_loads_nothing_heavy() -> None:
    done = commands.run("--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    for name in ("run", "headless", "evaluate", "metrics", "checkpoints", "doctor", "selftest"):
        assert name in done.stdout
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "desktop" in loaded and not loaded & set(HEAVY)


@pytest.mark.slow
def test_a_run_trains_in_a_child_process(tmp_path: Path) -> None:
    commands.configure(tmp_path, IN_A_CHILD)
    summary = commands.run_json("headless", "--feed", "simulate", "--candles", "15", "--data-dir", str(tmp_path))
    assert (summary["candles"], summary["steps"]) == (15, 14)
    log = (tmp_path / "logs" / "trainer.log").read_text(encoding="utf-8")
    assert "step 14, SIM-" in log, "the child has its log beside the command's"


@pytest.mark.slow
def test_the_doctor_passes_this_machine_without_importing_torch(tmp_path: Path) -> None:
    done = commands.run("doctor", "--json", "--data-dir", str(tmp_path), PYTHONPROFILEIMPORTTIME="1")
    answer = json.loads(done.stdout)
    findings = {found["name"]: found for found in answer["findings"]}
    wanted = {"Python", "Qt", "Display", "System libraries", "Fonts", "torch", "GPU", "ccxt", "Data folder", "Database"}
    assert answer["ok"] and wanted <= set(findings)
    assert "build" in findings["GPU"]["details"] and "offscreen" in findings["Qt"]["what"]
    assert not any(line.endswith(" torch") for line in done.stderr.splitlines())


@pytest.mark.slow
def test_an_evaluation_ends_when_its_stdin_is_closed(tmp_path: Path) -> None:
    commands.configure(tmp_path, IN_A_CHILD)
    where = ("--progress-lines", "--data-dir", str(tmp_path))
    with start("evaluate", str(SAMPLE), *where) as process:
        try:
            assert process.stderr is not None and process.stdin is not None and process.stdout is not None
            next(line for line in process.stderr if line.startswith('{"progress"'))
            process.stdin.close()
            rest = process.stderr.read()
            assert "nothing was judged" in json.loads(process.stdout.read())["error"]
            assert process.wait(timeout=60.0) == 130, rest
        finally:
            process.kill()


@pytest.mark.slow
def test_an_interrupted_pretraining_keeps_the_best_checkpoint(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    candles = write(tmp_path / "reverting.csv", reverting(400))
    endless = ("--epochs", "100000", "--patience", "100000", "--data-dir", str(tmp_path))
    with start("pretrain", str(candles), *endless) as process:
        try:
            wait_until(lambda: bool(list(tmp_path.rglob("pretrained-*.json"))), "the first weights", process=process)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=120.0)
        finally:
            process.kill()
    result = json.loads(out)
    assert process.returncode == 0 and result["interrupted"], err
    assert (tmp_path / result["checkpoint"]["file"]).exists()


MARKET = Market("binance", "BTC/USDT", MINUTE)
NOW_MS = 1_700_000_000_000 - 1_700_000_000_000 % 60_000 + 30_000
HISTORY = 12_000


@pytest.fixture
def exchange() -> Iterator[LoopbackExchange]:
    served = LoopbackExchange(generated_tape(MINUTE, NOW_MS, HISTORY, 10), lambda: NOW_MS)
    with loopback_thread(served):
        yield served


@pytest.mark.venue
def test_a_backfill_that_is_interrupted_and_killed_continues_and_leaves_no_hole(
    exchange: LoopbackExchange, tmp_path: Path
) -> None:
    """By Ctrl+C, then by SIGKILL at an arbitrary moment, then to the end."""
    closed = list(exchange.tape.candles[:HISTORY])
    exchange.hidden = {closed[n].open_time_ms for n in (3_000, 3_001, 9_999)}
    expected = [candle for candle in closed if candle.open_time_ms not in exchange.hidden]
    urls = json.dumps({"public": exchange.urls.public, "ws": exchange.urls.ws})
    since = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(closed[0].open_time_ms / 1000))
    named = ("--venue", "binance", "--symbol", "BTC/USDT", "--interval", "1m", "--since", since)

    def begin() -> subprocess.Popen[str]:
        return start("backfill", *named, "--data-dir", str(tmp_path), GHOSTCANDLE_EXCHANGE_URLS=urls)

    def pages() -> int:
        return sum("/klines" in request for request in exchange.requests)

    def stored() -> list[object]:
        with open_database(DataFolder(tmp_path).database, readonly=True) as db:
            return list(CandleStore(db).load(MARKET))

    for number in (signal.SIGINT, signal.SIGKILL):
        before = pages()
        process = begin()
        wait_until(lambda before=before: pages() >= before + 2, "two more pages", process=process)  # type: ignore[misc]
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
        if number == signal.SIGINT:
            assert process.returncode == 130 and "continues from there" in json.loads(out)["error"]
    so_far = stored()
    assert 0 < len(so_far) < len(expected) and so_far == expected[: len(so_far)]
    out, err = begin().communicate(timeout=60)
    result = json.loads(out)
    assert result["stored"] == len(expected) - len(so_far), err
    assert (result["all_absent"], result["left"]) == (3, 0)
    assert stored() == expected


def test_a_name_that_the_terminal_cannot_show_is_shown_with_question_marks(tmp_path: Path) -> None:
    named = tmp_path / "ün\udcff.csv"
    named.write_bytes(SAMPLE.read_bytes())
    market = ("--venue", "file", "--symbol", "ün", "--data-dir", str(tmp_path / "data"))
    done = commands.run("import", str(named), *market, "--dry-run", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "?n?.csv" in done.stdout, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full is a file on Linux")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_behind_stdout_is_no_mistake_of_ours(tmp_path: Path, as_json: bool) -> None:
    data = commands.configure(tmp_path / "data")
    asked = ["import", str(SAMPLE), "--venue", "file", "--symbol", "A", "--dry-run", "--data-dir", str(data)]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            commands.command(*asked, *["--json"] * as_json),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=commands.ROOT,
            env=buffered,
            check=False,
        )
    assert done.returncode == 1 and "no room" in done.stderr
    assert "Traceback" not in done.stderr and "mistake" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("named", ["desktop.commands.cli", "torch.nn"])
def test_ctrl_c_while_modules_are_imported_ends_a_command_without_a_traceback(tmp_path: Path, named: str) -> None:
    """At once, or after torch, which has lost it: check-model continued to its end."""
    code = f"""
import importlib.abc, os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {named!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["ghostcandle", "check-model", "gru", "--json", "--data-dir", {str(tmp_path)!r}]
runpy.run_module("desktop", run_name="__main__")
"""
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, capture_output=True, text=True, cwd=commands.ROOT, check=False, timeout=120)
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert done.stdout == "" if named == "desktop.commands.cli" else "error" in json.loads(done.stdout)


def test_threads_of_a_loop_run_after_qt_is_imported() -> None:
    """On Python 3.15 PySide6 6.12 keeps modules from loading what they load at the first use."""
    code = """
import asyncio
from desktop import __main__
from desktop.commands import cli

def run_qt_command():
    import PySide6.QtCore
    asyncio.run(asyncio.to_thread(print, "done"))
    return 0

cli.run_command_line = run_qt_command
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=commands.ROOT, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
