"""A plan as the text of its SWEEP.toml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.sweeps.plan import SweepPlan, plan_data, plan_of

_DEFAULTS = plan_data(plan_of({"files": ["x"]}))


def plan_text(plan: SweepPlan) -> str:
    """TOML that `read_plan` reads as the same plan; defaults are left out."""
    data = plan_data(plan)
    settings = data.pop("settings")
    lines = [f"{name} = {_text(value)}" for name, value in data.items() if value != _DEFAULTS[name]]
    if settings:
        lines += ["", "[settings]", *(f"{_key(key)} = {_text(values)}" for key, values in settings.items())]
    return "\n".join((*lines, ""))


def _key(dotted: str) -> str:
    """Dotted keys of plain names need no quotes; others are one quoted key, which the reader takes as it is."""
    is_plain = all(part.replace("_", "").replace("-", "").isalnum() and part.isascii() for part in dotted.split("."))
    return dotted if is_plain else _text(dotted)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        parts = (f"{name} = {_text(each)}" for name, each in value.items() if each is not None)
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value) if isinstance(value, float) else _escaped(value)


def _escaped(value: Any) -> str:
    """JSON's texts, whole numbers and truth values are TOML's, but for the one control character that JSON leaves."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
