"""The three answers of a run in sentences, for the terminal and the pages: in the words and digits of the window."""

from __future__ import annotations

from typing import Any

from core.domain.events import ForecastGroup
from core.evaluation.report.figures import measured, missing
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF, FEWEST_FOR_AN_ESTIMATE

EXPLAINED = (
    "Over all of the run's own candles, one candle ahead, updated with every 50th; the 95 % intervals in brackets "
    "hold however often one looks. Close and range count in equal parts."
)
_WHERE = {ForecastGroup.REPLAYED.value: " in replay", ForecastGroup.SIMULATED.value: " in simulation"}


def answers(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The subject of each answer, and the answer. summary: with "accuracy" and "skill" of `summarise`."""
    return [
        ("Ghosts", _ghosts(summary)),
        ("Model", _model(summary["skill"]["model_gain"])),
        ("Learning", _learning(summary)),
    ]


def _ghosts(summary: dict[str, Any]) -> str:
    where = _WHERE.get(summary["accuracy"]["group"], "")
    return _answer(
        summary["skill"]["close"],
        f"Ghosts beat “no change” on the close{where}",
        f"Ghosts are worse than “no change” on the close{where}",
        f"Ghosts are not proven better than “no change” on the close{where}",
        early=f"Ghosts{where}: too early to tell",
        nothing="Ghosts",
    )


def _model(gain: dict[str, Any]) -> str:
    return _answer(
        gain,
        "The model adds to the baselines, on close and range",
        "The model does harm, on close and range",
        "No proven gain from the model yet, on close and range",
        early="Model: too early to tell",
        nothing="Model",
    )


def _learning(summary: dict[str, Any]) -> str:
    gain, age = summary["skill"]["online_gain"], summary["skill"]["twin_age"]
    if not age:
        return "Learning: not measured, as no reference model was stored."
    have = age + gain["n"] if gain["n"] else min(max(summary["candles"] - 1, 0), age)
    return _answer(
        gain,
        "Learning helps, on close and range",
        "Learning does harm, on close and range",
        "Learning is not proven to help, on close and range",
        early=f"Learning: too early to tell ({have:,} of {age + FEWEST_FOR_A_PROOF:,} candles)",
        nothing="Learning",
    )


def _answer(of: dict[str, Any], above: str, below: str, neither: str, *, early: str, nothing: str) -> str:
    value, ci95, n = of["value"], of["ci95"], of["n"]
    if value is None and n >= FEWEST_FOR_AN_ESTIMATE:
        return f"{nothing}: {missing(n)}."
    if ci95 is None:
        return f"{early}."
    text = above if ci95[0] > 0.0 else below if ci95[1] < 0.0 else neither
    return f"{text}: {measured(value, ci95, n)}, n = {n:,}."
