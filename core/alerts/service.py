"""An apprise URL as a service that takes alerts: a chat, mail, a push service, or a plain webhook.

A URL holds secrets: no sentence here repeats it.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

if TYPE_CHECKING:
    from apprise import AppriseAsset, NotifyBase


@dataclass(frozen=True, slots=True)
class Alert:
    """market: symbol, interval if any, and exchange. title, text: for the user."""

    market: str
    title: str
    text: str


_WEBHOOKS = frozenset({"json", "form", "xml"})
"""Only these may show their host: it is no secret, and tells them apart."""
_STATUS = re.compile(r"error=(\d{3})\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """reason: the end of a sentence about the service. statuses: HTTP statuses of its responses, if any."""

    reason: str
    statuses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """name: shown to the user."""

    name: str
    _plugin: NotifyBase

    def send(self, alert: Alert) -> Failure | None:
        """Blocks for up to about 10 seconds. Returns None if the alert was delivered."""
        import apprise  # noqa: PLC0415 - as in `service_of`

        sender = apprise.Apprise(self._plugin, asset=_asset())
        title = f"{alert.title}: {alert.market}"
        with apprise.LogCapture(level=logging.WARNING) as log:  # type: ignore[no-untyped-call]
            if sender.notify(alert.text, title, body_format=apprise.NotifyFormat.TEXT):
                return None
            # More than one where a URL names several chats. apprise passes on no Retry-After.
            statuses = tuple(int(status) for status in _STATUS.findall(log.getvalue()))
        return Failure(f"answered {statuses[0]}" if statuses else "could not be reached, or refused it", statuses)


def service_of(url: str) -> Service | None:
    """None for a URL that apprise cannot use. One that begins with http:// or https:// is a webhook that takes JSON,
    unless apprise recognises a service, such as Discord or Slack."""
    import apprise  # noqa: PLC0415 - with its services it takes as long as opening the window

    logging.getLogger("apprise").propagate = False  # its messages may hold parts of a URL
    with apprise.LogCapture():  # type: ignore[no-untyped-call]
        plugin = apprise.Apprise.instantiate(url, asset=_asset()) or _webhook(url)
    if plugin is None:
        return None
    is_webhook = str(plugin.protocol) in _WEBHOOKS
    return Service(f"the webhook at {plugin.host}" if is_webhook else str(plugin.service_name), plugin)


def _webhook(url: str) -> NotifyBase | None:
    """apprise names a webhook by its body's form, and passes on those parts of a query that begin with a minus."""
    import apprise  # noqa: PLC0415 - as above

    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    query = urlencode([(f"-{name}", value) for name, value in parse_qsl(parts.query, keep_blank_values=True)])
    scheme = {"http": "json", "https": "jsons"}[parts.scheme]
    return apprise.Apprise.instantiate(parts._replace(scheme=scheme, query=query).geturl(), asset=_asset())


@cache
def _asset() -> AppriseAsset:
    """Redirects could lead anywhere. Without a time limit for a whole service apprise starts no thread for it; each
    request has its own."""
    import apprise  # noqa: PLC0415 - as above

    return apprise.AppriseAsset(app_id="Ghostcandle", http_redirects=False, async_mode=False, service_timeout=0)
