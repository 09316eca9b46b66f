"""The notebook and the script of the documentation that read a run, on data folders made here."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.training.commands import RescoreCandle
from tests.core.training import rigs
from tests.core.training.conftest import one_thread as one_thread
from tests.support.candles import MARKET, random_walk, without
from tests.support.driven import store_candles

NOTEBOOK = Path(__file__).parents[1] / "docs" / "examples" / "recompute_evaluate.ipynb"


def run(notebook: Path, **parameters: object) -> dict[str, Any]:
    """The names after all cells; the cell tagged "parameters" is replaced."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            names |= parameters
        elif cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}:{cell['id']}", "exec"), names)
    return names


@pytest.mark.parametrize("count", [60, pytest.param(1_400, marks=pytest.mark.slow)])
def test_evaluate_is_recomputed_to_the_last_digit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    """With a hole, a corrected candle, and too few or enough candles to leave the first ones out."""
    candles = without(random_walk(count, seed=4), count - 30)
    corrected = replace(candles[-10], close=candles[-10].low)
    session = rigs.service(tmp_path)
    store_candles(tmp_path, candles)
    rigs.feed(session, candles)
    store_candles(tmp_path, [corrected])
    session.handle(RescoreCandle(corrected.open_time_ms, MARKET))
    session.close()
    names = run(NOTEBOOK, FOLDER=tmp_path, RUN=None)
    assert capsys.readouterr().out.endswith("equal to the last digit\n")
    assert len(names["table"]) == 2 * rigs.SMALL.model.horizons and names["table"]["skill"].notna().all()
    assert names["scores"]["after_gap"].any() and (names["scores"]["version"] == 2).any()
    assert names["left_out"] == (1_000 if count >= 1_300 else 0)


def test_two_runs_are_compared_on_the_candles_that_both_have(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("other", 6)):
        training = replace(rigs.SMALL.training, seed=seed)
        session = rigs.service_of_two(tmp_path / name, replace(rigs.SMALL, training=training))
        rigs.feed_two(session, random_walk(60, seed=4), random_walk(60, seed=8))
        session.close()
    compare = runpy.run_path(str(NOTEBOOK.with_name("compare_runs.py")))["compare"]
    table = compare(tmp_path / "one", tmp_path / "other")
    assert set(table["market"]) == {str(MARKET), str(rigs.OTHER), "all"}
    assert len(table) == 3 * 2 * rigs.SMALL.model.horizons and (table["n"] >= 40).all()
    assert (table["low"] <= table["percent"]).all() and (table["percent"] <= table["high"]).all()
    assert (table["percent"] != 0.0).all()
    swapped = compare(tmp_path / "other", tmp_path / "one")
    assert np.allclose(swapped["percent"], -table["percent"])
