"""Signals that end a command early."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from desktop.app.stopping import stopped_by_signals

ALL = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.fixture(autouse=True)
def same_handlers() -> Iterator[None]:
    """No signal is ignored when a test begins, though `nohup` ignores SIGHUP; the former handlers return."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in ALL}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALL)
def test_each_signal_stops_the_command_and_then_has_its_former_handler(number: signal.Signals) -> None:
    before, stops = signal.getsignal(number), []
    with stopped_by_signals(lambda: stops.append(number)):
        signal.raise_signal(number)
        signal.raise_signal(number)
    assert stops == [number, number]
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", ALL)
def test_a_signal_wakes_the_loop_that_a_command_waits_on(number: signal.Signals) -> None:
    async def wait() -> None:
        is_over = asyncio.Event()
        asyncio.get_running_loop().call_soon(signal.raise_signal, number)
        with stopped_by_signals(is_over.set):
            await is_over.wait()

    asyncio.run(wait())


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has none")
def test_a_closed_terminal_does_not_stop_what_nohup_started() -> None:
    assert stops_on_an_ignored(signal.SIGHUP) == []


def test_a_background_job_of_a_script_is_stopped_as_any_other() -> None:
    assert stops_on_an_ignored(signal.SIGINT) == [1]


def stops_on_an_ignored(number: signal.Signals) -> list[int]:
    signal.signal(number, signal.SIG_IGN)
    stops: list[int] = []
    with stopped_by_signals(lambda: stops.append(1)):
        signal.raise_signal(number)
    assert signal.getsignal(number) is signal.SIG_IGN
    return stops
