"""Help shows the pages that ship with the program, offline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.dialogs.documentation import DocumentationDialog, pages_of
from desktop.ui.interface_size import set_font
from desktop.ui.resources import docs_folder
from tests.desktop.conftest import MakeBench
from tests.support.commands import ROOT

BESIDE = ("ARCHITECTURE.md", "CONTRIBUTING.md")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.fixture
def dialog(qtbot: QtBot) -> DocumentationDialog:
    folder = docs_folder()
    assert folder is not None
    dialog = DocumentationDialog(folder)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_help_opens_the_index_beside_the_window(make_bench: MakeBench, qtbot: QtBot) -> None:
    window = make_bench().window
    window.shell.actions[ActionId.DOCUMENTATION].trigger()
    (dialog,) = window.findChildren(DocumentationDialog)
    qtbot.waitUntil(dialog.isVisible)
    assert not dialog.isModal() and dialog.page is not None and dialog.page.name == "index.md"
    assert "Regimes and possible futures" in dialog.browser.toPlainText()


def test_each_page_is_shown_with_its_tables_and_without_markup(dialog: DocumentationDialog) -> None:
    assert dialog.pages.count() == len(list((ROOT / "docs").rglob("*.md"))) > 20
    for row in range(dialog.pages.count()):
        dialog.pages.setCurrentRow(row)
        shown = dialog.browser.toPlainText()
        assert len(shown) > 300 and not shown.startswith("#") and "](" not in shown
        assert dialog.page == dialog.pages.currentItem().data(Qt.ItemDataRole.UserRole)


def test_a_link_leads_to_its_page_and_the_list_follows(dialog: DocumentationDialog) -> None:
    dialog.browser.setSource(dialog.browser.source().resolved(QUrl("forecasts.md")))
    assert dialog.pages.currentItem().text() == "Forecasts"
    dialog.browser.backward()
    assert dialog.pages.currentItem().text() == "Ghostcandle's documentation"


def first_line(dialog: DocumentationDialog) -> str:
    """The heading at the upper edge of the page, where the cursor is."""
    assert abs(dialog.browser.cursorRect().top()) < 10
    return dialog.browser.textCursor().block().text()


def test_a_link_to_a_heading_shows_it_at_the_top(dialog: DocumentationDialog) -> None:
    dialog.browser.setSource(dialog.browser.source().resolved(QUrl("forecasts.md#the-combination")))
    assert first_line(dialog) == "The combination"
    dialog.browser.setSource(dialog.browser.source().resolved(QUrl("#the-model")))
    assert first_line(dialog) == "The model"


def test_a_search_jumps_to_the_words_and_return_to_the_next_place(qtbot: QtBot, dialog: DocumentationDialog) -> None:
    dialog.browser.open(ROOT / "docs" / "training.md")
    qtbot.keyClicks(dialog.search, "Reference Model")
    cursor = dialog.browser.textCursor()
    assert dialog.page is not None and dialog.page.name == "training.md"
    assert cursor.selectedText().casefold() == "reference model"
    assert dialog.browser.viewport().rect().contains(dialog.browser.cursorRect())
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible() and dialog.browser.textCursor().selectionStart() > cursor.selectionStart()
    dialog.search.setText("ghosts scored")
    assert dialog.browser.textCursor().selectedText().casefold() in ("ghosts scored", "ghosts", "scored")


def test_an_open_dialog_shows_the_next_page_too(make_bench: MakeBench) -> None:
    window = make_bench().window
    window.shell.actions[ActionId.DOCUMENTATION].trigger()
    window.panels.accuracy.links.chosen.emit("skill")
    (dialog,) = window.findChildren(DocumentationDialog)
    assert dialog.page is not None and dialog.page.name == "glossary.md" and first_line(dialog) == "Skill"


def test_pictures_are_as_wide_as_the_page_at_most(dialog: DocumentationDialog) -> None:
    dialog.browser.open(ROOT / "docs" / "chart.md")
    kind = QTextDocument.ResourceType.ImageResource.value
    image = dialog.browser.loadResource(kind, QUrl("pictures/chart-tools-dark.png"))
    assert 100 < image.width() < dialog.browser.viewport().width()  # type: ignore[attr-defined]


def test_the_search_finds_pages_by_their_words(qtbot: QtBot, dialog: DocumentationDialog) -> None:
    qtbot.keyClicks(dialog.search, "sabotage")
    assert 0 < dialog.pages.count() < 6
    qtbot.keyClicks(dialog.search, " zzzz")
    assert dialog.pages.count() == 0 and dialog.none.isVisible()


def test_a_search_shows_a_page_with_its_words(qtbot: QtBot, dialog: DocumentationDialog) -> None:
    """Regression: the former page stayed, which has none of them."""
    dialog.search.setText("checkpoint")
    assert dialog.pages.currentRow() == 0 and dialog.pages.count() > 1
    assert dialog.page == dialog.pages.item(0).data(Qt.ItemDataRole.UserRole)
    assert "checkpoint" in dialog.browser.toPlainText().casefold()
    dialog.pages.setCurrentRow(1)
    chosen = dialog.page
    dialog.search.clear()
    dialog.search.setText("checkpoint")
    assert dialog.page == chosen and dialog.pages.currentRow() == 1, "a page that has the words stays"
    qtbot.keyClicks(dialog.search, "zzzz")
    assert dialog.page == chosen


def test_the_page_with_the_title_comes_first(qtbot: QtBot, dialog: DocumentationDialog) -> None:
    """Regression: a search for the glossary stayed on a page that names it."""
    qtbot.keyClicks(dialog.search, "glossary")
    assert dialog.page is not None and dialog.page.name == "glossary.md" and dialog.pages.currentRow() == 0
    dialog.pages.setCurrentRow(1)
    assert dialog.page.name != "glossary.md", "another one can be chosen"
    dialog.search.setText("settings")
    assert dialog.page.name == "settings.md"
    dialog.browser.open(ROOT / "docs" / "index.md")
    dialog.search.setText("sample paths")
    assert dialog.page.name != "index.md", "which only names the page that is about them"


def test_all_places_of_the_words_are_marked(qtbot: QtBot, dialog: DocumentationDialog) -> None:
    qtbot.keyClicks(dialog.search, "ghost")
    marks = dialog.browser.extraSelections()
    text = dialog.browser.toPlainText().casefold()
    assert len(marks) == text.count("ghost") > 2
    assert {mark.cursor.selectedText().casefold() for mark in marks} == {"ghost"}  # type: ignore[attr-defined]
    dialog.search.clear()
    assert not dialog.browser.extraSelections()


def test_linked_files_ship_with_the_pages() -> None:
    """In the bundle and in the wheel are docs/, its pictures, and the pages beside it."""
    for page in pages_of(ROOT / "docs"):
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            inside = target.is_relative_to(ROOT / "docs") or target.name in BESIDE
            assert target.exists() and (inside or not link.endswith((".md", ".png", ".svg"))), f"{page.name}: {link}"
    spec = (ROOT / "build.spec").read_text(encoding="utf-8")
    assert '(str(ROOT / "docs"), "docs")' in spec and all(name in spec for name in BESIDE)


def test_missing_documentation_is_a_message(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("resources.__file__", str(tmp_path / "resources" / "__init__.py"))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    window = make_bench().window
    window.shell.actions[ActionId.DOCUMENTATION].trigger()
    assert "was not installed" in window.banner.text.text()


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_no_title_of_a_page_is_cut(qtbot: QtBot, qapp: QApplication, percent: int) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    folder = docs_folder()
    assert folder is not None
    dialog = DocumentationDialog(folder)
    qtbot.addWidget(dialog)
    dialog.show()
    qapp.processEvents()
    assert dialog.pages.viewport().width() >= dialog.pages.sizeHintForColumn(0) > 0
