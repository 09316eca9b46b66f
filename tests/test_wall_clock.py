"""No fast test sleeps, waits for the wall clock or compares an elapsed time."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.support.wall_clock import uses_of_real_time

ROOT = Path(__file__).resolve().parents[1]
ON_VIRTUAL_TIME = ("tests/venue/", "tests/simulation/", "tests/core/market/", "tests/core/alerts/")
"""Where a coroutine's loop is virtual."""
MAY_USE_REAL_TIME = {
    "tests/benchmarks/browser.py:*": "a program: python -m tests.benchmarks",
    "tests/benchmarks/chart/*.py:*": "the same",
    "tests/benchmarks/finplot_chart.py:*": "a program: python -m tests.benchmarks.peers",
    "tests/benchmarks/ghost.py:*": "a program: python -m tests.benchmarks",
    "tests/benchmarks/start.py:*": "a program: python -m tests.benchmarks",
    "tests/benchmarks/sweeps_page.py:*": "a program: python -m tests.benchmarks.sweeps_page",
    "tests/conftest.py:_wait_until_gone": "threads and child processes end by themselves",
    "tests/core/storage/children.py:wait_for_the_end": "a child process that sleeps until it is killed",
    "tests/desktop/whole_window.py:until": "polls a whole window, with its threads and child processes",
    "tests/sabotage/runner.py:*": "a program: make sabotage",
    "tests/stranger/stopwatch.py:*": "measures the real window in a slow test",
    "tests/stranger/user.py:until": "polls a real screen",
    "tests/support/budget.py:*": "a program: make check",
    "tests/support/check.py:*": "a program: make check",
    "tests/support/exchange/clock.py:*": "the time of an exchange on real sockets",
    "tests/support/exchange/server.py:*": "sleeps on the loop of its test, whose time is virtual without real sockets",
    "tests/support/exchange/streaming.py:*": "sleeps on the loop of its test, whose time is virtual",
    "tests/support/fault_proxy.py:*": "sleeps on the loop of its test, whose time is virtual without real sockets",
    "tests/support/faulty_trainer.py:*": "a child process that hangs on purpose, until it is killed",
    "tests/support/*picture*.py:*": "a program: make pictures",
    "tests/support/waiting.py:wait_until": "polls child processes",
    "tests/support/watching.py:*": "a program: make pictures",
}
"""File and outermost function, and why."""

SPELLINGS = {
    "time.sleep": "import time\ndef test(): time.sleep(0.1)",
    "imported": "from time import sleep\ndef test(): sleep(0.1)",
    "renamed": "from time import sleep as nap\ndef test(): nap(0.1)",
    "renamed module": "import time as t\ndef test(): t.sleep(0.1)",
    "imported inside": "def test():\n from time import sleep\n sleep(0.1)",
    "handed on": "import time\ndef test(): wait(time.sleep)",
    "asyncio.sleep of a constant": "import asyncio\nasync def test(): await asyncio.sleep(0.1)",
    "asyncio.sleep of a variable": "import asyncio\nasync def test(): await asyncio.sleep(delay_s)",
    "asyncio.sleep of a named argument": "import asyncio\nasync def test(): await asyncio.sleep(delay=1)",
    "asyncio.sleep imported": "from asyncio import sleep\nasync def test(): await sleep(1)",
    "qWait": "from PySide6.QtTest import QTest\ndef test(): QTest.qWait(10)",
    "qWait of the module": "from PySide6 import QtTest\ndef test(): QtTest.QTest.qWait(10)",
    "qSleep": "from PySide6.QtTest import QTest\ndef test(): QTest.qSleep(10)",
    "qtbot.wait": "def test(qtbot): qtbot.wait(10)",
    "qtbot.wait of a helper": "class Bench:\n def pause(self): self.qtbot.wait(10)",
    "msleep": "from PySide6.QtCore import QThread\ndef test(): QThread.msleep(10)",
    **{
        f"{name}{form}": f"import time\ndef test(): began = time.{name}{form}()"
        for name in ("monotonic", "perf_counter", "thread_time", "process_time")
        for form in ("", "_ns")
    },
    "clock_gettime": "import time\ndef test(): began_s = time.clock_gettime(time.CLOCK_BOOTTIME)",
    "timeit": "import timeit\ndef test(): assert timeit.timeit(draw, number=3) < 1",
    "timeit imported": "from timeit import default_timer as now_s\ndef test(): began_s = now_s()",
    "QElapsedTimer": "from PySide6.QtCore import QElapsedTimer\ndef test(): timer = QElapsedTimer()",
    "QElapsedTimer of the module": "from PySide6 import QtCore\ndef test(): timer = QtCore.QElapsedTimer()",
    "the program's clock": "from core.domain.clock import SystemClock\ndef test(): SystemClock().sleep_s(1)",
    "the program's clock under a name": (
        "from core.domain.clock import SystemClock\nCLOCK = SystemClock()\ndef test(): CLOCK.monotonic_s()"
    ),
    "the program's clock under a name with a type": (
        "from core.domain.clock import Clock, SystemClock\nCLOCK: Clock = SystemClock()\ndef test(): CLOCK.sleep_s(1)"
    ),
    "the program's clock in a class": (
        "from core.domain.clock import SystemClock as Clock\nclass Rig:\n"
        " def __init__(self): self.clock = Clock()\n def pause(self): self.clock.sleep_s(1)"
    ),
    "a new event": "import threading\ndef test(): threading.Event().wait(60)",
    "a new event, imported": "from threading import Event\ndef test(): Event().wait(timeout=pause_s)",
    "a short wait": "def test(event): event.wait(0.5)",
    "a short wait by name": "def test(process): process.wait(timeout=2)",
    "a short join": "def test(thread): thread.join(0.1)",
    "a wait for what must not come": "def test(qtbot):\n with qtbot.assertNotEmitted(done, wait=200): act()",
    "the time of a real loop": "import asyncio\nasync def test(): began_s = asyncio.get_running_loop().time()",
    "the time of a real loop under a name": (
        "import asyncio\nasync def test():\n loop = asyncio.get_running_loop()\n began_s = loop.time()"
    ),
    "time.time compared": "import time\ndef test():\n while time.time() < end_s: look()",
    "time.time subtracted": "import time\ndef test(): took_s = time.time() - began_s",
    "time.time_ns compared": "import time\ndef test(): assert time.time_ns() - began < 10",
    "datetime subtracted": "from datetime import datetime\ndef test(): took = datetime.now() - began",
    "datetime of the module": "import datetime as dt\ndef test(): assert dt.datetime.now(dt.UTC) < end",
    "a difference of two names": (
        "from datetime import datetime\ndef test():\n a = datetime.now()\n b = datetime.now()\n assert (b - a) < LIMIT"
    ),
    "QDateTime": "from PySide6.QtCore import QDateTime\ndef test(): QDateTime.currentMSecsSinceEpoch() - began_ms",
    "the date of the program's clock": (
        "from core.domain.clock import SystemClock\ndef test(): assert SystemClock().now_ms() - began_ms < 100"
    ),
    "a fixture": "import pytest, time\n@pytest.fixture\ndef rig():\n yield\n time.sleep(1)",
    "a helper": "import time\ndef until(condition):\n while not condition(): time.sleep(1)",
    "a function in a function": "import time\ndef test():\n def story(): time.sleep(1)\n story()",
    "outside of functions": "import time\nBEGAN_S = time.monotonic()",
    "a parameter's mark": (
        "import pytest, time\n"
        "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.slow)])\n"
        "def test(n): time.sleep(n)"
    ),
    "another mark": "import pytest, time\n@pytest.mark.slower\ndef test(): time.sleep(1)",
    "a mark of another function": (
        "import pytest, time\n@pytest.mark.slow\ndef test_one(): ...\ndef test_two(): time.sleep(1)"
    ),
    "a fixture's name in a module's mark": (
        "import pytest, time\npytestmark = pytest.mark.usefixtures('slow')\ndef test(): time.sleep(1)"
    ),
}
ALLOWED = {
    "a marked test": "import pytest, time\n@pytest.mark.slow\ndef test(): time.sleep(1)",
    "a mark with arguments": "import time\nfrom pytest import mark\n@mark.venue()\ndef test(): time.sleep(1)",
    "a marked module": "import pytest, time\npytestmark = pytest.mark.benchmark\ndef test(): time.sleep(1)",
    "a module of several marks": (
        "import pytest, time\npytestmark = [\n pytest.mark.faults,\n pytest.mark.slow,\n]\ndef test(): time.sleep(1)"
    ),
    "letting the other tasks run": "import asyncio\nasync def test(): await asyncio.sleep(0)",
    "the date": "import time\ndef test(): exchange(time.time_ns() // 1_000_000)",
    "today": "from datetime import datetime\ndef test(): show(datetime.now().isoformat())",
    "the program's clock handed in": "from core.domain.clock import SystemClock\ndef test(): Feed(SystemClock())",
    "a limit": "def test(event, thread): assert event.wait(60.0); thread.join(timeout=60)",
    "a wait of something else": "def test(qtbot, event): event.wait(); qtbot.waitUntil(is_shown)",
    "a text": "def test(): run('import time; time.sleep(1)')",
}


def found() -> list[str]:
    """All uses under tests, as file and outermost function, with the line and what is used."""
    return [
        f"{name}:{use.function} line {use.line}: {use.name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for name in [path.relative_to(ROOT).as_posix()]
        for use in uses_of_real_time(path.read_text(encoding="utf-8"), is_virtual=name.startswith(ON_VIRTUAL_TIME))
    ]


def test_only_slow_tests_sleep_or_look_at_the_clock() -> None:
    uses = found()
    matched = {use: [place for place in MAY_USE_REAL_TIME if fnmatch(use, f"{place} line *")] for use in uses}
    assert [use for use, places in matched.items() if not places] == []
    needless = MAY_USE_REAL_TIME.keys() - {place for places in matched.values() for place in places}
    assert needless == set(), "nothing there uses real time any more"


@pytest.mark.parametrize("source", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_every_form_of_sleep_and_clock_is_found(source: str) -> None:
    assert uses_of_real_time(source)


@pytest.mark.parametrize("source", ALLOWED.values(), ids=ALLOWED.keys())
def test_virtual_time_is_not_reported(source: str) -> None:
    assert uses_of_real_time(source) == []


def test_on_virtual_time_only_a_task_may_sleep() -> None:
    source = "import asyncio, time\nasync def test():\n await asyncio.sleep(60)\n time.sleep(60)"
    assert [use.name for use in uses_of_real_time(source, is_virtual=True)] == ["time.sleep"]


def test_beside_virtual_time_a_test_that_runs_its_own_loop_may_not_sleep() -> None:
    source = "import asyncio\ndef test():\n async def story(): await asyncio.sleep(60)\n asyncio.run(story())"
    assert [use.name for use in uses_of_real_time(source, is_virtual=True)] == ["asyncio.sleep"]
