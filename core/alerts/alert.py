"""An alert as it is delivered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any


class AlertKind(StrEnum):
    """What an alert is about; part of the webhook's messages, so a value never changes."""

    PRICE = "price"
    BAND = "band"
    CHANCE = "chance"
    COVERAGE = "coverage"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Alert:
    """market: symbol, interval where there is one, and exchange. title, text: for the user. at_ms: when it happened."""

    kind: AlertKind
    market: str
    at_ms: int
    title: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """What a webhook gets. `id`: the same in each attempt to deliver it. `text` and `content`: the sentence, by the
        names that chat services read."""
        sentence = f"{self.title}: {self.text}"
        identity = "\n".join((self.kind.value, self.market, str(self.at_ms), sentence))
        return {
            "source": "ghostcandle",
            "id": sha256(identity.encode()).hexdigest()[:16],
            "kind": self.kind.value,
            "market": self.market,
            "at_ms": self.at_ms,
            "title": self.title,
            "text": sentence,
            "content": sentence,
        }
