"""The notebooks of the documentation run, on a data folder made here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.training.commands import RescoreCandle
from tests.core.training import rigs
from tests.core.training.conftest import one_thread as one_thread
from tests.support.candles import random_walk, without
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
    session.handle(RescoreCandle(corrected.open_time_ms))
    session.close()
    names = run(NOTEBOOK, FOLDER=tmp_path, RUN=None)
    assert capsys.readouterr().out.endswith("equal to the last digit\n")
    assert len(names["table"]) == 2 * rigs.SMALL.model.horizons and names["table"]["skill"].notna().all()
    assert names["scores"]["after_gap"].any() and (names["scores"]["version"] == 2).any()
    assert names["left_out"] == (1_000 if count >= 1_300 else 0)
