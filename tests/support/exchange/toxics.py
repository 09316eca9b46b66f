"""What can be wrong with an exchange's messages; what goes wrong with the bytes is in `tests.support.fault_proxy`.

Each toxic is put into `LoopbackExchange.toxics`, alone or with others, and taken out again, while the exchange runs.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.support.exchange.clock import loop_s


@dataclass(frozen=True, slots=True)
class Message:
    """On its way to one client. raw: sent as it is, whatever `data` says."""

    client: object
    stream: str
    data: dict[str, Any]
    raw: str | None = None

    @property
    def is_final_kline(self) -> bool:
        return self.data.get("e") == "kline" and bool(self.data["k"].get("x"))

    @property
    def is_trade(self) -> bool:
        return self.data.get("e") in ("trade", "aggTrade")


@dataclass(slots=True)
class MessageToxic:
    """Lets everything through."""

    done: int = field(default=0, init=False)
    """How many messages it did something to."""

    def take(self, message: Message) -> list[Message]:
        """Messages to send now instead of this one."""
        return [message]

    def release(self) -> list[Message]:
        """Held messages that are sent now. Called many times a second."""
        return []


@dataclass(slots=True)
class Duplicate(MessageToxic):
    """Every message comes twice."""

    def take(self, message: Message) -> list[Message]:
        self.done += 1
        return [message, message]


@dataclass(slots=True)
class Reorder(MessageToxic):
    """So many messages are held back, then sent in any order."""

    of: int = 5
    seed: int = 1
    _held: dict[int, list[Message]] = field(default_factory=lambda: defaultdict(list))
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def take(self, message: Message) -> list[Message]:
        held = self._held[id(message.client)]
        held.append(message)
        if len(held) < self.of:
            return []
        sent = held[:]
        held.clear()
        self._random.shuffle(sent)
        self.done += len(sent)
        return sent


@dataclass(slots=True)
class Sometimes(MessageToxic):
    """Does its work to a share of the messages that `concerns` picks."""

    share: float = 0.3
    seed: int = 1
    concerns: Callable[[Message], bool] = lambda message: True
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def take(self, message: Message) -> list[Message]:
        if not self.concerns(message) or self._random.random() >= self.share:
            return [message]
        self.done += 1
        return self.spoil(message)

    def spoil(self, message: Message) -> list[Message]:
        raise NotImplementedError


@dataclass(slots=True)
class Drop(Sometimes):
    """It never comes."""

    def spoil(self, message: Message) -> list[Message]:
        return []


def missing_finals() -> Drop:
    """The stream never sends a closed candle."""
    return Drop(share=1.0, concerns=lambda message: message.is_final_kline)


@dataclass(slots=True)
class CorruptJson(Sometimes):
    """Half of it comes."""

    def spoil(self, message: Message) -> list[Message]:
        text = json.dumps(message.data)
        return [replace(message, raw=text[: len(text) // 2])]


@dataclass(slots=True)
class UnknownFields(Sometimes):
    """It has unknown fields, and an unknown event comes before it."""

    share: float = 1.0

    def spoil(self, message: Message) -> list[Message]:
        data = {**deepcopy(message.data), "zz": {"new": [1, 2, None]}, "W": "later"}
        if "k" in data:
            data["k"]["Y"] = "unheard of"
        return [
            replace(message, data={"e": "somethingNew", "E": data.get("E"), "x": [True]}),
            replace(message, data=data),
        ]


_WRONG: tuple[Any, ...] = (None, "", "not a number", [], {}, True, "NaN", "-1", "1e400")


@dataclass(slots=True)
class WrongTypes(Sometimes):
    """A number in it is none, or one that no price and no volume can be."""

    def spoil(self, message: Message) -> list[Message]:
        data = deepcopy(message.data)
        inner = data.get("k", data)
        names = [name for name in ("c", "h", "v", "t", "p", "q", "T") if name in inner]
        if names:  # another toxic sends events without any
            inner[self._random.choice(names)] = self._random.choice(_WRONG)
        return [replace(message, data=data)]


@dataclass(slots=True)
class Late(MessageToxic):
    """Messages picked by `concerns` come this much later; the others overtake them."""

    seconds: float = 0.2
    concerns: Callable[[Message], bool] = lambda message: message.is_trade
    _held: deque[tuple[float, Message]] = field(default_factory=deque)

    def take(self, message: Message) -> list[Message]:
        if not self.concerns(message):
            return [message]
        self._held.append((loop_s() + self.seconds, message))
        self.done += 1
        return []

    def release(self) -> list[Message]:
        sent: list[Message] = []
        while self._held and self._held[0][0] <= loop_s():
            sent.append(self._held.popleft()[1])
        return sent


@dataclass(slots=True)
class WildTime(MessageToxic):
    """Before a candle, once, comes one from far in the future."""

    def take(self, message: Message) -> list[Message]:
        if self.done or message.data.get("e") != "kline":
            return [message]
        self.done += 1
        wild = deepcopy(message.data)
        wild["k"] |= {"t": 4_000_000_000_000, "x": False}
        return [replace(message, data=wild), message]


@dataclass(slots=True)
class ClockSkew(MessageToxic):
    """The exchange's clock is off: what it says of its time, and when it says that an event was."""

    ms: int = 400

    def take(self, message: Message) -> list[Message]:
        self.done += 1
        return [replace(message, data={**message.data, "E": message.data.get("E", 0) + self.ms})]


@dataclass(slots=True)
class MisquotedClose(Sometimes):
    """The closing message has a close and a volume that the exchange corrects: requests get other numbers."""

    share: float = 1.0
    concerns: Callable[[Message], bool] = lambda message: message.is_final_kline
    factor: float = 0.9
    """Of the volume: less than was shown before makes it an older view, more a closing message like any other."""

    def spoil(self, message: Message) -> list[Message]:
        data = deepcopy(message.data)
        kline = data["k"]
        kline["c"] = kline["l"]
        kline["v"] = f"{float(kline['v']) * self.factor:.8f}"
        return [replace(message, data=data)]
