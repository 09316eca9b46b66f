"""The hosts that the exchange feed contacts, seen by a proxy that records every name and blocks all traffic."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from core.market.feeds import ccxt_objects
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.exchange import ExchangeFeed, probe
from core.market.feeds.trouble import HttpResponse, VenueError
from tests.support.feeds import record_events
from tests.support.virtual_network import loop_time
from tests.venue.rig import MARKET, an_exchange


@asynccontextmanager
async def refusing_proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[str]]:
    """The proxy that this process is set to use for all but 127.0.0.1. Yields the requested names."""
    asked: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode().split()[1])
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "WS_PROXY", "WSS_PROXY"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.lower(), address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield asked


async def test_requests_and_stream_go_to_binances_market_data_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    async with refusing_proxy(monkeypatch) as asked, an_exchange() as exchange:
        informed = CcxtVenue(MARKET, exchange.urls, 2.0)
        await informed.open(None)
        await informed.close()
        venue = CcxtVenue(MARKET, None, 2.0)
        await venue.open(informed)
        with pytest.raises(VenueError, match="proxy"):
            await venue.server_ms()
        with pytest.raises(VenueError, match="proxy"):
            await venue.candles(0)
        assert set(asked) == {"data-api.binance.vision:443"}
        asked.clear()
        with pytest.raises(VenueError, match="proxy"):
            await venue.updates(2.0)
        assert set(asked) == {"data-stream.binance.vision:443"}
        await venue.close()


async def test_no_other_host_is_contacted_before_live(monkeypatch: pytest.MonkeyPatch) -> None:
    async with refusing_proxy(monkeypatch) as asked, an_exchange() as exchange:
        monkeypatch.setattr(ccxt_objects, "BINANCE_MARKET_DATA", exchange.urls)
        received = await record_events(
            ExchangeFeed(MARKET, loop_time(), catch_up=5), lambda received: bool(received.live)
        )
        assert len(received.candles) >= 5
        assert asked == []


async def test_a_refusing_proxy_is_named_as_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    async with refusing_proxy(monkeypatch) as asked:
        problem = await probe(MARKET, None, 5.0, loop_time())
        assert problem is not None
        assert "proxy" in str(problem)
        assert "502" in str(problem)
        assert asked


def test_certificates_are_read_once_and_checked() -> None:
    binance, kraken = (ccxt_objects.make_exchange(name, None, 2.0, HttpResponse()) for name in ("binance", "kraken"))
    assert binance.ssl_context is kraken.ssl_context
    assert binance.ssl_context.verify_mode is ssl.CERT_REQUIRED and binance.ssl_context.check_hostname
    assert binance.ssl_context.get_ca_certs()
