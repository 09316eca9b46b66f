"""`evaluate` without --json: the table on stdout, the page of --report, and errors before the run."""

from __future__ import annotations

from pathlib import Path

import pytest

import resources
from tests.support import commands

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"


def test_evaluate_prints_a_table_and_writes_the_page(tmp_path: Path) -> None:
    report = tmp_path / "out.html"
    commands.configure(tmp_path)
    candles = tmp_path / "[bold]<b>&.csv"
    candles.write_bytes(SAMPLE.read_bytes())
    done = commands.invoke(
        "evaluate", str(candles), "--candles", "40", "--report", str(report), "--data-dir", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert "[bold]<b>&.csv: 40 candles" in done.stdout and "What the model adds" in done.stdout
    assert "not enough candles" in done.stdout and "None" not in done.stdout
    plain = tmp_path / "plain"
    plain.touch()
    assert report.stat().st_mode == plain.stat().st_mode, "others may read it as any other file"
    text = report.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "[bold]&lt;b&gt;&amp;.csv: 40 candles" in text and "<svg" in text


@pytest.mark.parametrize(
    ("report", "words"), [("none/out.html", "no folder"), (".", "is a folder"), ("out.csv", "ends in .html")]
)
def test_an_unwritable_report_is_refused_before_the_run(tmp_path: Path, report: str, words: str) -> None:
    options = ("--report", str(tmp_path / report), "--candles", "3", "--data-dir", str(commands.configure(tmp_path)))
    done = commands.invoke("evaluate", str(SAMPLE), *options)
    assert done.returncode == 2 and words in done.stderr.replace("\n", " ") and "Traceback" not in done.stderr


def test_the_candles_are_not_overwritten(tmp_path: Path) -> None:
    candles = tmp_path / "candles.html"
    candles.write_bytes(SAMPLE.read_bytes())
    (other := tmp_path / "other.html").hardlink_to(candles)
    options = ("--report", str(other), "--candles", "3", "--data-dir", str(commands.configure(tmp_path)))
    done = commands.invoke("evaluate", str(candles), *options)
    assert done.returncode == 2 and "candle file itself" in done.stderr.replace("\n", " ")
    assert candles.read_bytes() == SAMPLE.read_bytes()
