"""A bad line: a TCP proxy on 127.0.0.1 between a client and the loopback exchange, for HTTP and WebSocket alike.

Toxics are small dataclasses. Any number of them lie on the line at once, and they come and go while it runs::

    async with FaultyVenue(exchange) as venue:
        venue.proxy.put(Latency(0.05, jitter_s=0.02))
        ...
        venue.proxy.heal()
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.support.exchange.clock import loop_s

_CHUNK = 65_536
_RESET = struct.pack("ii", 1, 0)
_SLICE_S = 0.02
"""A slow line passes on what it carries in this time at once."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Every byte comes so much later, each chunk up to `jitter_s` later still; the order stays."""

    latency_s: float
    jitter_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """So many bytes a second in each direction of each connection."""

    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Stall:
    """Connections stay open, new ones too, and nothing passes: neither data nor a close. Data sent meanwhile
    arrives after the stall."""


@dataclass(frozen=True, slots=True)
class SlowClose:
    """Delay of the exchange's close."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refuse:
    """Connections are refused and existing ones reset, as in a network outage."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Every connection is reset once so many bytes came through from the exchange."""

    after_bytes: int = 0


Toxic = Latency | Bandwidth | Stall | SlowClose | Refuse | Reset


@dataclass(eq=False)
class _Connection:
    """A client's connection and the one to the exchange that goes with it."""

    writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]
    received: int = 0
    """Bytes that came from the exchange."""

    def reset(self) -> None:
        for writer in self.writers:
            raw = writer.get_extra_info("socket")
            if raw is not None and raw.fileno() >= 0:  # closing it then sends a reset, and no goodbye
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()


@dataclass
class FaultProxy:
    """Controls may be called from the loop that it runs on."""

    target_port: Callable[[], int]
    seed: int = 1
    port: int = field(default=0, init=False)
    accepted: int = field(default=0, init=False)
    _toxics: list[Toxic] = field(default_factory=list, init=False)
    _connections: set[_Connection] = field(default_factory=set, init=False)
    _handlers: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _server: asyncio.Server | None = field(default=None, init=False)
    _opening: asyncio.Task[None] | None = field(default=None, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    async def start(self) -> None:
        self._listen()
        await self._opened()

    async def stop(self) -> None:
        await self._opened()
        self._hang_up()
        self._toxics.clear()
        self._tell()
        for task in list(self._handlers):
            task.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    def put(self, *toxics: Toxic) -> None:
        """Add these toxics to the active ones."""
        self._toxics.extend(toxics)
        if self._has(Refuse):
            self._hang_up()
        for connection in list(self._connections):
            self._reset_if_due(connection)
        self._tell()

    def take(self, toxic: Toxic) -> None:
        """Take one off the line."""
        self._toxics.remove(toxic)
        self._tell()
        if not self._has(Refuse) and self._server is None and self._opening is None:
            self._listen()

    def heal(self) -> None:
        """Take all of them off the line."""
        for toxic in list(self._toxics):
            self.take(toxic)

    def _listen(self) -> None:
        """From now on clients can connect; they are served as soon as the loop comes to it."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._opening = asyncio.ensure_future(self._serve_from(listener))

    async def _serve_from(self, listener: socket.socket) -> None:
        self._server = await asyncio.start_server(self._accept, sock=listener)
        self._opening = None
        if self._has(Refuse):  # it came back meanwhile
            self._hang_up()

    async def _opened(self) -> None:
        if self._opening is not None:
            await self._opening

    def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.reset()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _has(self, kind: type[Toxic]) -> bool:
        return any(isinstance(toxic, kind) for toxic in self._toxics)

    def _of(self, kind: type[Toxic]) -> list[Toxic]:
        return [toxic for toxic in self._toxics if isinstance(toxic, kind)]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self.accepted += 1
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()  # by `stop`; streams would complain of a handler that ends so
        finally:
            self._handlers.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await self._unless_stalled()
            target = await asyncio.open_connection("127.0.0.1", self.target_port())
            connection = _Connection((writer, target[1]))
            self._connections.add(connection)
            self._reset_if_due(connection)
            pumps = [
                asyncio.create_task(self._pump(reader, target[1], connection, is_from_exchange=False)),
                asyncio.create_task(self._pump(target[0], writer, connection, is_from_exchange=True)),
            ]
            try:
                await asyncio.gather(*pumps)
            finally:
                self._connections.discard(connection)
                connection.reset()
                for pump in pumps:  # if one direction breaks, the other continues
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        writer.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        connection: _Connection,
        is_from_exchange: bool,
    ) -> None:
        """Read as it comes and pass on when it is due, so that a delay does not slow the line down."""
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        passing = asyncio.create_task(self._pass_on(on_the_way, writer, connection, is_from_exchange))
        try:
            due_s = 0.0
            while True:
                data = await reader.read(_CHUNK)
                due_s = max(due_s, loop_s() + self._delay_s())
                on_the_way.put_nowait((due_s, data))
                if not data:
                    break
            await passing
        finally:
            passing.cancel()
            await asyncio.gather(passing, return_exceptions=True)

    async def _pass_on(
        self,
        on_the_way: asyncio.Queue[tuple[float, bytes]],
        writer: asyncio.StreamWriter,
        connection: _Connection,
        is_from_exchange: bool,
    ) -> None:
        while True:
            due_s, data = await on_the_way.get()
            await asyncio.sleep(max(0.0, due_s - loop_s()))
            await self._unless_stalled()
            if not data:
                await self._say_goodbye(writer, is_from_exchange)
                return
            await self._write(writer, data)
            if is_from_exchange:
                connection.received += len(data)
                self._reset_if_due(connection)

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """At the line's speed."""
        while data:
            limits = [toxic.bytes_per_s for toxic in self._toxics if isinstance(toxic, Bandwidth)]
            size = max(1, int(min(limits) * _SLICE_S)) if limits else len(data)
            writer.write(data[:size])
            await writer.drain()
            data = data[size:]
            if limits:
                await asyncio.sleep(_SLICE_S)

    async def _say_goodbye(self, writer: asyncio.StreamWriter, is_from_exchange: bool) -> None:
        if is_from_exchange:
            await asyncio.sleep(sum(toxic.seconds for toxic in self._toxics if isinstance(toxic, SlowClose)))
        with contextlib.suppress(OSError):
            writer.write_eof()

    async def _unless_stalled(self) -> None:
        while self._has(Stall):
            await self._changed.wait()

    def _delay_s(self) -> float:
        delays = [toxic for toxic in self._toxics if isinstance(toxic, Latency)]
        return sum(toxic.latency_s + self._random.uniform(0.0, toxic.jitter_s) for toxic in delays)

    def _reset_if_due(self, connection: _Connection) -> None:
        limits = [toxic.after_bytes for toxic in self._toxics if isinstance(toxic, Reset)]
        if limits and connection.received >= min(limits):
            connection.reset()
