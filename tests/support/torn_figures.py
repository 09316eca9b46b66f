"""Finds line breaks between figures and their units, at any text width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtGui import QFont, QTextDocument, QTextOption

WIDTHS = range(40, 640, 9)
_NUMBER_AT_THE_END = re.compile(r"[0-9][KMBT]?\s*$")
_SHARE_AT_THE_END = re.compile(r"[0-9][KMBT]?\sof\s*$")
_UNIT_AT_THE_BEGINNING = re.compile(r"[^\W\d_]|[%°]")


def torn_figures(drawn: str, font: QFont, *, is_markup: bool) -> set[str]:
    """drawn: as Qt has it. The ends of lines that tear one, with the next line's first word."""
    document = QTextDocument()
    document.setDefaultFont(font)
    document.setDefaultTextOption(_as_labels_do())
    (document.setHtml if is_markup else document.setPlainText)(drawn)
    found = set()
    for width in WIDTHS:
        document.setTextWidth(width)
        document.documentLayout().documentSize()  # it lays out only what is asked for
        for above, below in pairwise(_lines(document)):
            is_without_unit = _NUMBER_AT_THE_END.search(above) and _UNIT_AT_THE_BEGINNING.match(below)
            if is_without_unit or (_SHARE_AT_THE_END.search(above) and below[:1].isdigit()):
                found.add(f"{above.split()[-1]} / {below.split()[0]}")
    return found


def _as_labels_do() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    return option


def _lines(document: QTextDocument) -> Iterator[str]:
    block = document.begin()
    while block.isValid():
        text, layout = block.text(), block.layout()
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            yield text[line.textStart() : line.textStart() + line.textLength()]
        yield ""
        block = block.next()
