"""SWEEP.toml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.sweeps.errors import SweepError
from core.sweeps.plan import SettingRange, plan_data, plan_of, read_plan

FILES = {"files": ["*.csv"]}


def test_all_fields_are_read_and_written_back(tmp_path: Path) -> None:
    (tmp_path / "SWEEP.toml").write_text(
        """
        files = ["a/*.csv", "b.csv"]
        models = ["transformer", "gru", "own.py:Own"]
        seeds = [0, 1]
        together = true
        candles = 1500
        first_part = 2026-05-01
        [settings]
        training.learning_rate = [1e-5, 3e-5]
        "model.width" = { from = 16, to = 64, steps = 3, scale = "log" }
        online.drift = "off"
        """
    )
    plan = read_plan(tmp_path / "SWEEP.toml")
    assert plan.files == ("a/*.csv", "b.csv") and plan.models == ("transformer", "gru", "own.py:Own")
    assert plan.seeds == (0, 1) and plan.together and plan.candles == 1500 and plan.first_part == "2026-05-01"
    assert plan.settings["training.learning_rate"] == (1e-5, 3e-5) and plan.settings["online.drift"] == ("off",)
    assert plan.varied == ("training.learning_rate", "model.width")
    assert plan_of(json.loads(json.dumps(plan_data(plan)))) == plan


def test_one_value_needs_no_list() -> None:
    plan = plan_of({"files": "*.csv", "models": "gru", "seeds": 7, "settings": {"model": {"width": 32}}})
    assert (plan.files, plan.models, plan.seeds) == (("*.csv",), ("gru",), (7,))
    assert plan.settings == {"model.width": (32,)} and plan.varied == ()


@pytest.mark.parametrize(
    ("ends", "values"),
    [
        ({"from": 16, "to": 64, "steps": 4}, (16, 32, 48, 64)),
        ({"from": 1, "to": 3, "steps": 5}, (1, 2, 3)),
        ({"from": 0.0, "to": 0.3, "steps": 4}, (0.0, 0.1, 0.2, 0.3)),
        ({"from": 1e-5, "to": 1e-3, "steps": 3, "scale": "log"}, (1e-5, 1e-4, 1e-3)),
    ],
)
def test_a_range_has_both_ends_and_each_value_once(ends: dict[str, Any], values: tuple[float, ...]) -> None:
    found = plan_of({**FILES, "settings": {"x": ends}}).settings["x"]
    assert isinstance(found, SettingRange)
    assert found.values() == pytest.approx(values) and [type(each) for each in found.values()] == [*map(type, values)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "files"),
        ({"files": []}, "at least 1 item"),
        ({**FILES, "file": "a"}, "file: this version has no such setting"),
        ({**FILES, "models": ["gru", "gru"]}, "models has gru twice"),
        ({**FILES, "seeds": [-1]}, "seeds: it should be greater than or equal to 0"),
        ({**FILES, "candles": 0}, "candles"),
        ({**FILES, "first_part": 1.0}, "first_part"),
        ({**FILES, "device": "auto"}, "name the device"),
        ({**FILES, "random": 3, "budget": 3}, "exclude each other"),
        ({**FILES, "settings": 3}, "settings is a table"),
        ({**FILES, "settings": {"model.width": []}}, "model.width: there is no value"),
        ({**FILES, "settings": {"model.width": [32, 32]}}, "32 is there twice"),
        ({**FILES, "settings": {"model.width": [[32]]}}, "is no value of a setting"),
        ({**FILES, "settings": {"training.learning_rate": [float("nan")]}}, "nan is no value of a setting"),
        ({**FILES, "settings": {"model.width": {"from": 9, "to": 3}}}, "9 is not below 3"),
        ({**FILES, "settings": {"model.width": {"from": 0, "to": 3, "scale": "log"}}}, "begins above 0"),
        ({**FILES, "settings": {"model.width": {"from": "x", "to": 3}}}, "from"),
    ],
)
def test_what_is_wrong_is_a_sentence(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SweepError) as caught:
        plan_of(data)
    assert sentence in str(caught.value) and str(caught.value).endswith(".")


def test_a_file_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="There is no file"):
        read_plan(tmp_path / "absent.toml")
    (tmp_path / "SWEEP.toml").write_text("files = [")
    with pytest.raises(SweepError, match="cannot be read as TOML"):
        read_plan(tmp_path / "SWEEP.toml")
