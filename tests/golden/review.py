"""Review and approve golden images.

python -m tests.golden.review            paints all scenes and writes build/golden/index.html
python -m tests.golden.review --approve  takes the reviewed pictures over
"""

from __future__ import annotations

import argparse
import html
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.golden.comparison import (
    TOLERATED_LEVEL,
    TOLERATED_SHARE,
    Difference,
    compare,
    difference_picture,
    read,
    write,
)
from tests.golden.render import ROOT, RenderError, render_everything

EXPECTED = Path(__file__).with_name("expected")
REVIEW = ROOT / "build" / "golden"
SCALES = (1.0, 1.5, 2.0)

_STYLE = """
body { font: 14px sans-serif; margin: 24px; background: #777; color: #fff }
h2 { margin: 32px 0 8px; font-size: 16px } figure { margin: 0; flex: 1 1 0; min-width: 0 }
div { display: flex; gap: 8px } img { width: 100%; height: auto; background: #555; display: block }
a { color: inherit } figcaption { margin-top: 4px }
"""


class Verdict(StrEnum):
    """Result for a picture, the most important first."""

    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"
    SAME = "same"


@dataclass(frozen=True)
class Finding:
    """One picture of the review. `difference` is None if there are not two pictures to compare."""

    name: str
    verdict: Verdict
    difference: Difference | None = None


def find(expected: Path, actual: Path) -> list[Finding]:
    """Compare two folders of pictures; those that need review come first."""
    names = {path.name for folder in (expected, actual) for path in folder.glob("*.png")}
    found = [_finding(name, expected / name, actual / name) for name in names]
    return sorted(found, key=lambda each: (list(Verdict).index(each.verdict), each.name))


def _finding(name: str, expected: Path, actual: Path) -> Finding:
    if not expected.exists():
        return Finding(name, Verdict.NEW)
    if not actual.exists():
        return Finding(name, Verdict.GONE)
    difference = compare(read(expected), read(actual))
    return Finding(name, Verdict.SAME if difference.is_tolerated else Verdict.CHANGED, difference)


def write_page(folder: Path, expected: Path = EXPECTED) -> list[Finding]:
    """Write index.html over the pictures in folder/actual. The folder contains all that the page shows."""
    actual = folder / "actual"
    for name in ("expected", "difference"):
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(expected, folder / "expected")
    (folder / "difference").mkdir()
    found = find(expected, actual)
    for finding in found:
        if finding.difference is not None and finding.difference.largest > 0:
            pair = read(expected / finding.name), read(actual / finding.name)
            write(folder / "difference" / finding.name, difference_picture(*pair))
    (folder / "index.html").write_text(_page(folder, found), encoding="utf-8")
    return found


def _page(folder: Path, found: list[Finding]) -> str:
    counts = ", ".join(f"{sum(each.verdict is kind for each in found)} {kind}" for kind in Verdict)
    rule = f"A picture is the same if at most {100 * TOLERATED_SHARE:g} % of its pixels differ by more than "
    rule += f"{TOLERATED_LEVEL} of 255 in a channel. Those are magenta, smaller differences yellow."
    sections = "\n".join(_section(folder, finding) for finding in found)
    return (
        f'<!doctype html>\n<meta charset="utf-8">\n<title>Golden images: {counts}</title>\n<style>{_STYLE}</style>\n'
        f"<h1>{counts}</h1>\n<p>{rule} To take the new ones over: <code>make golden-approve</code></p>\n{sections}\n"
    )


def _section(folder: Path, finding: Finding) -> str:
    name = html.escape(finding.name)
    size = "" if finding.difference is None else f": {finding.difference}"
    figures = "".join(
        f'<figure><a href="{part}/{name}"><img src="{part}/{name}" alt="" loading="lazy"></a>'
        f"<figcaption>{part}</figcaption></figure>"
        for part in ("expected", "actual", "difference")
        if (folder / part / finding.name).exists()
    )
    return f"<h2>{name} – {finding.verdict}{size}</h2><div>{figures}</div>"


def approve(folder: Path, expected: Path = EXPECTED) -> list[Finding]:
    """Accept the newest review: changed and new pictures are copied, those without a scene deleted.

    Pictures that are the same within the tolerance stay unchanged, to keep noise out of the history. Raises
    FileNotFoundError if nothing was reviewed.
    """
    actual = folder / "actual"
    if not (folder / "index.html").exists():
        raise FileNotFoundError("Nothing was reviewed yet. Run make golden-review, look at its page, then approve.")
    taken = [finding for finding in find(expected, actual) if finding.verdict is not Verdict.SAME]
    expected.mkdir(exist_ok=True)
    for finding in taken:
        if finding.verdict is Verdict.GONE:
            (expected / finding.name).unlink()
        else:
            shutil.copyfile(actual / finding.name, expected / finding.name)
    return taken


def review(folder: Path = REVIEW) -> list[Finding]:
    """Paint all scenes and write the page. Raises RenderError."""
    shutil.rmtree(folder, ignore_errors=True)
    render_everything(folder / "actual", SCALES)
    EXPECTED.mkdir(exist_ok=True)
    return write_page(folder)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--approve", action="store_true", help="take the reviewed pictures over")
    chosen = parser.parse_args()
    try:
        found = approve(REVIEW) if chosen.approve else review()
    except (RenderError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for finding in found:
        if finding.verdict is not Verdict.SAME:
            print(f"{finding.verdict}: {finding.name}" + (f" ({finding.difference})" if finding.difference else ""))
    if chosen.approve:
        print(f"{len(found)} taken over. Commit {EXPECTED.relative_to(ROOT)}.")
    else:
        print(f"{len(found)} pictures. Look at {(REVIEW / 'index.html').relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
