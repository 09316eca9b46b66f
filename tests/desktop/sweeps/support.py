"""A Sweeps page over made-up sweeps, and its parts by what a user does with them."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from desktop.sweeps.page import SweepsPage
from desktop.ui.theme import Theme


def shown_page(qtbot: QtBot, theme: Theme, root: Path, cells: int) -> SweepsPage:
    """The page, once it shows so many cells."""
    page = SweepsPage(root, theme)
    qtbot.addWidget(page, before_close_func=lambda widget: widget.finish())
    page.resize(1280, 700)
    page.show()
    qtbot.waitUntil(lambda: page.table.rows_model.rowCount() == cells, timeout=20_000)
    return page


def numbers(page: SweepsPage) -> list[int]:
    return [cell.number for cell in page.table.rows_model.rows]


def click_title(page: SweepsPage, title: str) -> None:
    header = page.table.horizontalHeader()
    titles = [column.title for column in page.table.rows_model.columns]
    header.sectionClicked.emit(titles.index(title))
