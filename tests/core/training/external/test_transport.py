"""A real child process, each as small as it can be."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from core.training.external import transport as module
from core.training.external.protocol import LONGEST_LINE_BYTES
from core.training.external.transport import ProcessTransport, TransportEndedError
from core.training.recovery.exit_reasons import ExitReason, exit_reason

LONG_S = 60.0
"""No test waits so long: the line comes, or the process ends."""
Start = Callable[[str], ProcessTransport]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[ProcessTransport] = []

    def begin(code: str) -> ProcessTransport:
        started.append(ProcessTransport([sys.executable, "-I", "-S", "-c", code], "Test"))
        return started[-1]

    yield begin
    for transport in started:
        transport.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine an interpreter may need more than a second to start and end."""
    monkeypatch.setattr(module, "_GRACE_S", LONG_S)


@contextlib.contextmanager
def watched(process_id: int) -> Iterator[Callable[[], bool]]:
    """Whether a process that is not our child ends soon. Ends it after the block."""
    descriptor = os.pidfd_open(process_id)
    try:
        yield lambda: bool(select.select([descriptor], [], [], LONG_S)[0])
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)


def is_gone(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def test_lines_go_there_and_back(start: Start) -> None:
    transport = start("import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)")
    for word in ("one", "two ü"):
        transport.send(f"{word}\n".encode())
        assert transport.receive(LONG_S) == f"{word.upper()}\n".encode()
    assert transport.receive(0.0) is None


@pytest.mark.usefixtures("patient")
def test_closing_its_stdin_ends_it(start: Start) -> None:
    transport = start("import sys\nsys.stdin.read()\nprint('end', file=sys.stderr)")
    transport.close()
    assert transport.stderr_tail() == "end" and is_gone(transport.process_id)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it accessed memory that is not its own"),
        (f"print('x' * {LONGEST_LINE_BYTES + 1})", "it wrote a line of more than 1,000,000 bytes"),
    ],
)
def test_its_end_has_a_reason(start: Start, code: str, reason: str) -> None:
    transport = start(code)
    with pytest.raises(TransportEndedError, match=reason):
        transport.receive(LONG_S)


def test_a_command_that_does_not_exist_is_a_sentence() -> None:
    with pytest.raises(TransportEndedError, match="“/no/such/program” could not be started \\(No such file"):
        ProcessTransport(["/no/such/program"], "Test")


@pytest.mark.usefixtures("patient")
def test_what_it_wrote_last_is_known_with_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although its stderr is read after its stdout has ended."""
    copy, has_ended = ProcessTransport._copy_stderr, threading.Event()

    def copy_late(transport: ProcessTransport) -> None:
        assert has_ended.wait(LONG_S)
        copy(transport)

    def noted(code: int) -> ExitReason:
        has_ended.set()
        return exit_reason(code)

    monkeypatch.setattr(ProcessTransport, "_copy_stderr", copy_late)
    monkeypatch.setattr(module, "exit_reason", noted)
    transport = ProcessTransport([sys.executable, "-I", "-S", "-c", "raise SystemExit('out of luck')"], "Test")
    with pytest.raises(TransportEndedError):
        transport.receive(LONG_S)
    assert transport.stderr_tail() == "out of luck"
    transport.close()


@pytest.mark.usefixtures("patient")
def test_its_stderr_goes_to_the_log_within_bounds(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ghostcandle.training")
    transport = start("import sys\nfor n in range(1000): print(n, 'x' * 300, file=sys.stderr)")
    with pytest.raises(TransportEndedError):
        transport.receive(LONG_S)
    transport.close()
    assert len(caplog.messages) == 201 and max(map(len, caplog.messages)) <= 210
    assert caplog.messages[-1] == "Test: further lines of its stderr are not logged."
    assert len(transport.stderr_tail().splitlines()) == 20


def test_a_flood_blocks_its_writer_and_not_us(start: Start) -> None:
    transport = start("while True: print('flood')")
    assert transport.receive(LONG_S) == b"flood\n"
    assert transport._unread.qsize() <= 64
    transport.close()
    assert is_gone(transport.process_id)


HAS_PIDFD = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")


def with_child(start: Start, child: str, then: str, options: str = "") -> tuple[ProcessTransport, int]:
    """A process that starts a child with this code and then runs more; and the child's id. options: of `Popen`."""
    code = f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {child!r}], {options})\n"
    transport = start(f"{code}print(child.pid, flush=True)\n{then}")
    line = transport.receive(LONG_S)
    assert line is not None
    return transport, int(line)


@pytest.mark.slow
@HAS_PIDFD
def test_one_that_ignores_every_request_is_killed_with_its_children(start: Start) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    transport, child = with_child(start, deaf, deaf)
    with watched(child) as has_ended:
        transport.send(b"x" * 10_000_000)  # never read: the writer blocks
        transport.close()
        assert is_gone(transport.process_id)
        assert has_ended()


@pytest.mark.usefixtures("patient")
@HAS_PIDFD
def test_children_of_one_that_ends_by_itself_are_ended(start: Start) -> None:
    transport, child = with_child(start, "import time; time.sleep(600)", "sys.stdin.read()", "stdout=2")
    with watched(child) as has_ended:
        transport.close()
        assert has_ended()


@pytest.mark.slow
@HAS_PIDFD
def test_a_deaf_one_ends_with_a_trainer_that_was_killed() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    code = f"""
import sys, time
from core.training.external.transport import ProcessTransport
transport = ProcessTransport([sys.executable, "-I", "-S", "-c", {deaf!r}], "Test")
assert transport.receive({LONG_S}) == b"\\n"
print(transport.process_id, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as trainer:
        assert trainer.stdout is not None
        with watched(int(trainer.stdout.readline())) as has_ended:
            trainer.kill()
            assert has_ended()
