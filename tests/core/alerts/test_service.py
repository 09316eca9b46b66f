"""apprise URLs as services: real requests to a webhook on this computer."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from core.alerts.service import Alert, Failure, Service, service_of
from tests.support.webhook import SECRET, Webhook, serving

ALERT = Alert("BTC/USDT 1m (binance)", "Band alert", "The 90 % band reaches <b>64,000</b> & *more*.")


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with serving() as server:
        yield server


def service(url: str) -> Service:
    service = service_of(url)
    assert service is not None
    return service


def test_a_web_address_gets_the_alert_as_json_with_its_query(hook: Webhook) -> None:
    assert service(hook.url).send(ALERT) is None
    assert hook.paths == [f"/hook?token={SECRET}&empty="]
    [body] = hook.bodies
    assert (body["title"], body["message"]) == ("Band alert: BTC/USDT 1m (binance)", ALERT.text)


def test_the_json_scheme_of_apprise_is_the_same_webhook(hook: Webhook) -> None:
    assert service(hook.url.replace("http:", "json:").replace("token", "-token")).send(ALERT) is None
    assert hook.messages == [ALERT.text]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "Telegram"),
        ("https://discord.com/api/webhooks/123456/abcdef", "Discord"),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack"),
        ("ntfy://a-topic", "ntfy"),
        ("mailto://user:password@gmail.com", "E-Mail"),
        ("jsons://hooks.example.com/a", "the webhook at hooks.example.com"),
    ],
)
def test_the_services_that_the_settings_name_are_known(url: str, name: str) -> None:
    assert service(url).name == name


@pytest.mark.parametrize(
    "url", ["nonsense://x", "tgram://x", "json://", "https://[broken/", "https://", "file:///etc/x"]
)
def test_another_url_is_no_service(url: str) -> None:
    assert service_of(url) is None


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_answer_other_than_success_is_named_and_no_redirect_followed(hook: Webhook, status: int) -> None:
    hook.statuses = [status]
    assert service(hook.url).send(ALERT) == Failure(f"answered {status}", (status,))
    assert len(hook.paths) == 1 and not hook.bodies


def test_a_server_that_is_gone_is_a_failure_and_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with serving() as server:
        url = server.url
    with caplog.at_level(logging.DEBUG, "ghostcandle"):
        gone = service(url)
        assert gone.send(ALERT) == Failure("could not be reached, or refused it")
        assert service_of(f"tgram://{SECRET}") is None
    assert SECRET not in gone.name and SECRET not in caplog.text
