"""The pages of docs/ in a separate window: they ship with the program, and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QUrl
from PySide6.QtGui import QImage, QPalette, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QStyle,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from core.domain.events import Severity
from desktop.ui.banner import Banner
from desktop.ui.dialog_parts import keep_on_screen
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import Label
from desktop.ui.resources import docs_folder
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.translation import translate

INDEX = "index.md"
_SIZE = (1000, 720)
_PAGES_WIDTH = 280
_MARGIN_PX = 24
_MARK_ALPHA, _MOST_MARKS = 70, 500
_PAGE_ROLE = Qt.ItemDataRole.UserRole


class PageBrowser(QTextBrowser):
    """Shows one page; its links lead to the others, those to the web to the desktop's browser."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate("Dialogs", "Page"))
        self.setOpenExternalLinks(True)

    def open(self, page: Path, anchor: str = "") -> None:
        """Show a page from its beginning, or from the heading with this anchor."""
        url = QUrl.fromLocalFile(str(page))
        if anchor:
            url.setFragment(anchor)
        self.setSource(url, QTextDocument.ResourceType.MarkdownResource)

    def doSetSource(
        self,
        name: QUrl | str,
        type: QTextDocument.ResourceType = QTextDocument.ResourceType.UnknownResource,  # Qt's name
    ) -> None:
        """Headings that were read from Markdown have no anchors in Qt, so links to them are followed here."""
        super().doSetSource(name, type)
        anchor = QUrl(name).fragment()
        heading = next((block for block in self._blocks() if anchor and anchor_of(block) == anchor), None)
        if heading is not None:
            self._show_at_top(heading)

    def show_words(self, words: Sequence[str]) -> None:
        """Select the next occurrence of the whole phrase, or else of the first of its words that is found. After the
        last place the search continues from the beginning."""
        for text in (" ".join(words), *words):
            if self.find(text):
                return
            self.moveCursor(QTextCursor.MoveOperation.Start)
            if self.find(text):
                return

    def mark(self, words: Sequence[str]) -> None:
        """Mark every occurrence of these words, until the next ones."""
        marks: list[QTextEdit.ExtraSelection] = []
        colour = self.palette().color(QPalette.ColorGroup.Active, QPalette.ColorRole.Highlight)
        colour.setAlpha(_MARK_ALPHA)
        for word in filter(None, words):
            found = self.document().find(word)
            while not found.isNull() and len(marks) < _MOST_MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = found  # type: ignore[attr-defined]  # missing from the types of PySide
                mark.format.setBackground(colour)  # type: ignore[attr-defined]
                marks.append(mark)
                found = self.document().find(word, found)
        self.setExtraSelections(marks)

    def _blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid():
            yield block
            block = block.next()

    def _show_at_top(self, block: QTextBlock) -> None:
        self.moveCursor(QTextCursor.MoveOperation.End)  # else the heading would come to the lower edge
        self.setTextCursor(QTextCursor(block))
        self.ensureCursorVisible()
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect().top())

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Tab leaves the page rather than going through its links: the list has all their targets."""
        return QWidget.focusNextPrevChild(self, is_next)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """A picture is as wide as the page at most."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(self.source().resolved(QUrl(name)).toLocalFile())
        room = max(self.viewport().width() - 2 * _MARGIN_PX, 1)
        return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation) if image.width() > room else image


class DocumentationDialog(QDialog):
    """All pages at the left, with a search; the open page at the right."""

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Documentation"))
        self.search, self.pages, self.browser = QLineEdit(), QListWidget(), PageBrowser()
        self.none = Label(translate("Dialogs", "No page contains these words."), wraps=True)
        self.page: Path | None = None
        self._texts = {page: page.read_text(encoding="utf-8") for page in pages_of(folder)}
        split = QSplitter()
        self.search.setPlaceholderText(translate("Dialogs", "Search all pages"))
        self.search.setAccessibleName(translate("Dialogs", "Search all pages"))
        self.search.setClearButtonEnabled(True)
        self.pages.setAccessibleName(translate("Dialogs", "Pages"))
        self.none.hide()
        left = QWidget()
        stacked(left, self.search, self.none, self.pages, margins=NO_MARGINS)
        split.addWidget(left)
        split.addWidget(self.browser)
        split.setStretchFactor(1, 1)
        stacked(self, split)
        self.resize(*map(enlarged, _SIZE))
        keep_on_screen(self)
        self._offer(self._texts)
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        needed = self.pages.sizeHintForColumn(0) + bar + 2 * self.pages.frameWidth()
        width = max(_PAGES_WIDTH, needed)  # room for the titles, in any font and size
        split.setSizes([width, self.width() - width])
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(lambda: self.browser.show_words(self.search.text().split()))
        self.pages.currentItemChanged.connect(lambda item, _before: self._on_page(item))
        self.browser.sourceChanged.connect(self._on_source)
        self.browser.open(folder / INDEX)

    def _offer(self, pages: Iterable[Path]) -> None:
        with QSignalBlocker(self.pages):  # else each removed row makes another one current, and opens it
            self.pages.clear()
        for page in pages:
            item = QListWidgetItem(self._heading(page))
            item.setData(_PAGE_ROLE, page)
            self.pages.addItem(item)
        self.none.setVisible(not self.pages.count())
        self._mark()

    def _is_titled(self, page: Path, words: Sequence[str]) -> bool:
        """Whether these are the words of its heading: a part of it would lead away from the page while one types."""
        return set(self._heading(page).casefold().split()) - {"the"} == set(words) - {"the"} != set()

    def _heading(self, page: Path) -> str:
        return self._texts[page].partition("\n")[0].lstrip("# ").strip()

    def _on_search(self, typed: str) -> None:
        """The page with this title comes first, and is opened; else a page that has the words stays, but not the index,
        which is the last."""
        words = typed.casefold().split()
        found = [page for page, text in self._texts.items() if all(word in text.casefold() for word in words)]
        found.sort(key=lambda page: (not self._is_titled(page, words), bool(words) and page.name == INDEX))
        self._offer(found)
        is_elsewhere = self.page not in found or (bool(words) and self.page is not None and self.page.name == INDEX)
        if found and (is_elsewhere or self._is_titled(found[0], words)):
            self.browser.open(found[0])
        self.browser.mark(words)
        self.browser.moveCursor(QTextCursor.MoveOperation.Start)
        self.browser.show_words(words)

    def _on_page(self, item: QListWidgetItem | None) -> None:
        page = None if item is None else item.data(_PAGE_ROLE)
        if page is not None and page != self.page:
            self.browser.open(page)
            self.browser.show_words(self.search.text().split())

    def _on_source(self, source: QUrl) -> None:
        self.page = Path(source.toLocalFile())
        self.browser.mark(self.search.text().split())
        self._mark()

    def _mark(self) -> None:
        rows = range(self.pages.count())
        row = next((row for row in rows if self.pages.item(row).data(_PAGE_ROLE) == self.page), -1)
        with QSignalBlocker(self.pages):
            self.pages.setCurrentRow(row)


def anchor_of(block: QTextBlock) -> str:
    """The anchor of a heading, as GitHub derives it; "" for other blocks, which no link names."""
    text = block.text().lower() if block.blockFormat().headingLevel() else ""
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def pages_of(folder: Path) -> list[Path]:
    """The pages in the order of the index, which comes first."""
    index = (folder / INDEX).read_text(encoding="utf-8")
    found = sorted(folder.rglob("*.md"), key=lambda page: index.find(f"({page.relative_to(folder).as_posix()})"))
    return [page.resolve() for page in found]


def open_documentation(window: QWidget, banner: Banner, page: str = INDEX, anchor: str = "") -> None:
    """Show the pages that were installed with the program beside the window, which stays usable. A dialog that is open
    already shows the page instead of another one."""
    folder = docs_folder()
    if folder is None:
        text = translate("Window", "The documentation was not installed with the program.")
        banner.notify(text, Severity.WARNING, key="documentation", is_answer=True)
        return
    dialog = window.findChild(DocumentationDialog)
    if dialog is None:
        dialog = DocumentationDialog(folder, window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
    dialog.browser.open(folder / page, anchor)
