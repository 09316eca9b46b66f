"""An alert as it is delivered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alert:
    """market: symbol, interval where there is one, and exchange. title, text: for the user."""

    market: str
    title: str
    text: str
