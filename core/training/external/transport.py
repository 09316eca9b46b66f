"""Carries lines to and from a forecaster. The real one is a child process; tests have one in memory."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, Protocol

from core.training.external.bound_lifetime import BoundLifetime
from core.training.external.protocol import LONGEST_LINE_BYTES
from core.training.recovery.exit_reasons import exit_reason

_MOST_UNREAD_LINES = 64
"""Further lines stay in the pipe, so a flood of them blocks its writer and takes no memory."""
_GRACE_S = 1.0
_JOIN_TRIES = 50
_LOGGED_LINES, _KEPT_LINES = 200, 20
_LOGGED_CHARACTERS = 200
_LONGEST_REASON = 200
_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
_log = logging.getLogger("ghostcandle.training")


class TransportEndedError(Exception):
    """The forecaster at the other side is gone. The message is a clause for "The process ended: ..."."""


class Transport(Protocol):
    """Used from one thread only."""

    def send(self, line: bytes) -> None:
        """Send without waiting for it to be read."""
        ...

    def receive(self, timeout_s: float) -> bytes | None:
        """The next line, or None after `timeout_s` seconds. Raises TransportEndedError."""
        ...

    def stderr_tail(self) -> str:
        """The newest lines of its stderr."""
        ...

    def close(self) -> None:
        """End it. Can be called twice."""
        ...


class ProcessTransport:
    """A child process: started without a shell, in a separate session, so that its children end with it. It ends
    with us, also if we are killed.

    A thread each writes its stdin, reads its stdout, and copies its stderr to the log. Raises TransportEndedError if it
    cannot be started.
    """

    def __init__(self, command: Sequence[str], name: str) -> None:
        try:
            self._process, self._lifetime = _started(command)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise TransportEndedError(f"“{command[0]}” could not be started ({reason[:_LONGEST_REASON]})") from error
        self._name = name
        self._is_closing = False
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unread: queue.Queue[bytes | None] = queue.Queue(_MOST_UNREAD_LINES)
        """None: there will be no more."""
        self._stderr_lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._threads = [
            threading.Thread(target=target, name=f"{name} {what}", daemon=True)
            for what, target in (("stdin", self._write), ("stdout", self._read), ("stderr", self._copy_stderr))
        ]
        self._stderr_reader = self._threads[-1]
        for thread in self._threads:
            thread.start()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def send(self, line: bytes) -> None:
        self._to_write.put(line)

    def receive(self, timeout_s: float) -> bytes | None:
        try:
            line = self._unread.get(timeout=max(timeout_s, 0.0))
        except queue.Empty:
            return None
        if line is None:
            self._unread.put(None)
            raise TransportEndedError(self._ending())
        if len(line) > LONGEST_LINE_BYTES:
            raise TransportEndedError(f"it wrote a line of more than {LONGEST_LINE_BYTES:,} bytes")
        return line

    def stderr_tail(self) -> str:
        return "\n".join(self._stderr_lines)

    def close(self) -> None:
        """Close its stdin; if that does not end it, terminate it, finally kill it, with all that it has started."""
        self._is_closing = True
        self._to_write.put(None)
        for number in (None, signal.SIGTERM, _KILL):
            if number is not None:
                self._signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
                break
        self._signal(_KILL)
        self._lifetime.release()
        self._join()

    def _join(self) -> None:
        """End the threads. The reader may wait for room among the unread lines."""
        for thread in self._threads:
            for _ in range(_JOIN_TRIES):
                thread.join(_GRACE_S / _JOIN_TRIES)
                if not thread.is_alive():
                    break
                with contextlib.suppress(queue.Empty):
                    self._unread.get_nowait()

    def _ending(self) -> str:
        try:
            reason = exit_reason(self._process.wait(_GRACE_S)).words
        except subprocess.TimeoutExpired:
            return "it closed its stdout"
        self._stderr_reader.join(_GRACE_S)  # what it wrote last explains its end
        return reason

    def _signal(self, number: int) -> None:
        """Send the signal to its whole session, or to the process alone on a system without sessions."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    def _write(self) -> None:
        stdin = _opened(self._process.stdin)
        with contextlib.suppress(OSError):  # it has ended; `receive` says so
            while (line := self._to_write.get()) is not None:
                stdin.write(line)
                if self._to_write.empty():
                    stdin.flush()
        with contextlib.suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        for line in _lines(_opened(self._process.stdout), LONGEST_LINE_BYTES + 1):
            self._unread.put(line)
            if self._is_closing or len(line) > LONGEST_LINE_BYTES:
                break
        self._unread.put(None)

    def _copy_stderr(self) -> None:
        for number, line in enumerate(_lines(_opened(self._process.stderr), _LOGGED_CHARACTERS)):
            text = line.decode(errors="replace").rstrip()
            self._stderr_lines.append(text)
            if number < _LOGGED_LINES:
                _log.info("%s: %s", self._name, text)
            elif number == _LOGGED_LINES:
                _log.info("%s: further lines of its stderr are not logged.", self._name)


def _started(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], BoundLifetime]:
    lifetime = BoundLifetime()
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except BaseException:
        lifetime.release()
        raise
    lifetime.bind(process)
    return process, lifetime


def _environment() -> dict[str, str]:
    """Ours, except that Python programs write their lines at once, and that another program does not load the libraries
    of a packaged Ghostcandle."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if getattr(sys, "frozen", False):
        for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
            environment.pop(name, None)
            if (original := environment.pop(f"{name}_ORIG", None)) is not None:
                environment[name] = original
    return environment


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _lines(pipe: IO[bytes], longest_bytes: int) -> Iterator[bytes]:
    """Lines, or pieces of longer ones, until the end; the pipe is closed then."""
    with pipe:
        while line := pipe.readline(longest_bytes):
            yield line
