"""Short dialogs: a note, a question before deleting, about, and the sheet of shortcuts. All return at once."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QFont, QIcon, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from core.events import CheckpointInfo
from desktop.actions import ActionInfo, translated
from desktop.formatting import format_count
from desktop.icons import icon
from desktop.plain_text import Label, MessageBox, paragraphs
from desktop.translation import translate

LONGEST_NOTE = 200
_SHARE_OF_SCREEN = 0.8
_SIGN_PX = 40
_KINDS = QDialogButtonBox.StandardButton
_BUTTON_ICONS = {
    _KINDS.Ok: "check",
    _KINDS.Save: "content-save-outline",
    _KINDS.Cancel: "close",
    _KINDS.Close: "close",
    _KINDS.RestoreDefaults: "restore",
}
_SIGNS = {
    MessageBox.Icon.Question: "help-circle-outline",
    MessageBox.Icon.Warning: "alert-outline",
    MessageBox.Icon.Critical: "alert-circle-outline",
    MessageBox.Icon.Information: "information-outline",
}


def open_dialog(dialog: QDialog) -> QDialog:
    """Show a dialog over its window without a loop of its own; it is gone once it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dress_icons(dialog)
    dialog.open()
    return dialog


def dress_icons(dialog: QDialog) -> None:
    """Give standard buttons and a question's sign the icons of our own set, in the place of the style's."""
    ink = dialog.palette().buttonText().color()
    for box in dialog.findChildren(QDialogButtonBox):
        for button in box.buttons():
            name = _BUTTON_ICONS.get(box.standardButton(button))
            button.setIcon(QIcon() if name is None else icon(name, ink))
    sign = _SIGNS.get(dialog.icon()) if isinstance(dialog, MessageBox) else None
    if isinstance(dialog, MessageBox) and sign is not None:
        dialog.setIconPixmap(icon(sign, ink).pixmap(_SIGN_PX, _SIGN_PX))


def open_note(parent: QWidget, info: CheckpointInfo, on_note: Callable[[str], object]) -> QDialog:
    """Ask for a checkpoint's note; `on_note` gets it when it is accepted."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(translate("Dialogs", "Note"))
    edit = QLineEdit(info.note)
    edit.setMaxLength(LONGEST_NOTE)
    edit.setMinimumWidth(360)
    edit.setPlaceholderText(translate("Dialogs", "What is worth remembering about it"))
    layout = QVBoxLayout(dialog)
    question = translate("Dialogs", "Note on the checkpoint of step {0}:").format(format_count(info.step))
    edit.setAccessibleName(question)
    layout.addWidget(Label(question))
    layout.addWidget(edit)
    layout.addWidget(_buttons(dialog))
    edit.selectAll()
    dialog.accepted.connect(lambda: on_note(edit.text().strip()))
    return open_dialog(dialog)


def open_about(parent: QWidget, sign: QIcon, device: str) -> QDialog:
    """Version, what it is, and what it is built from."""
    box = MessageBox(parent)
    box.setWindowTitle(translate("Dialogs", "About Ghostcandle"))
    box.setIconPixmap(sign.pixmap(64, 64))
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setText(translate("Dialogs", "<h3>Ghostcandle {0}</h3>").format(html.escape(_version("ghostcandle"))))
    parts = ", ".join(f"{name} {_version(name)}" for name in ("pyqtgraph", "numpy", "ccxt", "torch"))
    device = device or translate("Dialogs", "none yet")
    box.setInformativeText(
        translate(
            "Dialogs",
            "<p>Watch a model learn a market: live candles, its forecasts ahead of them as ghosts, "
            "and an honest score.</p>"
            "<p>It is an instrument for looking at forecasts, not advice to trade.</p>"
            "<p>Training device: {0}.<br>Qt {1}, {2}.</p>"
            "<p>MIT licence. Qt and PySide6 are used under the LGPL.</p>",
        ).format(html.escape(device), qVersion(), html.escape(parts))
    )
    box.addButton(MessageBox.StandardButton.Close)
    return open_dialog(box)


@dataclass(frozen=True, slots=True)
class ShortcutLine:
    """A line of the sheet: where it belongs, what it does, and the keys or the mouse for it."""

    section: str
    name: str
    keys: str
    tooltip: str = ""


def shortcut_lines(infos: Iterable[ActionInfo]) -> list[ShortcutLine]:
    """A line for each action that has keys."""
    return [
        ShortcutLine(
            info.place or info.menu[0].replace("&", ""),
            " › ".join(part.replace("&", "") for part in (*info.menu[1:], info.text)).rstrip("…"),
            QKeySequence(info.shortcut).toString(QKeySequence.SequenceFormat.NativeText),
            info.tooltip,
        )
        for info in map(translated, infos)
        if info.shortcut
    ]


def open_shortcuts(parent: QWidget, lines: Iterable[ShortcutLine]) -> QDialog:
    """The sheet, by menu or panel."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(translate("Dialogs", "Keyboard shortcuts"))
    sections: dict[str, list[ShortcutLine]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(line)
    body = QWidget()
    columns = QHBoxLayout(body)
    columns.setContentsMargins(0, 0, 0, 0)
    columns.setSpacing(40)
    for titles in _columns(sections):
        grid = _new_column(columns)
        for title in titles:
            _add_section(grid, title, sections[title])
    layout = QVBoxLayout(dialog)
    layout.addWidget(_scrolled(body, parent.screen().availableSize()), 1)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    layout.addWidget(buttons)
    return open_dialog(dialog)


def _scrolled(body: QWidget, screen: QSize) -> QScrollArea:
    """As wide as its body, and as high where the screen has the room."""
    area = QScrollArea()
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(body)
    area.setAccessibleName(translate("Dialogs", "Keyboard shortcuts"))
    wanted, most = body.sizeHint(), round(_SHARE_OF_SCREEN * screen.height())
    bar = area.verticalScrollBar().sizeHint().width() if wanted.height() > most else 0
    area.setMinimumSize(wanted.width() + bar, min(wanted.height(), most))
    return area


def _columns(sections: Mapping[str, Sequence[ShortcutLine]]) -> list[list[str]]:
    """The sections in three columns, in their order, so that the tallest is as low as can be."""
    titles = list(sections)
    ends = range(len(titles) + 1)
    cuts = ((one, other) for one in ends for other in ends if one <= other)
    parts = ([titles[:one], titles[one:other], titles[other:]] for one, other in cuts)
    best = min(parts, key=lambda columns: max(_height(sections, column) for column in columns))
    return [column for column in best if column]


def _height(sections: Mapping[str, Sequence[ShortcutLine]], titles: Iterable[str]) -> int:
    """Rows of a column; a heading takes the room of two."""
    return sum(len(sections[title]) + 2 for title in titles)


def _new_column(columns: QHBoxLayout) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(4)
    host = QVBoxLayout()
    host.addLayout(grid)
    host.addStretch(1)
    columns.addLayout(host)
    return grid


def _add_section(grid: QGridLayout, title: str, lines: Iterable[ShortcutLine]) -> None:
    heading = Label(title)
    font = QFont(heading.font())
    font.setBold(True)
    heading.setFont(font)
    heading.setContentsMargins(0, 8 if grid.count() else 0, 0, 0)
    grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
    for line in lines:
        row = grid.rowCount()
        name = Label(line.name)
        name.setToolTip(paragraphs(line.tooltip))
        grid.addWidget(name, row, 0)
        grid.addWidget(Label(line.keys), row, 1, Qt.AlignmentFlag.AlignRight)


def _buttons(dialog: QDialog) -> QDialogButtonBox:
    kinds = QDialogButtonBox.StandardButton
    buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return translate("Dialogs", "(version unknown)")
