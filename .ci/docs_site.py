"""Gather the pages of the website in build/docs-site-pages: docs/, the pages beside it, and a reference of the modules
that others may build on. `make docs-site` then lets mkdocs build build/docs-site from them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "docs-site-pages"
BESIDE = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
REFERENCE = {
    "run-data": ("A run's data in Python", ("core.run_data.reader",)),
    "models": ("The contract of models", ("models.contract", "models.shape", "models.head")),
    "events": ("Events", ("core.domain.events",)),
    "commands": ("Commands to the trainer", ("core.training.commands",)),
    "chart": ("Layers of the chart", ("desktop.chart.panes.layer", "desktop.chart.panes.item")),
}
"""Page: its title and its modules."""


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    for name in BESIDE:
        shutil.copy(ROOT / name, PAGES / name)
    for page in PAGES.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_links_of_the_site(text, is_beside=page.name in BESIDE), encoding="utf-8")
    (PAGES / "reference").mkdir()
    for name, (title, modules) in REFERENCE.items():
        members = "\n\n".join(f"::: {module}" for module in modules)
        (PAGES / "reference" / f"{name}.md").write_text(f"# {title}\n\n{members}\n", encoding="utf-8")


def with_links_of_the_site(text: str, *, is_beside: bool) -> str:
    """There docs/ and the pages beside it are one folder. Links to source files name their place in plain text."""
    if not is_beside:
        return re.sub(r"\]\(\.\./([A-Z]+\.md)", r"](\1", text)
    text = re.sub(r"\]\(docs/(?=[^)]*\))", "](", text).replace("](./", "](").replace("]()", "](index.md)")
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#|[\w/-]+\.(?:md|png|webp|svg|py))[^)]*\)", r"\1", text)


if __name__ == "__main__":
    main()
