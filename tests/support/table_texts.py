"""The texts of tables that mark none, as `lupdate` finds them: actions, settings, checkpoints' columns.

python -m tests.support.table_texts FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from core.settings.group import all_field_infos, unit_of
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.checkpoints.columns import COLUMNS, REASONS
from desktop.dialogs.setting_words import english_title


def texts() -> Iterator[tuple[str, str]]:
    """Context and English text of each."""
    for info in (each.info for each in ActionId):
        yield from (("Actions", text) for text in (info.text, info.tooltip, *info.menu, info.place) if text)
    for group in fields(Settings):
        yield "Settings", english_title(group.name)
        for name, info in all_field_infos(type(getattr(Settings(), group.name))).items():
            yield "Settings", english_title(name)
            yield "SettingDescriptions", info.description or ""
            if unit := unit_of(name, info):
                yield "Settings", unit
    checkpoints = (*(text for column in COLUMNS for text in (column.title, column.meaning) if text), *sorted(REASONS))
    yield from (("Checkpoints", text) for text in checkpoints)


def source() -> str:
    """A module that marks them, each once."""
    pairs = (map(_literal, pair) for pair in dict.fromkeys(texts()))
    return "".join(f"QT_TRANSLATE_NOOP({', '.join(pair)})\n" for pair in pairs)


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source(), encoding="utf-8")
