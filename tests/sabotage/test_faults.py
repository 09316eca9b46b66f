"""The faults of `make sabotage` are faults still: what they replace is there, and what comes of it is Python."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.sabotage.fault import Fault
from tests.sabotage.faults import FAULTS
from tests.support.touched import ROOT, Touched, fast_marks

FEWEST = 80
PACKAGES = ("core", "desktop", "models")


def _text(fault: Fault) -> str:
    return (ROOT / fault.path).read_text(encoding="utf-8")


def _packages() -> set[str]:
    modules = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py")
    return {path.parent.relative_to(ROOT).as_posix() for path in modules}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_changes_one_place_and_leaves_python(fault: Fault) -> None:
    sound = _text(fault)
    broken = fault.applied_to(sound)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(sound))


def test_all_of_them_together_can_be_applied(tmp_path: Path) -> None:
    """Where one overlapped another, stage two could not try them in one run."""
    for path in {fault.path for fault in FAULTS}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    for fault in FAULTS:
        fault.apply(tmp_path)
    for path in {fault.path for fault in FAULTS}:
        ast.parse((tmp_path / path).read_text(encoding="utf-8"))


def test_there_are_enough_and_no_name_comes_twice() -> None:
    assert len(FAULTS) >= FEWEST
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []


def test_no_package_is_left_out() -> None:
    assert _packages() - {fault.path.rpartition("/")[0] for fault in FAULTS} == set()


def test_each_has_tests_that_are_near() -> None:
    touched = Touched()
    assert [fault.name for fault in FAULTS if not touched.by([fault.path])] == []


def test_the_marks_are_those_of_make_test() -> None:
    assert "not slow" in fast_marks()
