"""Early ends of a command or the window, by Ctrl+C, SIGTERM or a closed terminal, without loss of results."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Windows lacks the last. A script's background job begins with the first ignored, but may be sent it all the same."""


@contextmanager
def stopped_by_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` in the main thread for each of these signals, except an ignored SIGHUP, as under `nohup`. Inside a
    coroutine the event loop wakes and calls it; on Windows Python does, between two steps of that thread."""
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    if before.get(getattr(signal, "SIGHUP", None)) is signal.SIG_IGN:
        del before[signal.SIGHUP]
    try:
        loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        loop = None
    for number in before:
        if loop is not None:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stop)
                continue
        signal.signal(number, lambda _number, _frame: stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            if loop is not None:
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
            signal.signal(number, handler)
