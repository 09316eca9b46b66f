"""`sweep report`: the verdict of a stored sweep and its page, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.evaluation.report.tree import require_self_contained
from tests.core.sweeps.simulated import SETTINGS
from tests.core.sweeps.stored import store_simulated
from tests.support import commands

pytest.importorskip("arch", reason="needs the library arch: pip install 'ghostcandle[sweeps]'")
BETTER, ADVANTAGE = 6, 0.5


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "rates"
    store_simulated(folder, better=BETTER, advantage=ADVANTAGE)
    return folder


def test_the_verdict_is_printed_and_the_page_has_it(sweep: Path, tmp_path: Path) -> None:
    found = commands.invoke_json("sweep", "report", str(sweep), "--data-dir", str(tmp_path / "data"))
    assert found["best"] == BETTER and found["is_better"] and found["default"] == 1
    assert [standing["configuration"] for standing in found["standings"]] == list(range(1, SETTINGS + 1))
    page = Path(found["report"])
    assert page.parent == sweep
    tree = require_self_contained(page.read_text(encoding="utf-8"))
    text = commands.invoke("sweep", "report", str(sweep), "--data-dir", str(tmp_path / "data")).stdout
    for sentence in (found["verdict"], *found["notes"]):
        assert sentence in tree.text and sentence in text


def test_a_folder_without_a_sweep_is_refused_in_a_sentence(tmp_path: Path) -> None:
    refused = commands.invoke("sweep", "report", str(tmp_path), "--data-dir", str(tmp_path / "data"))
    assert refused.returncode != 0
    assert str(tmp_path) in refused.stderr and "Traceback" not in refused.stderr


def test_a_page_that_cannot_be_written_is_a_sentence(sweep: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.sqlite").write_bytes((sweep / "sweep.sqlite").read_bytes())
    (tmp_path / "report.html").mkdir()
    refused = commands.invoke("sweep", "report", str(tmp_path), "--data-dir", str(tmp_path / "data"))
    assert refused.returncode != 0
    assert "cannot be written" in refused.stderr and "Traceback" not in refused.stderr
