"""The first part of each file as it is typed: a share, ``50 %``, or a date, ``2026-05-01``."""

from __future__ import annotations

import re

from desktop.ui.formatting import format_number
from desktop.ui.translation import translate

_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")


def part_of(text: str) -> float | str:
    """Raises ValueError with a sentence."""
    typed = text.strip()
    if _DATE.fullmatch(typed):
        return typed
    found = _SHARE.fullmatch(typed)
    share = 0.0 if found is None else float(found[1]) / 100.0
    if not 0.0 < share < 1.0:
        raise ValueError(translate("Sweeps", "First part: type a share, such as 50 %, or a date, such as 2026-05-01."))
    return share


def part_text(first_part: float | str) -> str:
    if isinstance(first_part, str):
        return first_part
    return f"{format_number(100.0 * first_part, 4).rstrip('0').rstrip('.')} %"
