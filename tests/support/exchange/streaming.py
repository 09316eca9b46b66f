"""A scripted exchange that also streams: what its sockets send is written by the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.exchange.scripted import ScriptedExchange

Stream = Callable[[list[str]], Iterable[Any]]
"""Called for each open socket, with all texts that its client has sent. The messages are sent as JSON, or as they are
if they are bytes."""
_NOT_SPOT = ("settle", "settleId", "linear", "inverse", "contractSize", "expiry", "strike", "optionType")
"""Entries that some of ccxt's classes read of every market."""


def nothing(_: list[str]) -> Iterable[Any]:
    return ()


@dataclass
class StreamingExchange(ScriptedExchange):
    extra: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(_NOT_SPOT))
    stream: Stream = nothing
    every_s: float = 1.0
    sockets: list[list[str]] = field(default_factory=list)
    """The texts that each socket's client has sent."""

    @property
    def sent(self) -> str:
        """All texts of all clients."""
        return "\n".join(text for texts in self.sockets for text in texts)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return await ScriptedExchange._handle(self, request)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        texts: list[str] = []
        self.sockets.append(texts)
        pushing = asyncio.ensure_future(self._push(socket, texts))
        try:
            async for message in socket:
                texts.append(str(message.data))
                if message.data == "ping":
                    await socket.send_str("pong")
        finally:
            pushing.cancel()
        return socket

    async def _push(self, socket: web.WebSocketResponse, texts: list[str]) -> None:
        while True:
            await asyncio.sleep(self.every_s)
            for message in self.stream(texts):
                if isinstance(message, bytes):
                    await socket.send_bytes(message)
                else:
                    await socket.send_str(message if isinstance(message, str) else json.dumps(message))
