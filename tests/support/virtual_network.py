"""An event loop on virtual time whose network is in memory: real ccxt and aiohttp run on it, as fast as they can.

Servers and clients on it talk through pairs of sockets: what one end writes the other can read at once, so time moves
on only when both have nothing left to do. Nobody else can be reached.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from tests.simulation.market import EPOCH_MS
from tests.simulation.virtual_time import VirtualLoop, VirtualTime

T = TypeVar("T")
_HOST = "127.0.0.1"
_PORTS = range(61_000, 65_536)
_BEGIN_MS = EPOCH_MS + 20_300
"""In the middle of a minute, and of a second."""


class _Listening:
    """The result of `create_server`; also its socket, which has the address."""

    def __init__(self, loop: LocalLoop, make: Callable[[], asyncio.Protocol], port: int) -> None:
        self._loop, self.make, self.port = loop, make, port

    @property
    def sockets(self) -> list[_Listening]:
        return [self]

    def getsockname(self) -> tuple[str, int]:
        return _HOST, self.port

    def close(self) -> None:
        self._loop.listening.pop(self.port, None)

    async def wait_closed(self) -> None: ...

    async def __aenter__(self) -> _Listening:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class LocalLoop(VirtualLoop):
    """Its network has one host, 127.0.0.1."""

    def __init__(self) -> None:
        super().__init__()
        self.listening: dict[int, _Listening] = {}
        self._dialled: dict[socket.socket, int] = {}
        self._ports = iter(_PORTS)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """At once: time must not move on while a thread works."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def create_server(self, protocol_factory: Any, host: Any = None, port: int = 0, **named: Any) -> Any:
        bound: socket.socket | None = named.get("sock")
        if bound is not None:
            port = bound.getsockname()[1]
            bound.close()
        port = port or next(self._ports)
        self.listening[port] = _Listening(self, protocol_factory, port)
        return self.listening[port]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """aiohttp connects its sockets itself, and asks for a connection over them then."""
        self._require(address)
        self._dialled[sock] = address[1]

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **named: Any) -> Any:
        dialled: socket.socket | None = named.get("sock")
        if dialled is not None:
            host, port = _HOST, self._dialled.pop(dialled)
            dialled.close()
        server = self._require((host, port))
        ours, theirs = socket.socketpair()
        await self.connect_accepted_socket(server.make, theirs)
        return await super().create_connection(protocol_factory, sock=ours)

    def _require(self, address: Any) -> _Listening:
        server = self.listening.get(address[1]) if address[0] == _HOST else None
        if server is None:
            raise ConnectionRefusedError(111, f"nobody listens at {address}")
        return server


def loop_time() -> VirtualTime:
    """The running loop's time as a clock, whichever loop it is."""
    return VirtualTime(asyncio.get_running_loop(), _BEGIN_MS)  # type: ignore[arg-type]


def run_locally(story: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on such a loop, with ccxt's clocks on its time."""
    import ccxt  # noqa: PLC0415 - a second and more; every conftest that has the hook imports this module
    from ccxt.async_support.base import throttler  # noqa: PLC0415 - as above

    with asyncio.Runner(loop_factory=LocalLoop) as runner, pytest.MonkeyPatch.context() as patch:
        loop = runner.get_loop()
        patch.setattr(throttler, "time", loop.time)
        patch.setattr(ccxt.Exchange, "milliseconds", staticmethod(lambda: _BEGIN_MS + int(loop.time() * 1000.0)))
        return runner.run(story)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """For a conftest: a test that is a coroutine runs on a `LocalLoop`; one marked `venue` on a real one."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    run = run_locally if pyfuncitem.get_closest_marker("venue") is None else asyncio.run
    run(pyfuncitem.obj(**arguments))
    return True
