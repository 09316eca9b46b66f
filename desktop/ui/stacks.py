"""Parts below or beside one another, laid out in one call."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSplitter, QVBoxLayout, QWidget

Part = QWidget | QLayout | None
"""None: a stretch that fills the remaining room."""
Margins = tuple[int, int, int, int]
"""Left, top, right, bottom."""
NO_MARGINS = (0, 0, 0, 0)


def stacked(
    host: QWidget | None,
    *parts: Part,
    stretched: Part | tuple[Part, ...] = (),
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """The parts below one another; in `host`, or in a layout for later use. stretched: the part or parts that fill the
    remaining room. margins, spacing: None is the style's."""
    layout = QVBoxLayout() if host is None else QVBoxLayout(host)
    _fill(layout, parts, stretched, margins, spacing)
    return layout


def beside(
    host: QWidget | None,
    *parts: Part,
    stretched: Part | tuple[Part, ...] = (),
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """The parts from left to right, otherwise as `stacked` lays them out."""
    layout = QHBoxLayout() if host is None else QHBoxLayout(host)
    _fill(layout, parts, stretched, margins, spacing)
    return layout


def _fill(
    layout: QBoxLayout,
    parts: tuple[Part, ...],
    stretched: Part | tuple[Part, ...],
    margins: Margins | None,
    spacing: int | None,
) -> None:
    if margins is not None:
        layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    growing = stretched if isinstance(stretched, tuple) else (stretched,)
    for part in parts:
        stretch = int(any(part is each for each in growing))
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QLayout):
            layout.addLayout(part, stretch)
        else:
            layout.addWidget(part, stretch)


def divided(*parts: QWidget, shares: tuple[int, ...]) -> QSplitter:
    """The parts from left to right, with handles between them. shares: of the remaining width."""
    splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
    for place, (part, share) in enumerate(zip(parts, shares, strict=True)):
        splitter.addWidget(part)
        splitter.setStretchFactor(place, share)
    return splitter
