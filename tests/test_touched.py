"""Which tests `make check` and `make sabotage` take for near."""

from __future__ import annotations

import pytest

from tests.support.touched import Touched


@pytest.fixture(scope="module")
def touched() -> Touched:
    return Touched()


def test_the_test_of_the_same_name_comes_first(touched: Touched) -> None:
    assert touched.by(["core/market/feeds/ledger.py"])[0].path == "tests/core/market/feeds/test_ledger.py"


def test_a_test_that_was_changed_comes_before_all_others(touched: Touched) -> None:
    found = touched.by(["core/market/series.py", "tests/desktop/panels/test_loss.py"])
    assert (found[0].path, found[0].distance) == ("tests/desktop/panels/test_loss.py", 0)


def test_a_conftest_touches_what_lies_below_it(touched: Touched) -> None:
    found = {near.path for near in touched.by(["tests/desktop/chart/conftest.py"])}
    assert "tests/desktop/chart/scales/test_price_scale.py" in found
    assert not any(path.startswith("tests/core/") for path in found)


def test_a_command_that_is_loaded_by_its_name_has_the_tests_beside_it(touched: Touched) -> None:
    assert touched.by(["desktop/commands/metrics.py"])[0].path.startswith("tests/desktop/commands/")


def test_what_nothing_imports_touches_no_test(touched: Touched) -> None:
    assert touched.by(["README.md", "core/gone.py"]) == []
