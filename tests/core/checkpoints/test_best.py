"""The best checkpoint is a sound one that is proven to add, with the highest finite score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.checkpoints.best import best_of, proven_gain
from tests.core.storage.samples import checkpoint

NAN, INFINITE = float("nan"), float("inf")
ADDS = {"model_gain": 0.02, "gain_low": 0.01, "gain_high": 0.03}
OPEN = {"model_gain": 0.02, "gain_low": -0.01, "gain_high": 0.05}
HARMS = {"model_gain": -0.02, "gain_low": -0.03, "gain_high": -0.01}


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ([{"skill": 0.1}, {"skill": 0.3}, {"skill": 0.2}], 1),
        ([{"skill": NAN}, {"skill": 0.5}, {"skill": None}], 1),
        ([{"skill": INFINITE}, {"skill": 0.1}, {"skill": -INFINITE}], 1),
        ([{"skill": -0.5}, {"skill": -0.1}, {"skill": None}], 1),
        ([{"skill": None}, {"skill": NAN}], None),
        ([{"skill": 0.2}, {"skill": 0.2}], 1),
        ([{"skill": 0.1, **ADDS}, {"skill": 0.9, **OPEN}, {"skill": 0.2, **ADDS}], 2),
        ([{"skill": 0.1, **ADDS}, {"skill": 0.9, "model_gain": 0.5}, {"skill": None, **ADDS}], 0),
        ([{"skill": 0.1, **OPEN}, {"skill": 0.9, **HARMS}, {"skill": 0.2}], 2),
        ([{"skill": 0.1, **OPEN}, {"skill": 0.9, **ADDS, "health": "diverged"}], 0),
        ([{"skill": 0.9, **HARMS}], None),
        ([{"skill": 0.1, "health": "healthy"}, {"skill": 0.9, "health": "diverged"}], 0),
        ([{"skill": 0.9, "is_known_good": False}, {"skill": 0.1}], 1),
        ([], None),
    ],
)
def test_the_best_is_proven_to_add_and_has_the_highest_score(figures: list[dict[str, Any]], best: int | None) -> None:
    infos = [replace(checkpoint("run", number), **each) for number, each in enumerate(figures)]
    found = best_of(infos[::-1])
    assert found == (None if best is None else infos[best])


@pytest.mark.parametrize(
    ("figures", "shown"), [(ADDS, 0.02), (HARMS, -0.02), (OPEN, None), ({"model_gain": 0.02}, None)]
)
def test_what_is_not_proven_is_not_shown(figures: dict[str, Any], shown: float | None) -> None:
    assert proven_gain(replace(checkpoint("run", 1), **figures)) == shown
