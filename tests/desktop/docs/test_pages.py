"""Links, paths and pictures of the docs exist, pictures are made by a program, and each panel has a section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImageReader

from tests.desktop.conftest import MakeBench
from tests.support.docs import DOCS
from tests.support.picture_names import FILMED, MADE, MOVING, OF_A_BROWSER

ROOT = DOCS.parent
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
_LINK = re.compile(r"!?\[(?:[^\]]|\]\s*(?=\())*?\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]*`")
_PATH = re.compile(r"`((?:core|desktop|models|tests|docs|resources|\.ci)/[\w/.-]+)`")
_PICTURES = (".png", ".webp")
MADE_LATER = {"models/transformer/", "models/transformer/pretrained", "resources/translations/ghostcandle_de.ts"}
"""In the data folder, or made by a command of the page."""
MOST_PICTURES = 4
"""In the README, beside the moving ones."""


def links(page: Path) -> Iterator[str]:
    yield from _LINK.findall(_INLINE.sub("", _CODE.sub("", page.read_text(encoding="utf-8"))))


def anchors(page: Path) -> set[str]:
    """As GitHub derives them from headings."""
    headings = re.findall(r"^#+ (.+)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_have_targets(page: Path) -> None:
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


def test_the_index_links_every_page() -> None:
    named = [link.partition("#")[0] for link in links(DOCS / "index.md")]
    linked = set(named)
    assert len(named) == len(linked), "each once"
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - linked == {"index.md"}


def test_pictures_of_the_docs_are_made_by_a_program() -> None:
    shown = {Path(link).name for page in PAGES for link in links(page) if link.endswith(_PICTURES)}
    taken = OF_A_BROWSER | {FILMED}
    assert shown - MADE == taken
    assert {path.name for path in (DOCS / "pictures").iterdir()} == MADE | taken


def test_every_panel_has_a_section_with_a_picture(make_bench: MakeBench) -> None:
    parts = (DOCS / "panels.md").read_text(encoding="utf-8").split("\n## ")
    sections = {part.partition("\n")[0]: part for part in parts}
    for dock in make_bench().window.docks.values():
        assert "](pictures/" in sections[dock.windowTitle()], dock.windowTitle()


def test_the_readme_has_two_moving_pictures_and_few_others(qapp: object) -> None:
    shown = [link for link in links(ROOT / "README.md") if link.endswith(_PICTURES)]
    moving = [link for link in shown if QImageReader(str(ROOT / link)).supportsAnimation()]
    assert [Path(link).name for link in moving] == [MOVING, FILMED]
    assert all(QImageReader(str(ROOT / link)).imageCount() > 5 for link in moving)
    assert len(shown) <= len(moving) + MOST_PICTURES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_of_the_repository_exist(page: Path) -> None:
    named = set(_PATH.findall(page.read_text(encoding="utf-8"))) if page.name != "CHANGELOG.md" else set()
    assert {name for name in named if not (ROOT / name).exists()} <= MADE_LATER
