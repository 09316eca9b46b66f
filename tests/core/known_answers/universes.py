"""Simulated markets that are learned together, each with its best forecast."""

from __future__ import annotations

import math

import numpy as np

from tests.core.known_answers.markets import DEVIATION, KnownMarket, around, random_walk

FOLLOWERS = 9
SHARE = 0.4
"""What a follower repeats of the leader's last return, both in units of their deviations; the rest is its own noise."""


def leader_and_followers(count: int, seed: int, followers: int = FOLLOWERS) -> tuple[KnownMarket, ...]:
    """A random walk, and markets that each repeat a part of its return one candle later.

    Without the leader a follower is a random walk too: its own past and the other followers' tell nothing. The
    volatility goes from half the leader's to twice.
    """
    leader = random_walk(count, _seed_of(seed, 0))
    before = SHARE / DEVIATION * np.concatenate([[0.0], leader.outcome[:-1]])
    noise = math.sqrt(1.0 - SHARE**2)
    deviations = DEVIATION * np.geomspace(0.5, 2.0, followers)
    return leader, *(
        around(deviation * before, deviation * noise, _seed_of(seed, place))
        for place, deviation in enumerate(deviations.tolist(), start=1)
    )


def independent_walks(count: int, seed: int, markets: int = 10) -> tuple[KnownMarket, ...]:
    """Random walks that know nothing of each other."""
    return tuple(random_walk(count, _seed_of(seed, place)) for place in range(markets))


def _seed_of(seed: int, place: int) -> int:
    return 1000 * seed + place
