"""The specification that starts a trainer. Imports no torch: the window's process makes these."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.domain.candle import FILE_VENUE, Market
from core.domain.challenger_sources import names_of
from core.domain.events import ForecastMode
from core.market.shown_names import shown_market
from core.settings.tree import Settings, model_to_dict
from core.storage.runs import RunStore

_FEWEST_SAMPLES = 2
"""The fewest samples of a market in a step: the newest has no target beyond the first horizon, so an older one is
needed."""
_LARGEST_FACTOR = 4.0
_SHRINKAGE_SHARE = 0.2


def own_mode_of(market: Market) -> ForecastMode:
    """The mode of a run's own forecasts, which the headline numbers cover."""
    if market.is_simulated:
        return ForecastMode.SIMULATED
    return ForecastMode.REPLAY if market.venue == FILE_VENUE else ForecastMode.LIVE


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A checkpoint that a new run starts from, instead of a new model."""

    file: Path
    sha256: str
    checkpoint_id: str
    learned_until_ms: int
    """Forecasts of candles that open before this are scored separately: it may have learned from them."""
    counts_seen: bool = False
    """Whether they count anyway."""
    learns: bool = True
    """False: the weights stay fixed."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A run is bound to its markets; by default the newest run with the same fingerprint is continued."""

    root: Path
    """The data folder."""
    market: Market
    settings: Settings
    new_run: bool = False
    start: StartingPoint | None = None
    others: tuple[Market, ...] = ()
    """Further markets that the same model learns, all of them `in_order`."""
    reads_inside: bool = False
    """Whether the run reads what is known of the inside of candles."""

    @property
    def markets(self) -> tuple[Market, ...]:
        """All markets, in their order at a close."""
        return self.market, *self.others

    @property
    def own_mode(self) -> ForecastMode:
        return own_mode_of(self.market)

    @property
    def challengers(self) -> tuple[str, ...]:
        return names_of(self.settings.model.challengers)

    @property
    def fingerprint(self) -> str:
        """A text that must be equal for a run to be continued: the model's shape, the challengers' names, the seed, and
        whether insides are read; of several markets also whether they are several, and with a seed which, as others
        would change what it repeats."""
        parts: dict[str, Any] = {"model": model_to_dict(self.settings.model), "seed": self.settings.training.seed}
        if self.challengers:
            parts["model"]["challengers"] = self.challengers  # a file may be moved
        if self.reads_inside:
            parts["inside"] = True
        if self.others:
            is_seeded = self.settings.training.seed is not None
            parts["markets"] = [str(market) for market in self.markets] if is_seeded else "several"
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def as_it_began(spec: SessionSpec, runs: RunStore) -> SessionSpec:
    """The spec of a live run that is continued reads insides as it did from its beginning, whatever the settings are by
    now: the shape of its model depends on it. Raises StorageError."""
    if spec.new_run or spec.own_mode is not ForecastMode.LIVE:
        return spec
    both = (replace(spec, reads_inside=reads) for reads in (spec.reads_inside, not spec.reads_inside))
    return next((each for each in both if runs.find(each.market, each.fingerprint, each.others)), spec)


def in_order(markets: Sequence[Market]) -> tuple[Market, ...]:
    """The markets of one model, in their order at a close. Raises ValueError, in a sentence, if they do not fit."""
    ordered = tuple(sorted(markets))
    twice = next((one for one, other in pairwise(ordered) if one == other), None)
    if twice is not None:
        raise ValueError(f"{shown_market(twice)} is named twice. Name each market once.")
    first = ordered[0]
    if (other := next((each for each in ordered if each.interval != first.interval), None)) is not None:
        both = f"{shown_market(first)} and {shown_market(other)}"
        raise ValueError(f"{both} have different intervals. One model learns markets of one interval.")
    if (other := next((each for each in ordered if own_mode_of(each) is not own_mode_of(first)), None)) is not None:
        both = f"{shown_market(first)} and {shown_market(other)}"
        raise ValueError(
            f"{both} are not learned together: choose markets that are all live, all replayed or simulated."
        )
    return ordered


def for_markets(settings: Settings, markets: int) -> Settings:
    """The settings with which one model learns this number of markets; unchanged for one.

    A step keeps its number of samples, shared by the markets. They are less alike than one market's, so the rate is
    higher, and the penalty of near corrections is lower (for far ones it grows faster, see `opening.build_engine`).
    """
    if markets == 1:
        return settings
    training = settings.training
    samples = max(_FEWEST_SAMPLES, round((1 + training.replay_samples) / markets))
    shared = replace(
        training,
        replay_samples=samples - 1,
        learning_rate=training.learning_rate * rate_factor(markets),
        shrinkage=_SHRINKAGE_SHARE * training.shrinkage,
    )
    return replace(settings, training=shared)


def rate_factor(markets: int) -> float:
    """The learning rate for this number of markets, in units of the setting: their root, at most four."""
    return min(_LARGEST_FACTOR, math.sqrt(markets))
