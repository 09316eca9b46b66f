"""A window in a separate process, as a double click starts it, and its reported state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support import commands

TRACEBACK = "Traceback (most recent call last)"
_PATIENCE_S = 120.0


class Window:
    """A started window. Its sayings are read on a thread."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.says: dict[str, Any] = {}
        self.has_said: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._is_over = False
        self._errors: list[str] = []
        self._readers = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for reader in self._readers:
            reader.start()

    def wait_for(self, what: Callable[[dict[str, Any]], bool], words: str) -> dict[str, Any]:
        """Wait until it says so, or fail."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._is_over or (self.says and what(self.says)), _PATIENCE_S)
        assert came and self.says and what(self.says), f"no {words}; it said {self.says}\n{self.errors}"
        return self.says

    @property
    def errors(self) -> str:
        """The stderr output so far."""
        return "".join(self._errors)

    def close(self) -> int:
        """As a session's end does it. Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.end()

    def kill(self) -> None:
        """As the machine's memory running out does it."""
        self.process.kill()
        self.end()

    def end(self) -> int:
        """Wait for its end."""
        code = self.process.wait(_PATIENCE_S)
        for reader in self._readers:
            reader.join(_PATIENCE_S)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.says = json.loads(line)
                self.has_said.append(self.says)
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self.process.stdout.close()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)
        self.process.stderr.close()


@contextmanager
def window(
    data: Path, *arguments: str, before: Sequence[str] = (), platform: str = "offscreen", **environment: str
) -> Iterator[Window]:
    """A window on this data folder. before: prefix of the command. It is killed at the end."""
    command = [*before, sys.executable, "-m", "tests.hostile.spied", "run", "--data-dir", str(data), *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": platform, **environment},
    )
    opened = Window(process)
    try:
        yield opened
    finally:
        if process.poll() is None:
            opened.kill()
        else:
            opened.end()


def run(*arguments: str, before: Sequence[str] = (), timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
    """One command to its end, as `tests.support.commands.run`, with something before it."""
    return subprocess.run(
        [*before, *commands.command(*arguments)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=commands.ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        check=False,
    )


def require_a_sentence(done: subprocess.CompletedProcess[str], words: str) -> None:
    """It ended with a sentence that has these words, and with nothing that only a programmer reads."""
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert words in output and TRACEBACK not in output and "made a mistake" not in output, output
