"""The model of docs/your-own-model.md keeps the contract, is what the page shows, and can be tried from its file."""

from __future__ import annotations

import ast
from pathlib import Path

from models.checks import check_module
from models.contract import find_model
from models.shape import ModelShape
from tests.desktop.commands.walk_files import write
from tests.support import commands

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILE = DOCS / "examples" / "own_model.py"


def test_the_example_keeps_the_contract() -> None:
    shape = ModelShape(features=18, context=12, width=16, layers=2, heads=4, horizons=3, quantities=6, levels=7)
    found = list(check_module(find_model("OwnModel", str(FILE)), "OwnModel", shape))
    assert len(found) > 1 and all(each.passed for each in found)


def test_the_page_shows_the_whole_class_in_twenty_lines() -> None:
    text = FILE.read_text()
    (own,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    source = ast.get_source_segment(text, own)
    assert source is not None and source in (DOCS / "your-own-model.md").read_text()
    assert len(source.splitlines()) <= 20


def test_the_example_can_be_tried(tmp_path: Path) -> None:
    data, file = str(commands.configure(tmp_path / "data")), str(write(tmp_path / "prices.csv", 0))
    found = commands.invoke_json("evaluate", file, "--model", f"{FILE}:OwnModel", "--data-dir", data)
    assert list(found["challenger_ms"]) == ["OwnModel"] and found["incidents"] == []
