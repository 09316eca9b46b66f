"""The list of keyboard shortcuts, by menu and panel, and of mouse and keyboard gestures on the chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QScrollArea, QWidget

from desktop.actions import ActionId, translated
from desktop.ui.dialog_parts import close_button, room_on_screen
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_MOST_COLUMNS = 3
_BETWEEN_COLUMNS_PX = 40
_BETWEEN_SECTIONS_PX = 12
_BEFORE_KEYS_PX = 24


@dataclass(frozen=True, slots=True)
class ShortcutLine:
    """A line of the sheet: its section, its effect, and its keys or mouse gesture."""

    section: str
    name: str
    keys: str
    tooltip: str = ""


def shortcut_lines(ids: Iterable[ActionId]) -> list[ShortcutLine]:
    return [
        ShortcutLine(
            info.place or info.menu[0].replace("&", ""),
            " › ".join(part.replace("&", "") for part in (*info.menu[1:], info.text)).rstrip("…"),
            QKeySequence(info.shortcut).toString(QKeySequence.SequenceFormat.NativeText),
            info.tooltip,
        )
        for info in (translated(action_id.info) for action_id in ids)
        if info.shortcut
    ]


class ShortcutsDialog(QDialog):
    """Shows as many columns as there is room for, and scrolls if they are too high."""

    def __init__(self, lines: Iterable[ShortcutLine], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Keyboard shortcuts"))
        sections: dict[str, list[ShortcutLine]] = {}
        for line in lines:
            sections.setdefault(line.section, []).append(line)
        room = room_on_screen(self)
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setAccessibleName(translate("Dialogs", "Keyboard shortcuts"))
        buttons = close_button(self)
        layout = stacked(self, self.area, buttons, stretched=self.area)
        margins = layout.contentsMargins()
        bar = self.area.verticalScrollBar().sizeHint().width()
        around = QSize(
            margins.left() + margins.right() + bar,
            margins.top() + margins.bottom() + layout.spacing() + buttons.sizeHint().height(),
        )
        body = _widest_body(sections, room.width() - around.width())
        self.area.setWidget(body)
        self.resize((body.sizeHint() + around).boundedTo(room))


def _widest_body(sections: Mapping[str, Sequence[ShortcutLine]], width_px: int) -> QWidget:
    """The sections in as many columns as fit into the width."""
    for count in range(_MOST_COLUMNS, 1, -1):
        body = _body(sections, count)
        if body.sizeHint().width() <= width_px:
            return body
        body.deleteLater()
    return _body(sections, 1)


def _body(sections: Mapping[str, Sequence[ShortcutLine]], count: int) -> QWidget:
    body = QWidget()
    columns = [
        stacked(None, *(_section(title, sections[title]) for title in titles), None, spacing=_BETWEEN_SECTIONS_PX)
        for titles in _columns(sections, count)
    ]
    beside(body, *columns, None, margins=NO_MARGINS, spacing=_BETWEEN_COLUMNS_PX)
    return body


def _columns(sections: Mapping[str, Sequence[ShortcutLine]], count: int) -> list[list[str]]:
    """The sections in this many columns, in order, so that the tallest column is as low as possible."""
    titles = list(sections)
    cuts = combinations_with_replacement(range(len(titles) + 1), count - 1)
    parts = ([titles[start:end] for start, end in pairwise((0, *cut, len(titles)))] for cut in cuts)

    def height(titles: Iterable[str]) -> int:
        return sum(len(sections[title]) + 2 for title in titles)  # a heading is as high as two rows

    best = min(parts, key=lambda columns: max(map(height, columns)))
    return [column for column in best if column]


def _section(title: str, lines: Iterable[ShortcutLine]) -> QGridLayout:
    """Keys follow the names directly: a wide line of another section moves them no further away."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(_BEFORE_KEYS_PX)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(1, 1)
    heading = Label(title)
    font = QFont(heading.font())
    font.setBold(True)
    heading.setFont(font)
    grid.addWidget(heading, 0, 0, 1, 2)
    for row, line in enumerate(lines, start=1):
        name = Label(line.name)
        name.setToolTip(paragraphs(line.tooltip))
        grid.addWidget(name, row, 0)
        grid.addWidget(Label(line.keys), row, 1, Qt.AlignmentFlag.AlignLeft)
    return grid


_SECTION = QT_TRANSLATE_NOOP("Chart", "On the chart")
_GESTURES = (
    (QT_TRANSLATE_NOOP("Chart", "Zoom"), QT_TRANSLATE_NOOP("Chart", "Wheel, Up, Down, +, −")),
    (QT_TRANSLATE_NOOP("Chart", "Move"), QT_TRANSLATE_NOOP("Chart", "Drag, Shift+Wheel, Left, Right")),
    (QT_TRANSLATE_NOOP("Chart", "Move by a page"), QT_TRANSLATE_NOOP("Chart", "PgUp, PgDown")),
    (
        QT_TRANSLATE_NOOP("Chart", "Read candle by candle"),
        QT_TRANSLATE_NOOP("Chart", "Ctrl+Left, Ctrl+Right; every tenth with Shift"),
    ),
    (
        QT_TRANSLATE_NOOP("Chart", "Crosshair to the pane above, below"),
        QT_TRANSLATE_NOOP("Chart", "Ctrl+PgUp, Ctrl+PgDown"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Oldest, newest candle"), QT_TRANSLATE_NOOP("Chart", "Home, End")),
    (
        QT_TRANSLATE_NOOP("Chart", "Stretch the price axis"),
        QT_TRANSLATE_NOOP("Chart", "Drag the price axis, Alt+Shift+Up, Down"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Move to higher, lower prices"), QT_TRANSLATE_NOOP("Chart", "Alt+Up, Alt+Down")),
    (QT_TRANSLATE_NOOP("Chart", "Fit the prices"), QT_TRANSLATE_NOOP("Chart", "Double-click on the price axis")),
    (QT_TRANSLATE_NOOP("Chart", "Zoom around the newest candle"), QT_TRANSLATE_NOOP("Chart", "Drag the time axis")),
    (QT_TRANSLATE_NOOP("Chart", "Reset the zoom"), QT_TRANSLATE_NOOP("Chart", "Double-click on the time axis")),
    (QT_TRANSLATE_NOOP("Chart", "Reset view"), QT_TRANSLATE_NOOP("Chart", "Double-click on the plot, Esc")),
    (QT_TRANSLATE_NOOP("Chart", "Measure"), QT_TRANSLATE_NOOP("Chart", "Shift+Drag")),
    (QT_TRANSLATE_NOOP("Chart", "Snap a line to a candle"), QT_TRANSLATE_NOOP("Chart", "Hold Ctrl while placing it")),
    (
        QT_TRANSLATE_NOOP("Chart", "Move the selected line"),
        QT_TRANSLATE_NOOP("Chart", "Up, Down; Shift: tenfold, Ctrl: smallest step"),
    ),
    (
        QT_TRANSLATE_NOOP("Chart", "Height of a pane"),
        QT_TRANSLATE_NOOP("Chart", "Drag its upper edge, Ctrl+Shift+Up, Down"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Find a market"), QT_TRANSLATE_NOOP("Chart", "Type its letters, then Return")),
    (
        QT_TRANSLATE_NOOP("Chart", "Change the interval"),
        QT_TRANSLATE_NOOP("Chart", "Type its minutes, or 4h or 1d, then Return"),
    ),
    (QT_TRANSLATE_NOOP("Chart", "Deselect"), QT_TRANSLATE_NOOP("Chart", "Esc")),
)


def chart_gestures() -> tuple[ShortcutLine, ...]:
    return tuple(
        ShortcutLine(translate("Chart", _SECTION), translate("Chart", name), translate("Chart", keys))
        for name, keys in _GESTURES
    )
