"""`ghostcandle evaluate FILE --model NAME_OR_FILE`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desktop.commands.walk_files import write
from tests.support import commands

OWN = """
from models.nlinear import NLinear

print("a line on stdout, beside the object of --json")

class Own(NLinear):
    pass
"""


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(commands.configure(tmp_path / "data"))


def test_each_model_is_reported_by_name_with_its_cost(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "alpha.csv", 0)
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    alone = commands.invoke_json("evaluate", str(file), "--data-dir", data)
    found = commands.invoke_json("evaluate", str(file), "--model", "gru", "--model", "own.py:Own", "--data-dir", data)
    assert list(found["challenger_ms"]) == ["gru", "Own"] and min(found["challenger_ms"].values()) > 0.0
    assert found["challenger_answered"] == {"gru": 1.0, "Own": 1.0}
    for horizon, of_quantities in alone["horizons"].items():
        for name, before in of_quantities.items():
            now = found["horizons"][horizon][name]
            assert set(now["experts"]) == {*before["experts"], "gru", "Own"}
            assert all(now["experts"][expert] == loss for expert, loss in before["experts"].items())
            assert now["best_baseline_name"] == before["best_baseline_name"]
            assert set(now["challengers"]) == {"gru", "Own"}
    close = found["pinball"]["close"]
    assert close["challengers"]["gru"]["loss"] == close["experts"]["gru"]
    added = close["challengers_gain"]
    assert added == pytest.approx(
        (alone["pinball"]["close"]["combination"] - close["combination"]) / close["reference"]
    )
    assert "challenger_ms" not in alone and "challengers" not in alone["pinball"]["close"]


def test_the_table_names_each_model(tmp_path: Path, data: str) -> None:
    file = write(tmp_path / "alpha.csv", 0)
    page = tmp_path / "out.html"
    shown = commands.invoke("evaluate", str(file), "--model", "nlinear", "--report", str(page), "--data-dir", data)
    assert shown.returncode == 0, shown.stderr
    for text in (shown.stdout, page.read_text()):
        assert "nlinear, " in text and "a candle" in text and "against the model" in text
        assert "What all of them add" in text


def test_several_files_are_learned_with_further_models_too(tmp_path: Path, data: str) -> None:
    files = [str(write(tmp_path / f"{name}.csv", seed)) for seed, name in enumerate(("alpha", "beta"))]
    found = commands.invoke_json("evaluate", *files, "--together", "--model", "nlinear", "--data-dir", data)
    assert all(list(found[f"{name}.csv"]["challenger_ms"]) == ["nlinear"] for name in ("alpha", "beta"))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("oracle", "There is no model 'oracle'."),
        ("none.py:Own", "There is no file"),
        ("two words", "'two words' is no model"),
        ("HAR", "HAR is the name of a forecast that every run has"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, data: str, model: str, sentence: str
) -> None:
    file = str(write(tmp_path / "alpha.csv", 0))
    for arguments in ((file,), (file, "--together")):
        refused = commands.invoke("evaluate", *arguments, "--model", model, "--data-dir", data)
        assert refused.returncode != 0 and sentence in refused.stderr and "Traceback" not in refused.stderr
