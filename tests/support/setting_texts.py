"""The descriptions of settings as `lupdate` finds them: written to the desktop's side by `make docs`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from core.settings.tree import Settings
from desktop.dialogs.forms import all_field_infos

TABLE = Path(__file__).resolve().parents[2] / "desktop" / "dialogs" / "setting_descriptions.py"
_HEAD = '''"""The settings' descriptions, marked for `lupdate`, since `core` knows no Qt. Made by `make docs`."""

from __future__ import annotations

from desktop.ui.translation import QT_TRANSLATE_NOOP

DESCRIPTIONS = (
'''
_WIDTH = 120
_PIECE_WIDTH = 100


def every_description() -> Iterator[str]:
    """In the order of the tree, also those of settings that no form offers; each once."""
    tree = Settings()
    infos = (info for group in fields(tree) for info in all_field_infos(type(getattr(tree, group.name))).values())
    yield from dict.fromkeys(info.description or "" for info in infos)


def table() -> str:
    """The module, as the formatter leaves it."""
    lines = [f"    {_marked(text)},\n" for text in every_description()]
    return f"{_HEAD}{''.join(lines)})\n"


def _marked(text: str) -> str:
    line = f'QT_TRANSLATE_NOOP("SettingDescriptions", {_literal(text)})'
    if len(line) < _WIDTH - 4:
        return line
    pieces = textwrap.wrap(text, _PIECE_WIDTH, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    if len(_literal(text)) < _WIDTH - 8:
        pieces = [text]
    literal = "\n        ".join(map(_literal, pieces))
    return f'QT_TRANSLATE_NOOP(\n        "SettingDescriptions",\n        {literal},\n    )'


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
