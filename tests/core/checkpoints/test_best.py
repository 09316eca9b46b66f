"""The best checkpoint is a sound one with the highest finite skill that is better than no model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.checkpoints.best import best_of
from tests.core.storage.samples import checkpoint

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ([{"skill": 0.1}, {"skill": 0.3}, {"skill": 0.2}], 1),
        ([{"skill": NAN}, {"skill": 0.5}, {"skill": None}], 1),
        ([{"skill": INFINITE}, {"skill": 0.1}, {"skill": -INFINITE}], 1),
        ([{"skill": -0.5}, {"skill": -0.1}, {"skill": None}], None),
        ([{"skill": None}, {"skill": NAN}], None),
        ([{"skill": 0.2}, {"skill": 0.2}], 1),
        ([{"skill": -0.1}, {"skill": 0.0}], 1),
        ([{"skill": 0.1, "model_gain": 0.01}, {"skill": 1.1, "model_gain": -0.003}], 0),
        ([{"skill": 0.1, "model_gain": None}, {"skill": 1.1, "model_gain": -0.003}], 0),
        ([{"skill": 0.1, "model_gain": -0.01}, {"skill": 1.1, "model_gain": 0.0}], 1),
        ([{"skill": 0.1, "model_gain": -0.01}, {"skill": -0.1, "model_gain": 0.01}], None),
        ([{"skill": 0.1, "health": "healthy"}, {"skill": 0.9, "health": "diverged"}], 0),
        ([{"skill": 0.9, "is_known_good": False}, {"skill": 0.1}], 1),
        ([], None),
    ],
)
def test_the_best_is_sound_and_has_the_highest_finite_skill(figures: list[dict[str, Any]], best: int | None) -> None:
    infos = [replace(checkpoint("run", number), **each) for number, each in enumerate(figures)]
    found = best_of(infos[::-1])
    assert found == (None if best is None else infos[best])
