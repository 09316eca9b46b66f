"""Untrusted text, from an exchange, a file or an imported package: any length, any characters."""

from __future__ import annotations

LONGEST = 300
"""Characters shown of one text. The log keeps more: `core.logs.writing`."""
LONGEST_LABEL = 120
"""Characters of a text that the user writes on the chart, at a line or as a drawing."""

_COMMANDING = dict.fromkeys(
    (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)


def plain(text: str, longest: int = LONGEST) -> str:
    """The text made safe to show: at most `longest` characters, the last an ellipsis if it was cut; lone surrogates
    replaced, control characters and changes of direction removed."""
    shown = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    return shown.encode("utf-8", "replace").decode("utf-8").translate(_COMMANDING)
