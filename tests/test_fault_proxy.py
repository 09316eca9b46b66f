"""The fault proxy: each toxic has its effect, which ends with its removal. On virtual time."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.support.exchange.clock import loop_s
from tests.support.fault_proxy import Bandwidth, FaultProxy, Latency, Refuse, Reset, SlowClose, Stall
from tests.support.virtual_network import run_locally


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Echoes everything until it receives `bye`."""
    while (line := await reader.readline()) and line != b"bye\n":
        writer.write(line)
    writer.close()


class Line:
    """A client of an echo behind the proxy."""

    writer: asyncio.StreamWriter | None = None

    def __init__(self, proxy: FaultProxy) -> None:
        self.proxy = proxy

    async def connect(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)

    async def say(self, text: bytes = b"hello\n", within_s: float = 5.0) -> float:
        """Send it and wait for it. Returns the seconds that took; raises TimeoutError."""
        began_s = loop_s()
        self.writer.write(text)
        async with asyncio.timeout(within_s):
            answer = await self.reader.readline()
        if answer != text:
            raise ConnectionError(f"came {answer!r}")
        return loop_s() - began_s


@asynccontextmanager
async def a_line() -> AsyncIterator[Line]:
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        proxy = FaultProxy(lambda: port)
        await proxy.start()
        line = Line(proxy)
        await line.connect()
        await line.say()
        try:
            yield line
        finally:
            line.writer.close()
            await proxy.stop()


def played(story: Callable[[Line], Coroutine[Any, Any, None]], run: Callable[..., None] = run_locally) -> None:
    async def scenario() -> None:
        async with a_line() as line:
            await story(line)

    run(scenario())


def test_latency_delays_each_direction_without_reducing_throughput() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(Latency(0.1))
        assert await line.say() == pytest.approx(0.2, abs=0.01)
        began_s = loop_s()
        line.writer.writelines([b"one\n"] * 50)
        for _ in range(50):
            assert await line.reader.readline() == b"one\n"
        assert loop_s() - began_s < 0.21, "fifty delays one after the other"
        line.proxy.heal()
        assert await line.say() < 0.01

    played(story)


def test_bandwidth_limits_the_rate() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(Bandwidth(20_000.0))
        assert await line.say(b"x" * 8_000 + b"\n") == pytest.approx(0.8, abs=0.05)

    played(story)


def test_a_stall_is_silent_and_loses_nothing() -> None:
    async def story(line: Line) -> None:
        stall = Stall()
        line.proxy.put(stall)
        with pytest.raises(TimeoutError):
            await line.say(within_s=0.2)
        line.proxy.take(stall)
        assert await line.reader.readline() == b"hello\n"

    played(story)


def test_a_reset_comes_after_the_given_bytes() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(Reset(after_bytes=100))
        await line.say()
        with pytest.raises(ConnectionError):
            await line.say(b"x" * 200 + b"\n")
            await line.say()
        line.proxy.heal()
        await line.connect()
        await line.say()

    played(story)


def test_connections_are_refused_and_the_address_is_kept() -> None:
    async def story(line: Line) -> None:
        port = line.proxy.port
        line.proxy.put(Refuse())
        with pytest.raises(ConnectionError):
            await line.say()
        with pytest.raises(ConnectionRefusedError):
            await line.connect()
        line.proxy.heal()
        await asyncio.sleep(0)
        async with asyncio.timeout(2.0):
            await line.connect()
        assert line.proxy.port == port
        await line.say()

    played(story)


def test_a_close_is_delayed() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(SlowClose(0.3))
        began_s = loop_s()
        line.writer.write(b"bye\n")
        assert await line.reader.read() == b""
        assert loop_s() - began_s == pytest.approx(0.3, abs=0.01)

    played(story)


@pytest.mark.venue
def test_a_half_broken_slow_connection_is_cleaned_up() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(Latency(30.0), SlowClose(30.0))
        before = asyncio.all_tasks()
        away = socket.create_connection(("127.0.0.1", line.proxy.port))
        away.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        async with asyncio.timeout(60.0):
            while line.proxy.connections < 2:  # noqa: ASYNC110 - the proxy has no event for it
                await asyncio.sleep(0.01)
            away.close()  # a reset
            while asyncio.all_tasks() - before:  # noqa: ASYNC110 - nor has the loop one for this
                await asyncio.sleep(0.01)

    played(story, asyncio.run)


def test_several_faults_combine() -> None:
    async def story(line: Line) -> None:
        line.proxy.put(Latency(0.05), Latency(0.05))
        assert await line.say() == pytest.approx(0.2, abs=0.01)

    played(story)
