"""The notebooks of the documentation run, on a data folder made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.training import rigs
from tests.core.training.conftest import one_thread as one_thread
from tests.support.candles import random_walk

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


def test_evaluate_is_recomputed_to_the_last_digit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = rigs.service(tmp_path)
    rigs.feed(session, random_walk(60, seed=4))
    session.close()
    names = run(NOTEBOOK, FOLDER=tmp_path, RUN=None)
    assert capsys.readouterr().out.endswith("equal to the last digit\n")
    assert len(names["table"]) == 2 * rigs.SMALL.model.horizons and names["table"]["skill"].notna().all()
