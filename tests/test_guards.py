"""The guards of conftest.py, shown with faulty tests in a separate pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

WRONG = """
import asyncio, subprocess, sys, threading
import pytest
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QWidget
from tests import conftest

conftest._GRACE_S = 0.2  # what is left here would not go within a minute either
kept = []

def test_clean(qtbot):
    widget, timer, thread = QWidget(), QTimer(), QThread()
    qtbot.addWidget(widget)
    timer.start(1000); timer.stop()
    thread.start(); thread.quit(); assert thread.wait(5000)
    done = threading.Thread(target=lambda: None); done.start()

def test_deleted_later(qapp):
    widget = QWidget()
    widget.show()
    widget.deleteLater()
    kept.append(widget)

def test_thread():
    over = threading.Event()
    kept.append(over)
    threading.Thread(target=over.wait, name="left", daemon=True).start()

def test_child():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_widget(qapp):
    kept.append(QWidget())

def test_timer(qapp):
    timer = QTimer()
    timer.start(1000)
    kept.append(timer)
    kept.append(timer.stop)

def test_timer_stopped_now(qapp):
    kept.pop()()

def test_qthread(qapp):
    thread = QThread()
    thread.start()
    kept.append(thread)

async def serve():
    async with await asyncio.start_server(print, "127.0.0.1", 0):
        pass

def test_server():
    asyncio.run(serve())

@pytest.mark.venue
def test_marked_server():
    asyncio.run(serve())

def test_end(qapp):
    kept[-1].quit()
    assert kept[-1].wait(5000)
    for item in kept:
        if isinstance(item, subprocess.Popen):
            item.stdin.close()
            item.wait()
    kept[1].set()
    kept.clear()

@pytest.mark.needs_data
def test_wants_data():
    pytest.skip("on purpose")
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Result of each faulty test: empty, or the failure message. As in CI."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "test_wrong.py").write_text(WRONG, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-n",
        "0",
    ]
    command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "--junit-xml", str(folder / "report.xml")]
    done = subprocess.run(
        [*command, str(folder)],
        cwd=ROOT,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (folder / "report.xml").exists(), done.stdout + done.stderr
    cases: dict[str, str] = {}
    for case in ET.parse(folder / "report.xml").iter("testcase"):
        cases[case.attrib["name"]] = cases.get(case.attrib["name"], "") + "".join(
            problem.tag + " " + (problem.attrib.get("message") or "") for problem in case
        )
    return cases


@pytest.mark.parametrize("name", ["clean", "deleted_later", "timer_stopped_now", "marked_server", "end"])
def test_tests_that_clean_up_pass(outcomes: dict[str, str], name: str) -> None:
    assert outcomes[f"test_{name}"] == ""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("thread", "threads left running: ['left']"),
        ("child", "child processes left running"),
        ("widget", "top-level widgets left"),
        ("timer", "timers left active: ['every 1000 ms"),
        ("qthread", "QThreads left running: [\"QThread ''\"]"),
    ],
)
def test_leftovers_are_reported(outcomes: dict[str, str], name: str, sentence: str) -> None:
    assert sentence in outcomes[f"test_{name}"]


def test_a_server_on_a_real_socket_is_refused(outcomes: dict[str, str]) -> None:
    assert "only a test that is marked slow, venue, " in outcomes["test_server"]


def test_real_data_tests_may_not_be_skipped_if_the_data_exists(outcomes: dict[str, str]) -> None:
    is_there = (ROOT.parent / "shared" / "data").is_dir()
    assert outcomes["test_wants_data"].startswith("failure" if is_there else "skipped")
