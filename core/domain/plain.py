"""Text from outside: of an exchange, a file, an imported package. Nobody vouches for its length or its characters."""

from __future__ import annotations

LONGEST = 300
"""Characters of one piece of it that are shown. The log has more: `core.logs.writing`."""

_COMMANDING = dict.fromkeys(
    (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)


def plain(text: str, longest: int = LONGEST) -> str:
    """The text as it is shown: at most `longest` characters, the last of them an ellipsis where more came; without
    halves of characters, which no encoding takes, and without those that command a terminal or turn a line round."""
    shown = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    return shown.encode("utf-8", "replace").decode("utf-8").translate(_COMMANDING)
