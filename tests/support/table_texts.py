"""The texts of the window, and those that `lupdate` does not find because their tables mark none: actions, settings,
checkpoints' columns, and what the numbers and columns of panels mean.

python -m tests.support.table_texts FILE
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import desktop
from core.settings.group import all_field_infos, unit_of
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.checkpoints.columns import COLUMNS, REASONS
from desktop.dialogs.setting_texts import english_title
from desktop.panels.accuracy import models_table
from desktop.panels.markets import model as markets

DESKTOP = Path(desktop.__file__).parent
MARKS = ("translate", "QT_TRANSLATE_NOOP")
_OF_PANELS = ("MEANINGS", "TERMS")
"""Tables of `desktop/panels` whose every text is shown."""


def texts() -> Iterator[tuple[str, str]]:
    """Context and English text of each that is in a table without marks."""
    for info in (each.info for each in ActionId):
        yield from (("Actions", text) for text in (info.text, info.tooltip, *info.menu, info.place) if text)
    for group in fields(Settings):
        yield "Settings", english_title(group.name)
        for name, info in all_field_infos(type(getattr(Settings(), group.name))).items():
            yield from (("Settings", text) for text in (english_title(name), unit_of(name, info)) if text)
            yield "SettingDescriptions", info.description or ""
    checkpoints = (*(text for column in COLUMNS for text in (column.title, column.meaning) if text), *sorted(REASONS))
    yield from (("Checkpoints", text) for text in checkpoints)
    for titled in (*models_table.Column, *markets.Column):
        yield from (("Panels", text) for text in titled.english)
    for path in sorted((DESKTOP / "panels").rglob("*.py")):
        tables = (node for node in _tree(path).body if isinstance(node, ast.Assign))
        for table in (node.value for node in tables if getattr(node.targets[0], "id", "") in _OF_PANELS):
            yield from (("Panels", text) for text in map(_literal_text, ast.walk(table)) if text)


@cache
def every_text() -> frozenset[tuple[str, str]]:
    """Context and English text of all that a translation can have."""
    calls = (node for path in DESKTOP.rglob("*.py") for node in ast.walk(_tree(path)) if isinstance(node, ast.Call))
    marked = (call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id in MARKS)
    pairs = ((_literal_text(room), _literal_text(text)) for room, text in marked)
    return frozenset((*texts(), *(pair for pair in pairs if all(pair))))


def source() -> str:
    """A module that marks them, each once."""
    pairs = (map(_quoted, pair) for pair in dict.fromkeys(texts()))
    return "".join(f"QT_TRANSLATE_NOOP({', '.join(pair)})\n" for pair in pairs)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _literal_text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source(), encoding="utf-8")
