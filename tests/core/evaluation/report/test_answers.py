"""The three answers say what the interval says, and no number where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from core.evaluation.report.answers import answers
from core.evaluation.report.figures import between, percent

Found = dict[str, Any]
ABOVE: Found = {"value": 0.026, "ci95": [0.011, 0.042], "n": 4_000}
BELOW: Found = {"value": -0.12, "ci95": [-0.379, -0.0002], "n": 4_000}
OPEN: Found = {"value": 0.0001, "ci95": [-0.0101, 0.0123], "n": 4_000}
EARLY: Found = {"value": 0.02, "ci95": None, "n": 400}
NOTHING: Found = {"value": None, "ci95": None, "n": 4_000}


def said(found: Found, group: str = "live", age: int = 300) -> list[str]:
    skill = {"close": found, "model_gain": found, "online_gain": found, "twin_age": age}
    return [text for _, text in answers({"candles": 4_001, "accuracy": {"group": group}, "skill": skill})]


@pytest.mark.parametrize(
    ("found", "expected", "figure"),
    [
        (ABOVE, ("Ghosts beat", "The model adds", "Learning helps"), "+2.6 % (1.1 to 4.2), n = 4,000"),
        (BELOW, ("Ghosts are worse", "The model does harm", "Learning does harm"), "-12.0 % (-37.9 to -0.02)"),
        (OPEN, ("Ghosts are not proven", "No proven gain", "Learning is not proven"), "0.0 % (-1.0 to 1.2)"),
        (EARLY, ("Ghosts: too early", "Model: too early", "Learning: too early to tell (700 of 1,050"), ""),
        (NOTHING, ("Ghosts: nothing to forecast", "Model: nothing", "Learning: nothing"), ""),
    ],
)
def test_each_answer_follows_its_interval(found: Found, expected: tuple[str, ...], figure: str) -> None:
    for text, begins in zip(said(found), expected, strict=True):
        assert text.startswith(begins) and figure in text and ("%" in text) == bool(figure)


def test_the_ghosts_answer_says_where_if_it_is_no_proof() -> None:
    assert "in replay" in said(ABOVE, "replayed")[0] and "in simulation" in said(ABOVE, "simulated")[0]


def test_without_a_reference_model_learning_is_not_measured() -> None:
    assert "not measured" in said(ABOVE, age=0)[2]


def test_no_end_of_an_interval_is_rounded_to_zero_and_zero_has_no_sign() -> None:
    assert between([0.0002, 0.0301]) == "0.02 to 3.0" and between([-0.0, 0.5]) == "0.0 to 50.0"
    assert (percent(-0.0001), percent(0.0001), percent(-0.0006)) == ("0.0 %", "0.0 %", "-0.1 %")
