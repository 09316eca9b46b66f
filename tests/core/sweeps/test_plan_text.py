from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sweeps.plan import plan_of, read_plan
from core.sweeps.plan_text import plan_text

FULL = {
    "files": ['/data/a "b"\\c.csv', "data/*.csv"],
    "models": ["transformer", "own.py:Own", "process:python x.py"],
    "settings": {
        "model.width": [32, 64],
        "training.learning_rate": {"from": 0.00001, "to": 0.01, "steps": 4, "scale": "log"},
        "training.cuda_graphs": [True, False],
        "training.schedule": ["constant"],
    },
    "seeds": [0, 1, 7],
    "together": True,
    "candles": 1500,
    "first_part": "2026-05-01",
    "random": 12,
    "sampler": "qmc",
}


@pytest.mark.parametrize("data", [{"files": ["x.csv"]}, FULL], ids=["least", "full"])
def test_a_plan_is_read_as_it_was_written(tmp_path: Path, data: dict[str, Any]) -> None:
    plan = plan_of(data)
    file = tmp_path / "SWEEP.toml"
    file.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(file) == plan


def test_defaults_are_left_out() -> None:
    assert plan_text(plan_of({"files": ["x.csv"]})) == 'files = ["x.csv"]\n'


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_any_name_of_a_file_survives(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    file = tmp_path_factory.getbasetemp() / "SWEEP.toml"
    file.write_bytes(plan_text(plan_of({"files": [name]})).encode())
    assert read_plan(file).files == (name,)
