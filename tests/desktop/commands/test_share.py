"""`share`: a run's page from the data folder, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import resources
from tests.core.evaluation.report.recorded_run import recorded
from tests.core.evaluation.report.tree import require_self_contained
from tests.support import commands

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a headless run of 40 candles; the tests only read it."""
    folder = commands.configure(tmp_path_factory.mktemp("data"))
    commands.invoke_json("headless", "--file", str(SAMPLE), "--candles", "40", "--data-dir", str(folder))
    return folder


def test_the_page_of_the_newest_run_is_written_once(data: Path, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    summary = commands.invoke_json("share", str(page), "--data-dir", str(data))
    assert summary["file"] == str(page) and "sample_eurusd_1h" in summary["market"]
    text = page.read_text(encoding="utf-8")
    tree = require_self_contained(text)
    assert summary["run_id"] in tree.text and "40 candles, 39 scored" in tree.text and "svg" in tree.tags
    assert str(data) not in text
    again = commands.invoke("share", str(page), "--data-dir", str(data))
    assert again.returncode == 2 and "--overwrite" in again.stderr
    named = ("--overwrite", "--run", summary["run_id"])
    assert commands.invoke("share", str(page), *named, "--data-dir", str(data)).returncode == 0
    assert page.read_text(encoding="utf-8") == text


def test_the_home_folder_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, page = commands.configure(tmp_path / "data"), tmp_path / "run.html"
    recorded(folder)  # with an incident that names this home
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, "/home/alice")
    commands.invoke_json("share", str(page), "--data-dir", str(folder))
    text = page.read_text(encoding="utf-8")
    assert "data/x was not written" in text and "alice" not in text


def test_short_paths_take_no_letters_from_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder "A" made an "H…R" of "HAR"; the home of a container can be "/"."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, tmp_path.anchor)
    recorded(commands.configure(tmp_path / "A"))
    done = commands.invoke("share", "run.html", "--data-dir", "A")
    assert done.returncode == 0 and "#" not in done.stdout
    text = Path("run.html").read_text(encoding="utf-8")
    assert "HAR" in text and "…" not in text


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("run.txt", (), "ends in .html"),
        ("missing/run.html", (), "no folder"),
        ("run.html", ("--run", "unknown"), "no run 'unknown'"),
    ],
)
def test_what_it_refuses(data: Path, tmp_path: Path, target: str, options: tuple[str, ...], words: str) -> None:
    done = commands.invoke("share", str(tmp_path / target), *options, "--data-dir", str(data))
    assert done.returncode != 0 and words in done.stderr.replace("\n", " ") and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
