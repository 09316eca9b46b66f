"""The tests that `make check` and `make sabotage` consider nearest."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from tests.support.touched import Touched, has_fast_tests


@pytest.fixture(scope="module")
def touched() -> Touched:
    return Touched()


@pytest.fixture
def after_deletion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Touched:
    """A tree without core/market/gone.py, which the two tests outside its mirrored folder once reached."""
    texts = {
        "core/report.py": "from core.market import (\n    series,\n    gone,\n)",
        "core/other.py": "import core.market.gone_too",
        "tests/core/market/test_gone.py": "",
        "tests/core/market/test_series.py": "",
        "tests/desktop/test_names.py": "MODULE = 'core.market.gone'",
        "tests/core/test_report.py": "import core.report",
        "tests/core/test_other.py": "import core.other",
    }
    graph = grimp.ImportGraph()
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        graph.add_module(path.removesuffix(".py").replace("/", "."))
    graph.add_import(importer="tests.core.test_report", imported="core.report")
    graph.add_import(importer="tests.core.test_other", imported="core.other")
    monkeypatch.setattr(grimp, "build_graph", lambda *_packages, **_options: graph)
    return Touched(tmp_path)


def test_the_test_of_the_same_name_comes_first(touched: Touched) -> None:
    assert (
        touched.by(["core/market/feeds/closed_candles.py"])[0].path == "tests/core/market/feeds/test_closed_candles.py"
    )


def test_a_changed_test_comes_first(touched: Touched) -> None:
    found = touched.by(["core/domain/candle_series.py", "tests/desktop/panels/test_loss.py"])
    assert (found[0].path, found[0].distance) == ("tests/desktop/panels/test_loss.py", 0)


def test_a_conftest_affects_the_tests_below_it(touched: Touched) -> None:
    found = {near.path for near in touched.by(["tests/desktop/chart/conftest.py"])}
    assert "tests/desktop/chart/axes/test_price_scale.py" in found
    assert not any(path.startswith("tests/core/") for path in found)


@pytest.mark.parametrize("module, test", [("leaderboard", "test_leaderboard"), ("export", "test_history_commands")])
def test_a_command_loaded_by_name_has_the_tests_that_name_it_first(touched: Touched, module: str, test: str) -> None:
    found = touched.by([f"desktop/commands/{module}.py"])
    first = {near.path for near in found if near.distance == found[0].distance}
    assert f"tests/desktop/commands/{test}.py" in first
    assert "tests/desktop/commands/test_run.py" in {near.path for near in found} - first


def test_a_package_has_the_tests_in_its_mirrored_folder(touched: Touched) -> None:
    found = {near.path.rpartition("/")[0] for near in touched.by(["core/market/feeds/__init__.py"])}
    assert found == {"tests/core/market/feeds"}


def test_an_unimported_helper_has_the_tests_beside_it(touched: Touched) -> None:
    found = {near.path.rpartition("/")[0] for near in touched.by(["tests/sabotage/runner.py"])}
    assert found == {"tests/sabotage"}


def test_a_deleted_module_has_its_mirrored_tests_and_its_former_importers(after_deletion: Touched) -> None:
    found = [near.path for near in after_deletion.by(["core/market/gone.py"])]
    assert set(found[:2]) == {"tests/core/test_report.py", "tests/desktop/test_names.py"}
    assert found[2:] == ["tests/core/market/test_gone.py", "tests/core/market/test_series.py"]


def test_other_files_affect_no_test(touched: Touched) -> None:
    assert touched.by(["README.md", ".ci/icons.py", "core/market", "docs/testing.md"]) == []


@pytest.mark.parametrize(
    "source, is_fast",
    [
        ("pytestmark = pytest.mark.slow", False),
        ("pytestmark = [\n    pytest.mark.hostile,\n    pytest.mark.venue,\n]", False),
        ("pytestmark = [pytest.mark.skipif(not FOLDER.is_dir(), reason='none'), pytest.mark.bundle]", False),
        ("pytestmark = pytest.mark.benchmark", False),
        ("pytestmark = [pytest.mark.hostile, pytest.mark.timeout(240)]", True),
        ("@pytest.mark.slow\ndef test_one():\n    pytestmark = pytest.mark.slow", True),
    ],
)
def test_a_file_with_a_slow_mark_has_no_fast_test(source: str, is_fast: bool) -> None:
    assert has_fast_tests(source) == is_fast
