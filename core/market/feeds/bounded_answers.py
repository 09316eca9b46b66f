"""A limit on the size of an exchange's HTTP responses: ccxt reads and parses each as a whole.

Imported after the first paint: importing aiohttp takes half as long as opening the window.
"""

from __future__ import annotations

from typing import Any

import aiohttp

LARGEST_BYTES = 32_000_000
"""Uncompressed. Binance's list of all its markets has about 20 MB; a page of a thousand candles has 0.1."""


class AnswerTooLargeError(aiohttp.ClientPayloadError):
    """A response exceeded the limit."""


class BoundedResponse(aiohttp.ClientResponse):
    """Closes the connection after `LARGEST_BYTES`."""

    async def read(self) -> bytes:
        if self._body is None:
            try:
                self._body = await self._read_bounded()
            except BaseException:
                self.close()
                raise
        return await super().read()

    async def _read_bounded(self) -> bytes:
        body = bytearray()
        async for part in self.content.iter_any():
            body += part
            if len(body) > LARGEST_BYTES:
                raise AnswerTooLargeError(f"more than {LARGEST_BYTES} bytes")
        return bytes(body)


def bound_answers(exchange: Any) -> None:
    """Make a ccxt exchange use `BoundedResponse`: its session is replaced, on the same connector."""
    open_session = exchange.open

    def open_bounded(*arguments: Any, **named: Any) -> None:
        is_new = exchange.session is None
        open_session(*arguments, **named)
        if is_new and exchange.session is not None:
            exchange.session.detach()
            exchange.session = aiohttp.ClientSession(
                connector=exchange.tcp_connector, trust_env=exchange.aiohttp_trust_env, response_class=BoundedResponse
            )

    exchange.open = open_bounded
