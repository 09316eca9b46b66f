"""Rules for every test: offscreen Qt, repeatable hypothesis, and nothing left running afterwards."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything imports Qt
# Before anything imports NumPy or torch: with a worker per core, more threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

from concurrent.futures import ThreadPoolExecutor as ThreadPoolExecutor  # before PySide6, as desktop/__main__.py does

import psutil
import pytest
from hypothesis import HealthCheck, settings, strategies
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

pytest_plugins = ("tests.support.blank_database", "tests.support.shared_rewriting")
"""By their names: `tests.support.touched` takes what is imported here for near to every test."""

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_GRACE_S = 60.0
_FULL_COLLECTION_EVERY, _TRIM_EVERY = 500, 50
"""Tests. A full collection takes half a second and finds little; giving back memory takes a hundredth of that."""
_KERNEL_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()
_QUIET_THREADS = ("asyncio_", "ThreadPoolExecutor", "QThread", "Dummy-", "pytest_timeout", "AnyIO", "Dask-")
"""Pools that keep idle threads for the next task, and threads that Python merely met."""

_MAY_SERVE = ("slow", "venue", "benchmark", "bundle")

_EXAMPLES = 500 if "GHOSTCANDLE_SOAK" in os.environ else 50
settings.register_profile(
    "default", deadline=None, max_examples=_EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.hookimpl(trylast=True)  # before hypothesis's own it warns of slow start-up
def pytest_sessionstart() -> None:
    """Hypothesis's table of the characters of UTF-8: the first strategy of texts computes it and takes 200 MB for that,
    which a worker late in its run, on top of all else, has not."""
    strategies.text().validate()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """The cores that this process may use, where the system says so; xdist would count those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


class PatientQtBot(QtBot):
    """Gives a busy machine its time: a wait ends when its condition holds, and its limit only says when to give up."""

    least_ms = 60_000

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = 0) -> None:
        super().waitUntil(callback, timeout=max(timeout, self.least_ms))

    def waitSignal(self, signal: Any, *, timeout: int = 0, raising: bool | None = None, **more: Any) -> Any:
        is_to_come = raising is not False  # assertNotEmitted waits for nothing
        return super().waitSignal(
            signal, timeout=max(timeout, self.least_ms) if is_to_come else timeout, raising=raising, **more
        )

    def waitSignals(self, signals: Any, *, timeout: int = 0, **more: Any) -> Any:
        return super().waitSignals(signals, timeout=max(timeout, self.least_ms), **more)

    def waitActive(self, widget: QWidget, *, timeout: int = 0) -> Any:
        return super().waitActive(widget, timeout=max(timeout, self.least_ms))

    def waitExposed(self, widget: QWidget, *, timeout: int = 0) -> Any:
        return super().waitExposed(widget, timeout=max(timeout, self.least_ms))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientQtBot(request)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """An empty data folder."""
    return tmp_path / "data"


@pytest.fixture
def shared_data() -> Path:
    """Real market data, which lies beside the project and is never committed. Use it with `needs_data`."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real market data (../shared/data) is not on this machine")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    """No thread, child process, QTimer, QThread or top-level widget outlives the test that made it."""
    threads, children = set(threading.enumerate()), _children()
    widgets = {_address(widget) for widget in _top_level_widgets()}
    _collect_what_fixtures_released()
    yield
    _release_mouse_and_keys()
    _let_qt_delete()
    leaked = _wait_until_gone(lambda: [thread.name for thread in _own_threads() if thread not in threads])
    assert not leaked, f"threads left running: {leaked}"
    orphans = _wait_until_gone(lambda: sorted(_children() - children))
    assert not orphans, f"child processes left running: {orphans}"
    if _living("QTimer", "QThread") or _has_widgets():
        gc.collect()  # a window in a reference cycle goes now, not at a random later moment
        _let_qt_delete()
    left = [widget for widget in _top_level_widgets() if _address(widget) not in widgets]
    assert not left, f"top-level widgets left: {left}"
    living = _living("QTimer", "QThread")
    timers = _active_timers(living)
    assert not timers, f"timers left active: {timers}"
    running = _wait_until_gone(lambda: _running_qthreads(living))
    assert not running, f"QThreads left running: {running}"
    assert _keep_denormals(), "denormals left flushed to zero: a training service was not closed"


@pytest.fixture(autouse=True)
def other_threads_collect_no_garbage(request: pytest.FixtureRequest) -> Iterator[None]:
    """Of windows, as in the program (`desktop.app.interpreter.collected_here`): one in a reference cycle that another
    thread destroys ends the process now or later. A long test would need too much memory without collections."""
    is_long = request.node.get_closest_marker("slow") is not None
    if "qapp" in request.fixturenames and not is_long:
        gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def only_marked_tests_serve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other test opens a port; on virtual time the network is in memory."""
    if not any(map(request.node.get_closest_marker, _MAY_SERVE)):
        monkeypatch.setattr(asyncio.BaseEventLoop, "create_server", _refuse_to_serve)


async def _refuse_to_serve(*_: object, **__: object) -> None:
    raise AssertionError(f"only a test that is marked {', '.join(_MAY_SERVE)} serves on a real socket")


def _keep_denormals() -> bool:
    """Whether this thread kept them. It does from now on: hypothesis draws them."""
    if sys.float_info.min / 2.0 > 0.0:
        return True
    sys.modules["torch"].set_flush_denormal(False)
    return False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI, a test that wants the real data may not be skipped while it is there."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    is_wanted = item.get_closest_marker("needs_data") is not None and SHARED_DATA.is_dir()
    if os.environ.get("CI") and is_wanted and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although ../shared/data is there"


def pytest_report_header() -> str:
    seed = os.environ.get("PYTHONHASHSEED", "random")
    profile = "ci (derandomised)" if os.environ.get("CI") else "default"
    return f"hypothesis profile: {profile}; hash seed: {seed}; real data: {SHARED_DATA.is_dir()}"


_test_numbers = itertools.count(1)


def _collect_what_fixtures_released() -> None:
    """Windows of the previous test are freed now: pytest releases its fixtures only after their teardown, in cycles.

    What is older is frozen, so that a collection after each test does not look through the million objects of torch.
    A frozen object is never collected: now and then everything is looked through. What the allocators hold of freed
    objects goes back to the system more often (without that a worker grows by another 100 MB).
    """
    number = next(_test_numbers)
    if number % _FULL_COLLECTION_EVERY == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    if number % _TRIM_EVERY == 0:
        _give_back_memory()


def _give_back_memory() -> None:
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def _own_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if not thread.name.startswith(_QUIET_THREADS)]


def _children() -> set[str]:
    """Child processes by kind; multiprocessing's resource tracker lives as long as its parent."""
    found: set[str] = set()
    for pid in _descendants(os.getpid()):
        try:
            child = psutil.Process(pid)
            command = " ".join(child.cmdline())
            if child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in command:
                found.add(f"{pid} {command}")
        except psutil.NoSuchProcess:
            continue
    return found


def _descendants(pid: int) -> list[int]:
    """Read from the kernel where it lists them: psutil reads every process of the machine, twice a test."""
    if not _KERNEL_LISTS_CHILDREN:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    found = [int(child) for thread in _threads_of(pid) for child in _words(f"/proc/{pid}/task/{thread}/children")]
    return found + [further for child in found for further in _descendants(child)]


def _threads_of(pid: int) -> list[str]:
    try:
        with os.scandir(f"/proc/{pid}/task") as entries:  # `glob` takes ten times as long, twice a test
            return [entry.name for entry in entries]
    except OSError:  # the process has just ended
        return []


def _words(path: str) -> list[str]:
    try:
        return Path(path).read_text().split()
    except OSError:  # the thread or the process has just ended
        return []


def _wait_until_gone(look: object) -> list[str]:
    assert callable(look)
    until = time.monotonic() + _GRACE_S
    while (left := look()) and time.monotonic() < until:
        _let_qt_delete()
        time.sleep(0.02)
    return list(left)


def _application() -> object | None:
    widgets = sys.modules.get("PySide6.QtWidgets")
    return None if widgets is None else widgets.QApplication.instance()


def _let_qt_delete() -> None:
    """Carry out `deleteLater`, which only an event loop does."""
    if _application() is not None:
        core = sys.modules["PySide6.QtCore"]
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
        core.QCoreApplication.processEvents()


def _release_mouse_and_keys() -> None:
    """A button that QTest pressed stays down for every later test until one is released; mouseDClick never does. So
    do Shift and Ctrl of a click or key: until the next event `selectRow` would extend a selection with Shift."""
    if _application() is None:
        return
    from PySide6.QtCore import Qt  # noqa: PLC0415 - only where Qt is loaded
    from PySide6.QtTest import QTest  # noqa: PLC0415 - as above

    state = sys.modules["PySide6.QtGui"].QGuiApplication
    for button in state.mouseButtons():
        QTest.mouseRelease(sys.modules["PySide6.QtWidgets"].QWidget(), button)
    if state.keyboardModifiers().value:
        QTest.keyRelease(sys.modules["PySide6.QtWidgets"].QWidget(), Qt.Key.Key_Shift)
    assert not state.mouseButtons().value and not state.keyboardModifiers().value


def _has_widgets() -> bool:
    application = _application()
    return application is not None and bool(application.allWidgets())  # type: ignore[attr-defined]


def _top_level_widgets() -> list[object]:
    application = _application()
    if application is None:
        return []
    # Qt's own helpers, and the menus without a parent that a pyqtgraph plot keeps until pytest releases its fixtures
    helpers = ("QTipLabel", "QComboBoxPrivateContainer", "QDesktopScreenWidget", "QMenu")
    widgets = application.topLevelWidgets()  # type: ignore[attr-defined]
    return [widget for widget in widgets if widget.metaObject().className() not in helpers]


def _address(widget: object) -> int:
    """Where Qt has it: Python makes a new object each time for one that nobody holds, as Qt's own of a shown view."""
    import shiboken6  # noqa: PLC0415 - only where Qt is loaded

    return int(shiboken6.getCppPointer(widget)[0])


def _active_timers(living: list[Any]) -> list[str]:
    active = [timer for timer in _those_of("QTimer", living) if timer.isActive()]
    return [f"every {timer.interval()} ms in {timer.parent()!r}" for timer in active]


def _running_qthreads(living: list[Any]) -> list[str]:
    threads = _those_of("QThread", living)
    here = threads and type(threads[0]).currentThread()  # the main thread, which always runs
    running = [thread for thread in threads if thread is not here and thread.isRunning()]
    return [f"{type(thread).__name__} {thread.objectName()!r}" for thread in running]


def _those_of(name: str, living: list[Any]) -> list[Any]:
    """Of this class, unless Qt has deleted them meanwhile."""
    if not living:
        return []
    import shiboken6  # noqa: PLC0415 - only where Qt is loaded

    kind = getattr(sys.modules["PySide6.QtCore"], name)
    return [item for item in living if isinstance(item, kind) and shiboken6.isValid(item)]


def _living(*names: str) -> list[Any]:
    """The objects of these classes of QtCore that Python holds and Qt has not deleted."""
    if _application() is None:
        return []
    import shiboken6  # noqa: PLC0415 - only where Qt is loaded

    kinds = tuple(getattr(sys.modules["PySide6.QtCore"], name) for name in names)
    # type(), because isinstance() asks some lazy objects of torch for their class, which warns
    return [item for item in gc.get_objects() if issubclass(type(item), kinds) and shiboken6.isValid(item)]
