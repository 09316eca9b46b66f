"""Configurations and cells."""

from __future__ import annotations

from typing import Any

import pytest

from core.settings.tree import Settings, from_dict
from core.sweeps.errors import SweepError
from core.sweeps.grid import base_of, cells_of, configurations_of, extent_of, settings_of
from core.sweeps.plan import Configuration, SweepFile, plan_of

BASE = base_of(Settings())
FILES = tuple(SweepFile(f"{name}.csv", f"/{name}.csv", name, 60_000, 100, 50) for name in "ab")
RATE = "training.learning_rate"
MANY = {"from": 0.1, "to": 0.2, "steps": 1000}


def configurations(base: dict[str, Any] = BASE, **plan: Any) -> tuple[Configuration, ...]:
    return configurations_of(plan_of({"files": "*", **plan}), base)


def test_a_grid_has_each_combination_and_knows_the_users_own() -> None:
    found = configurations(models=["transformer", "gru"], settings={RATE: [1e-5, 3e-5], "model.width": [32, 64]})
    assert [of.number for of in found] == [*range(1, 9)] and len({(of.model, of.settings) for of in found}) == 8
    assert [of.settings for of in found if of.is_default] == [((RATE, 3e-5), ("model.width", 64))]
    others = configurations(settings={RATE: [1e-5, 1e-4]})
    assert [of.number for of in others if of.is_default] == [1], "without the user's own the first"


def test_each_configuration_meets_each_file_and_seed() -> None:
    plan = plan_of({"files": "*", "seeds": [3, 4], "settings": {RATE: [1e-5, 3e-5]}})
    chosen = configurations_of(plan, BASE)
    alone = cells_of(chosen, FILES, plan)
    assert [cell.number for cell in alone] == [*range(1, 9)]
    assert len({(cell.configuration.number, cell.files, cell.seed) for cell in alone}) == 8
    together = cells_of(chosen, FILES, plan_of({"files": "*", "seeds": [3, 4], "together": True}), first=5)
    assert [cell.number for cell in together] == [5, 6, 7, 8] and all(cell.files == FILES for cell in together)
    extent = extent_of(plan, 2, FILES)
    assert (extent.cells, extent.candles) == (8, 2 * 2 * 200)


def test_a_random_search_draws_different_ones_by_its_seed() -> None:
    ranges = {RATE: {"from": 1e-6, "to": 1e-3, "scale": "log"}, "model.layers": {"from": 1, "to": 4}}
    found = configurations(settings=ranges, random=20)
    assert len({of.settings for of in found}) == 20
    assert found[0].is_default and found[0].settings == ((RATE, 3e-5), ("model.layers", 2)), "the user's own first"
    values = [dict(of.settings) for of in found]
    assert all(1e-6 <= each[RATE] <= 1e-3 and each["model.layers"] in (1, 2, 3, 4) for each in values)
    assert configurations(settings=ranges, random=20) == found
    assert configurations(settings=ranges, random=20, search_seed=1) != found
    assert len(configurations(settings={"model.layers": [1, 2]}, random=9)) == 2, "there are no more"


def test_a_cells_settings_are_the_users_with_its_own() -> None:
    mine, _ = from_dict({"model": {"layers": 5, "challengers": ["tcn"]}, "training": {"seed": 8, "device": "cuda"}})
    settings = settings_of(base_of(mine), Configuration(1, "gru", (("model.width", 32),)), 3, "cpu")
    assert (settings.model.layers, settings.model.width, settings.model.challengers) == (5, 32, ("gru",))
    assert (settings.training.seed, settings.training.device, settings.training.host) == (3, "cpu", "thread")
    assert settings.backups.every_hours == 0, "of a temporary folder"
    assert settings_of(base_of(mine), Configuration(1, "transformer", ()), 3, "cpu").model.challengers == ()


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"settings": {"training.learning_rat": [1e-5]}}, "Perhaps training.learning_rate is meant"),
        ({"settings": {"chart.show_grid": [True]}}, "no setting chart.show_grid"),
        ({"settings": {"training.seed": [1, 2]}}, "name seeds in seeds"),
        (
            {"settings": {RATE: [1e-5, 2.0]}},
            "learning_rate is not right: it should be less than or equal to 1",
        ),
        ({"settings": {RATE: ["fast"]}}, "training.learning_rate is not right"),
        ({"settings": {"model.width": ["32"]}}, "'32' would be 32; write that"),
        ({"settings": {"model.width": {"from": 16.0, "to": 64}}, "random": 3}, "model.width is a whole number"),
        ({"settings": {"model.width": [66]}}, "4 heads do not divide a width of 66"),
        ({"settings": {"model.width": {"from": 16, "to": 64}}}, "needs steps"),
        ({"settings": {"model.width": {"from": 2, "to": 64}}, "random": 3}, "model.width is not right"),
        ({"models": ["two words"]}, "models: 'two words' is no model"),
        ({"models": ["HAR"]}, "HAR is the name of a forecast that every run has"),
        (
            {"settings": {RATE: {"from": 0.1, "to": 0.2, "steps": 1000}, "gradients.clip_norm": list(range(1, 200))}},
            "100,000",
        ),
    ],
)
def test_what_cannot_be_run_is_a_sentence(plan: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SweepError) as caught:
        configurations(**plan)
    assert sentence in str(caught.value) and str(caught.value).endswith(".")
