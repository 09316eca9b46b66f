"""An exchange on 127.0.0.1 that speaks Binance's REST and WebSocket forms, so that ccxt.pro is driven for real.

In a test's own loop::

    async with LoopbackExchange(tape) as exchange:
        feed = ExchangeFeed(market, clock, urls=exchange.urls)

Beside one, on a thread: ``with loopback_thread(exchange) as control``; with a bad line before it, `FaultyVenue`. For
another process: ``python -m tests.support.loopback_exchange`` prints the addresses as JSON, in the form that the
environment variable GHOSTCANDLE_EXCHANGE_URLS wants, and obeys ``POST /control/cut``, ``stall``, ``refuse``,
``resume``, ``end_of_day``, ``shut_down`` and ``/control/answer?status=429``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.domain.candle import Interval
from core.market.feeds.venue import ExchangeUrls
from tests.support.exchange.clock import AcceleratedClock, wall_ms
from tests.support.exchange.server import LoopbackExchange
from tests.support.fault_proxy import FaultProxy
from tests.support.tape import generated_tape

__all__ = ["AcceleratedClock", "FaultyVenue", "LoopbackExchange", "loopback_process", "loopback_thread"]


class FaultyVenue:
    """An exchange behind a line that faults can be put on."""

    def __init__(self, exchange: LoopbackExchange) -> None:
        self.exchange = exchange
        self.proxy = FaultProxy(lambda: exchange.port)

    @property
    def urls(self) -> ExchangeUrls:
        """URLs of the proxy for a client."""
        ours, theirs = str(self.proxy.port), str(self.exchange.port)
        return ExchangeUrls(*(url.replace(f":{theirs}/", f":{ours}/") for url in asdict(self.exchange.urls).values()))

    async def __aenter__(self) -> FaultyVenue:
        await self.exchange.start()
        await self.proxy.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.proxy.stop()
        await self.exchange.stop()

    def heal(self) -> None:
        """All is well again, on the line and behind it."""
        self.exchange.resume()
        self.proxy.heal()


@contextlib.contextmanager
def loopback_thread(exchange: AbstractAsyncContextManager[Any]) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Run an exchange, or a `FaultyVenue`, on a thread with an event loop. Yields a function that calls a control there
    and waits for it: ``control(exchange.cut)``."""
    loop = asyncio.new_event_loop()
    started, ended = Future[None](), asyncio.Event()

    async def serve() -> None:
        try:
            async with exchange:
                started.set_result(None)
                await ended.wait()
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    def control(act: Callable[[], None]) -> None:
        async def call() -> None:
            act()

        asyncio.run_coroutine_threadsafe(call(), loop).result(timeout=60.0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="loopback exchange")
    thread.start()
    try:
        started.result(timeout=60.0)
        yield control
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(timeout=60.0)
        loop.close()


async def _serve(options: argparse.Namespace) -> None:
    clock = AcceleratedClock(wall_ms(), options.speed)
    tape = generated_tape(options.interval, clock(), options.history, trades=options.trades)
    exchange = LoopbackExchange(tape, clock, push_s=options.push_seconds)
    await exchange.start(options.port)
    print(json.dumps({"public": exchange.urls.public, "ws": exchange.urls.ws}), flush=True)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    await exchange.stop()


@contextlib.contextmanager
def loopback_process(*arguments: str) -> Iterator[ExchangeUrls]:
    """Run an exchange in a separate process with these command-line arguments."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.support.loopback_exchange", *arguments]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield ExchangeUrls(**json.loads(process.stdout.readline()))
        finally:
            process.terminate()
            if process.wait(timeout=60.0):
                raise RuntimeError(f"the loopback exchange ended with {process.returncode}")


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser(description="A Binance-like exchange on 127.0.0.1, for tests.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--interval", type=Interval.parse, default=Interval.parse("1s"))
    parser.add_argument("--speed", type=float, default=1.0, help="how many times faster than the wall its clock runs")
    parser.add_argument("--history", type=int, default=2000, help="closed candles that it has at the start")
    parser.add_argument("--trades", type=int, default=31, help="of which a candle is made: 4, 7, 10 ...")
    parser.add_argument("--push-seconds", type=float, default=0.05, help="between two looks at what is to be sent")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
