"""An alert as it is delivered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
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
    """title, text: for the user. at_ms: when it happened."""

    kind: AlertKind
    market: str
    at_ms: int
    title: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """What a webhook gets. `text` and `content`: the sentence, by the names that chat services read."""
        sentence = f"{self.title}: {self.text}"
        return {
            "source": "ghostcandle",
            "kind": self.kind.value,
            "market": self.market,
            "at_ms": self.at_ms,
            "title": self.title,
            "text": sentence,
            "content": sentence,
        }
