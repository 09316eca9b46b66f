"""The pages of docs/ in a separate window: they ship with the program, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QSplitter, QStyle, QTextBrowser, QWidget

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
_PAGE_ROLE = Qt.ItemDataRole.UserRole


class PageBrowser(QTextBrowser):
    """Shows one page; its links lead to the others, those to the web to the desktop's browser."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate("Dialogs", "Page"))
        self.setOpenExternalLinks(True)

    def open(self, page: Path) -> None:
        """Show a page from its beginning."""
        self.setSource(QUrl.fromLocalFile(str(page)), QTextDocument.ResourceType.MarkdownResource)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Tab leaves the page rather than going through its links: all that they lead to is in the list."""
        return QWidget.focusNextPrevChild(self, is_next)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """A picture is as wide as the page at most."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(self.source().resolved(QUrl(name)).toLocalFile())
        room = max(self.viewport().width() - 2 * _MARGIN_PX, 1)
        return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation) if image.width() > room else image


class DocumentationDialog(QDialog):
    """All pages at the left, found by their words; the one that is read at the right."""

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Documentation"))
        self.search, self.pages, self.browser = QLineEdit(), QListWidget(), PageBrowser()
        self.none = Label(translate("Dialogs", "No page contains these words."), wraps=True)
        self.page: Path | None = None
        """The one that is shown."""
        self._texts = {page: page.read_text(encoding="utf-8") for page in pages_of(folder)}
        self._split = QSplitter()
        self._build()
        self._offer(self._texts)
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        needed = self.pages.sizeHintForColumn(0) + bar + 2 * self.pages.frameWidth()
        width = max(_PAGES_WIDTH, needed)  # room for the titles, in any font and size
        self._split.setSizes([width, self.width() - width])
        self.search.textChanged.connect(self._on_search)
        self.pages.currentItemChanged.connect(lambda item, _before: self._on_page(item))
        self.browser.sourceChanged.connect(self._on_source)
        self.browser.open(folder / INDEX)

    def _build(self) -> None:
        self.search.setPlaceholderText(translate("Dialogs", "Search all pages"))
        self.search.setAccessibleName(translate("Dialogs", "Search all pages"))
        self.search.setClearButtonEnabled(True)
        self.pages.setAccessibleName(translate("Dialogs", "Pages"))
        self.none.hide()
        left = QWidget()
        stacked(left, self.search, self.none, self.pages, margins=NO_MARGINS)
        self._split.addWidget(left)
        self._split.addWidget(self.browser)
        self._split.setStretchFactor(1, 1)
        stacked(self, self._split)
        self.resize(*map(enlarged, _SIZE))
        keep_on_screen(self)

    def _offer(self, pages: Iterable[Path]) -> None:
        with QSignalBlocker(self.pages):  # else each removed row makes another one current, and opens it
            self.pages.clear()
        for page in pages:
            heading = self._texts[page].partition("\n")[0]
            item = QListWidgetItem(heading.lstrip("# ").strip())
            item.setData(_PAGE_ROLE, page)
            self.pages.addItem(item)
        self.none.setVisible(not self.pages.count())
        self._mark()

    def _on_search(self, typed: str) -> None:
        words = typed.casefold().split()
        found = [page for page, text in self._texts.items() if all(word in text.casefold() for word in words)]
        self._offer(found)
        if found and self.page not in found:
            self.browser.open(found[0])

    def _on_page(self, item: QListWidgetItem | None) -> None:
        page = None if item is None else item.data(_PAGE_ROLE)
        if page is not None and page != self.page:
            self.browser.open(page)

    def _on_source(self, source: QUrl) -> None:
        self.page = Path(source.toLocalFile())
        self._mark()

    def _mark(self) -> None:
        """The list follows where a link led."""
        rows = range(self.pages.count())
        row = next((row for row in rows if self.pages.item(row).data(_PAGE_ROLE) == self.page), -1)
        with QSignalBlocker(self.pages):
            self.pages.setCurrentRow(row)


def pages_of(folder: Path) -> list[Path]:
    """The index first, the others by their titles."""
    found = sorted(folder.glob("*.md"), key=lambda page: (page.name != INDEX, page.name))
    return [page.resolve() for page in found]


def open_documentation(window: QWidget, banner: Banner) -> None:
    """Show the pages that were installed with the program beside the window, which stays usable."""
    folder = docs_folder()
    if folder is None:
        words = translate("Window", "The documentation was not installed with the program.")
        banner.notify(words, Severity.WARNING, key="documentation", is_answer=True)
        return
    dialog = DocumentationDialog(folder, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
