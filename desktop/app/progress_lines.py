"""A command that another program has started: progress goes to it as lines of JSON, and its end ends the command."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any

_CHUNK = 4096


class ProgressLines:
    """One JSON object a line on stderr: {"progress": ...} or {"say": ...}. Callable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def progress(self, **fields: Any) -> None:
        self._write({"progress": fields})

    def start_part(self, title: str) -> None:
        """Another part of the work has begun; how long it takes is not known."""
        self.progress(title=title, done=0, total=0, seconds_left=None)

    def say(self, sentence: str) -> None:
        self._write({"say": sentence})

    def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps(message)
        with self._lock, contextlib.suppress(OSError, ValueError):  # the reader may have ended
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def end_with_stdin() -> None:
    """Interrupt this process, as Ctrl+C does, once its stdin is closed: on purpose, or because the other side died.

    Works the same on every system, needs no process id, and leaves no orphan.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who was started in the background ignores it
    threading.Thread(target=_wait_for_end, name="stdin watch", daemon=True).start()


def _wait_for_end() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, _CHUNK):
            pass
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # to the process, so that the main thread's wait ends
    else:
        signal.raise_signal(signal.SIGINT)
