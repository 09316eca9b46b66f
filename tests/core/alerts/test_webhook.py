"""The webhook over an in-memory network on virtual time: what is sent, tried again, given up and never shown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.alerts.alert import Alert, AlertKind
from core.alerts.webhook import MOST_WAITING, Outbox, WebhookQueue, host_of

ALERT = Alert(AlertKind.BAND, "BTC/USDT 1m (binance)", 1_700_000_000_000, "Band alert", "The 90 % band reaches 64,000.")
SECRET = "s3cr3t-t0ken"


class Server:
    """Answers with these statuses in turn, then with 200."""

    def __init__(self, *answers: web.Response | float) -> None:
        """A number: answer so many seconds late."""
        self.answers = list(answers)
        self.taken: list[dict[str, Any]] = []
        self.at_s: list[float] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.at_s.append(asyncio.get_running_loop().time())
        answer = self.answers.pop(0) if self.answers else web.Response()
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            answer = web.Response()
        if answer.status == 200:
            self.taken.append(await request.json())
        return answer


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    application = web.Application()
    application.router.add_post("/hook", server.take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook?token={SECRET}"
    try:
        yield server
    finally:
        await runner.cleanup()


async def delivered(queue: WebhookQueue, *alerts: Alert) -> None:
    """Put them, and run for longer than all attempts take."""
    for alert in alerts:
        queue.put(alert)
    work = asyncio.ensure_future(queue.run())
    queue.wake()
    await asyncio.sleep(5_000.0)
    assert not queue.waiting
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_an_alert_is_posted_once_as_json() -> None:
    said: list[str] = []
    async with serving(Server()) as server:
        await delivered(WebhookQueue(lambda: server.url, said.append), ALERT)
    (body,) = server.taken
    assert len(body.pop("id")) == 16
    assert body == {
        "source": "ghostcandle",
        "kind": "band",
        "market": "BTC/USDT 1m (binance)",
        "at_ms": 1_700_000_000_000,
        "title": "Band alert",
        "text": "Band alert: The 90 % band reaches 64,000.",
        "content": "Band alert: The 90 % band reaches 64,000.",
    }
    assert said == []


async def test_a_busy_or_broken_server_is_tried_again_ever_later() -> None:
    said: list[str] = []
    broken = [web.Response(status=status) for status in (500, 503, 429, 408)]
    async with serving(Server(*broken)) as server:
        await delivered(WebhookQueue(lambda: server.url, said.append), ALERT)
    assert len(server.taken) == 1 and said == []
    assert server.taken[0]["id"] == ALERT.to_json()["id"] != replace(ALERT, at_ms=1).to_json()["id"]
    waits = [later - earlier for earlier, later in zip(server.at_s, server.at_s[1:], strict=False)]
    assert all(2.0**n / 2.0 <= wait <= 2.0**n + 1.0 for n, wait in enumerate(waits)), waits


async def test_a_server_that_asks_for_patience_gets_it_within_reason() -> None:
    asks = [web.Response(status=429, headers={"Retry-After": text}) for text in ("120", "100000", "soon")]
    async with serving(Server(*asks)) as server:
        await delivered(WebhookQueue(lambda: server.url, lambda _said: None), ALERT)
    first, second, third = (later - earlier for earlier, later in zip(server.at_s, server.at_s[1:], strict=False))
    assert 120.0 <= first < 130.0 and 300.0 <= second < 310.0 and third < 10.0


async def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    async with serving(Server(60.0)) as server:
        await delivered(WebhookQueue(lambda: server.url, lambda _said: None), ALERT)
    assert 10.0 <= server.at_s[1] - server.at_s[0] < 13.0


@pytest.mark.parametrize("status", [400, 401, 404, 301, 307])
async def test_a_refusal_is_final_and_redirects_are_not_followed(status: int) -> None:
    said: list[str] = []
    refusal = web.Response(status=status, headers={"Location": "/hook"})
    async with serving(Server(refusal)) as server:
        await delivered(WebhookQueue(lambda: server.url, said.append), ALERT)
    assert len(server.at_s) == 1 and server.taken == []
    [sentence] = said
    what_to_do = ", a redirect; enter the address that it leads to" if status < 400 else ""
    assert sentence == f"An alert was not delivered: the webhook at 127.0.0.1 answered {status}{what_to_do}."


async def test_an_unreachable_server_is_given_up_after_minutes() -> None:
    said, loop = dict[str, float](), asyncio.get_running_loop()
    began_s = loop.time()
    url = f"http://127.0.0.1:9/hook?token={SECRET}"
    queue = WebhookQueue(lambda: url, lambda sentence: said.update({sentence: loop.time() - began_s}))
    await delivered(queue, ALERT)
    assert all(60.0 < after_s < 200.0 for after_s in said.values())
    assert list(said) == ["An alert was not delivered: the webhook at 127.0.0.1 could not be reached."]


async def test_the_next_alert_is_sent_after_one_was_given_up() -> None:
    said: list[str] = []
    async with serving(Server(web.Response(status=404))) as server:
        await delivered(WebhookQueue(lambda: server.url, said.append), ALERT, replace(ALERT, text="Second."))
    assert len(said) == 1 and [body["text"] for body in server.taken] == ["Band alert: Second."]


ADDRESSES = (
    f"http://127.0.0.1:9/{SECRET}?token={SECRET}",
    f"http://{SECRET}:{SECRET}@127.0.0.1:9/",
    f"http://[{SECRET}/",
)


@pytest.mark.parametrize("url", ADDRESSES)
async def test_nothing_of_the_address_but_its_host_is_shown(url: str, caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []
    with caplog.at_level(logging.DEBUG):
        await delivered(WebhookQueue(lambda: url, said.append), ALERT)
    assert len(said) == 1 and SECRET not in said[0]
    assert "not delivered" in caplog.text and SECRET not in caplog.text


async def test_the_oldest_of_too_many_is_dropped() -> None:
    async with serving(Server()) as server:
        alerts = [replace(ALERT, at_ms=number) for number in range(MOST_WAITING + 3)]
        await delivered(WebhookQueue(lambda: server.url, lambda _said: None), *alerts)
    assert [body["at_ms"] for body in server.taken] == list(range(3, MOST_WAITING + 3))


@asynccontextmanager
async def sending(queue: WebhookQueue) -> AsyncIterator[None]:
    """While the queue is in use, on virtual time."""
    work = asyncio.ensure_future(queue.run())
    try:
        yield
        await asyncio.sleep(5_000.0)
        assert not queue.waiting
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_with_too_many_the_one_that_is_being_sent_is_not_taken_for_the_oldest() -> None:
    queue = WebhookQueue(lambda: server.url, lambda _said: None)
    async with serving(Server(5.0)) as server, sending(queue):
        queue.put(replace(ALERT, at_ms=0))
        queue.wake()
        await asyncio.sleep(1.0)
        for number in range(1, MOST_WAITING + 2):
            queue.put(replace(ALERT, at_ms=number))
    assert [body["at_ms"] for body in server.taken] == [0, *range(2, MOST_WAITING + 2)]


@pytest.mark.parametrize("has_another", [True, False])
async def test_a_changed_address_counts_from_the_next_attempt_on(has_another: bool) -> None:
    urls: list[str | None] = [f"http://127.0.0.1:9/mistyped?token={SECRET}"]
    said: list[str] = []
    queue = WebhookQueue(lambda: urls[-1], said.append)
    async with serving(Server()) as server, sending(queue):
        for number in range(3):
            queue.put(replace(ALERT, at_ms=number))
        queue.wake()
        await asyncio.sleep(5.0)
        urls.append(server.url if has_another else None)
    assert [body["at_ms"] for body in server.taken] == ([0, 1, 2] if has_another else []) and said == []


def test_an_address_that_cannot_be_read_has_no_host() -> None:
    assert (host_of("https://hooks.example.com/a?b"), host_of("https://[")) == ("hooks.example.com", "?")


async def test_what_waits_at_the_end_is_sent_at_the_next_start(tmp_path: Path) -> None:
    said: list[str] = []
    later = replace(ALERT, at_ms=ALERT.at_ms + 1)
    async with serving(Server(*(web.Response(status=503) for _ in range(3)))) as server:
        queue = WebhookQueue(lambda: server.url, said.append, Outbox(tmp_path / "outbox.json"))
        for alert in (ALERT, later):
            queue.put(alert)
        work = asyncio.ensure_future(queue.run())
        queue.wake()
        await asyncio.sleep(0.5)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not server.taken and queue.waiting == 2
        await delivered(WebhookQueue(lambda: server.url, said.append, Outbox(tmp_path / "outbox.json")))
        assert server.taken == [ALERT.to_json(), later.to_json()] and not said
    assert not (tmp_path / "outbox.json").exists()


async def test_what_waits_is_dropped_once_the_address_was_removed(tmp_path: Path) -> None:
    Outbox(tmp_path / "outbox.json").write([ALERT])
    await delivered(WebhookQueue(lambda: None, lambda _: None, Outbox(tmp_path / "outbox.json")))
    assert not (tmp_path / "outbox.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b'[{"kind": "unknown"}]', b"[1]", bytes(range(256))])
def test_a_damaged_outbox_is_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "outbox.json").write_bytes(content)
    outbox = Outbox(tmp_path / "outbox.json")
    assert outbox.read() == []
    outbox.write([ALERT])
    assert Outbox(tmp_path / "outbox.json").read() == [ALERT]
