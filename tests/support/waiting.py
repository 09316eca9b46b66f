"""Waits for events of real child processes, which cannot notify this process."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

_LOOK_S = 0.05


def wait_until(
    condition: Callable[[], bool],
    what: str,
    timeout_s: float = 120.0,
    process: subprocess.Popen[str] | None = None,
) -> None:
    """Look until the condition holds. Fails when the limit is over, and when the process has ended before."""
    until_s = time.monotonic() + timeout_s
    while not condition():
        assert process is None or process.poll() is None, f"it ended without {what}: {process.communicate()}"
        assert time.monotonic() < until_s, f"waited {timeout_s:g} s for {what}"
        time.sleep(_LOOK_S)
