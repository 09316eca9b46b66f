"""Approval accepts exactly the reviewed pictures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.golden.comparison import Pixels, compare, read, write
from tests.golden.review import Verdict, approve, find, write_page


def plain(level: int) -> Pixels:
    return np.full((40, 60, 3), level, dtype=np.uint8)


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    folder = tmp_path / "approved"
    folder.mkdir()
    for name, level in (("same", 10), ("changed", 20), ("gone", 30), ("nearly", 40)):
        write(folder / f"{name}@1x.png", plain(level))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "review"
    (folder / "actual").mkdir(parents=True)
    for name, level in (("same", 10), ("changed", 90), ("new", 50), ("nearly", 43)):
        write(folder / "actual" / f"{name}@1x.png", plain(level))
    return folder


def test_each_picture_gets_a_verdict_and_changed_ones_come_first(expected: Path, folder: Path) -> None:
    found = find(expected, folder / "actual")
    assert [(each.name.removesuffix("@1x.png"), each.verdict) for each in found] == [
        ("changed", Verdict.CHANGED),
        ("new", Verdict.NEW),
        ("gone", Verdict.GONE),
        ("nearly", Verdict.SAME),
        ("same", Verdict.SAME),
    ]


def test_the_page_shows_only_files_beside_it(expected: Path, folder: Path) -> None:
    write_page(folder, expected)
    page = (folder / "index.html").read_text(encoding="utf-8")
    shown = re.findall(r'src="([^"]+)"', page)
    assert all((folder / each).is_file() for each in shown)
    assert [each for each in shown if "changed" in each] == [
        f"{part}/changed@1x.png" for part in ("expected", "actual", "difference")
    ]
    assert "1 changed, 1 new, 1 gone, 2 same" in page


def test_approving_accepts_exactly_the_shown_pictures(expected: Path, folder: Path) -> None:
    write_page(folder, expected)
    taken = approve(folder, expected)
    assert [each.verdict for each in taken] == [Verdict.CHANGED, Verdict.NEW, Verdict.GONE]
    assert {path.name for path in expected.iterdir()} == {
        f"{name}@1x.png" for name in ("same", "changed", "new", "nearly")
    }
    assert compare(read(expected / "changed@1x.png"), plain(90)).largest == 0
    assert compare(read(expected / "nearly@1x.png"), plain(40)).largest == 0, "noise is not taken over"
    assert approve(folder, expected) == []


def test_an_unseen_picture_is_not_approved(expected: Path, folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make golden-review"):
        approve(folder, expected)
