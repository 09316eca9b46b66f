"""`ghostcandle evaluate FILE... --together`."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from core.evaluation.report import figures
from desktop.commands import evaluate_together
from tests.desktop.commands.walk_files import COUNT, write
from tests.support import commands
from tests.support.candles import HOUR


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(write(tmp_path / f"{name}.csv", seed)) for seed, name in enumerate(("alpha", "beta", "gamma"))]


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(commands.configure(tmp_path / "data"))


def test_each_file_and_all_of_them_are_judged_in_whatever_order_they_are_given(files: list[str], data: str) -> None:
    found = commands.invoke_json("evaluate", *files, "--together", "--data-dir", data)
    assert list(found) == ["alpha.csv", "beta.csv", "gamma.csv", "pooled"]
    assert {each["candles"] for name, each in found.items() if name != "pooled"} == {COUNT}
    assert found["pooled"]["candles"] == 3 * COUNT and found["pooled"]["markets"] == 3
    assert found["pooled"]["judged"] == sum(found[name]["judged"] for name in found if name != "pooled")
    assert found["pooled"]["steps"] == COUNT - 1
    assert found["pooled"]["wall_s"] > 0.0 and found["pooled"]["notices"] == []
    of_model = ("steps", "loss", "checkpoints", "steps_per_s", "wall_s", "notices")
    assert all(found[name][key] == found["pooled"][key] for name in found for key in of_model)
    turned = commands.invoke_json("evaluate", *reversed(files), "--together", "--data-dir", data)
    assert turned["pooled"]["forecasts_sha256"] == found["pooled"]["forecasts_sha256"]
    assert turned["beta.csv"]["forecasts_sha256"] == found["beta.csv"]["forecasts_sha256"]


def test_one_file_together_has_all_that_it_has_alone(files: list[str], data: str) -> None:
    options = ("--trade-cost", "7", "--data-dir", data)
    alone = commands.invoke_json("evaluate", files[0], *options)
    together = commands.invoke_json("evaluate", files[0], "--together", *options)["alpha.csv"]
    assert together["paper"]["cost_bp"] == alone["paper"]["cost_bp"] == pytest.approx(7.0)
    assert together["forecasts_sha256"] == alone["forecasts_sha256"]
    assert together["pinball"] == alone["pinball"]
    for found in (alone, together):
        assert found["steps_per_s"] == pytest.approx(found["steps"] / found["wall_s"], abs=1e-3)
    assert set(alone) <= set(together)


def test_the_table_has_a_row_for_each_file_and_one_for_all(files: list[str], data: str) -> None:
    shown = commands.invoke("evaluate", *files, "--together", "--candles", "20", "--data-dir", data)
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("3 files, one model: 60 candles")
    assert lines[1].startswith("seed 3, ") and lines[1].endswith(" candles/s with training on")
    assert "fewer than 300 candles count." in " ".join(shown.stdout.split()) and "Skill:" not in shown.stdout
    assert [sum(line.startswith(name) for line in lines) for name in ("alpha.csv", "gamma.csv", "All files")] == [
        4,
        4,
        3,
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="nobody sends SIGTERM there")
def test_stopped_while_it_judges_it_leaves_nothing_behind(
    files: list[str], data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    def terminate(*_given: object) -> None:
        assert list(place.glob("ghostcandle-*"))
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(evaluate_together, "evaluate_run", terminate)
    done = commands.invoke("evaluate", *files, "--together", "--json", "--data-dir", data)
    assert done.returncode == 130 and "nothing was judged" in done.stdout
    assert list(place.glob("ghostcandle-*")) == []


def test_an_interval_above_0_of_few_candles_proves_nothing() -> None:
    few = {"pinball": {name: {"n": 59, "gain": 0.04, "gain_ci95": [0.01, 0.07]} for name in ("close", "range")}}
    many = {"pinball": {name: {**of, "n": 300} for name, of in few["pinball"].items()}}
    found = {"few": {**few, "judged": 59}, "pooled": {**many, "judged": 300}}
    text = "+4.0 % (1.0 to 7.0)"
    assert figures.together(found, "gain") == [
        ("few", *[f"{text}, not proven"] * 2, "59"),
        ("All files", text, text, "300"),
    ]


def test_what_cannot_be_evaluated_together_is_refused_with_a_sentence(
    files: list[str], data: str, tmp_path: Path
) -> None:
    def refused(*arguments: str) -> str:
        shown = commands.invoke("evaluate", *arguments, "--data-dir", data)
        assert shown.returncode in (1, 2) and "Traceback" not in shown.stderr
        return shown.stderr

    (tmp_path / "other").mkdir()
    same = str(write(tmp_path / "other" / "alpha.csv", 5))
    hourly = str(write(tmp_path / "hourly.csv", 5, HOUR))
    assert "need --together" in refused(*files)
    assert "called alpha.csv" in refused(*files, same, "--together")
    copied = tmp_path / "copy.csv"
    copied.write_bytes(Path(files[0]).read_bytes())
    assert "hold the same candles" in refused(files[0], str(copied), "--together")
    assert "alpha 1m (file) and hourly 1h (file) have different intervals" in refused(*files, hourly, "--together")
    for wrong in ((*files, hourly), (files[0], str(copied))):
        refusal = commands.invoke("evaluate", *wrong, "--together", "--data-dir", data)
        assert refusal.returncode == 2, "as in headless"
    assert "takes no --report" in refused(*files, "--together", "--report", str(tmp_path / "out.html"))
    assert "There is no file" in refused(*files, str(tmp_path / "absent.csv"), "--together")
