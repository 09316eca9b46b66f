"""The faults of `make sabotage` still apply: the line that each replaces exists, and the result is Python."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.sabotage.faults import FAULTS
from tests.support.touched import ROOT, Touched, fast_marks

FEWEST = 80
PACKAGES = ("core", "desktop", "models")


def _packages() -> set[str]:
    modules = (
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if not path.name.startswith("__")
    )
    return {path.parent.relative_to(ROOT).as_posix() for path in modules}


PATHS = sorted({fault.path for fault in FAULTS})


@pytest.mark.parametrize("path", PATHS)
def test_each_fault_changes_one_place_and_is_valid_python(path: str) -> None:
    """Also all of a file together: if two overlapped, stage two could not apply them in one run."""
    original = together = (ROOT / path).read_text(encoding="utf-8")
    meaning = ast.dump(ast.parse(original))
    faults = [fault for fault in FAULTS if fault.path == path]
    for fault in faults:
        together = fault.applied_to(together)
        assert ast.dump(ast.parse(fault.applied_to(original))) != meaning, fault.name
    if len(faults) > 1:
        ast.parse(together)


def test_there_are_enough_and_names_are_unique() -> None:
    assert len(FAULTS) >= FEWEST
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []


def test_every_package_has_a_fault() -> None:
    assert _packages() - {fault.path.rpartition("/")[0] for fault in FAULTS} == set()


def test_each_fault_has_nearest_tests() -> None:
    touched = Touched()
    assert [fault.name for fault in FAULTS if not touched.by([fault.path])] == []
    assert [path for fault in FAULTS for path in fault.near if not (ROOT / path).is_file()] == []


def test_slow_tests_are_left_out() -> None:
    assert "not slow" in fast_marks()
