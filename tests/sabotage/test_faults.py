"""The faults of `make sabotage` still apply: the line that each replaces exists, and the result is Python."""

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
    modules = (
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if not path.name.startswith("__")
    )
    return {path.parent.relative_to(ROOT).as_posix() for path in modules}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_changes_one_place_and_is_valid_python(fault: Fault) -> None:
    original = _text(fault)
    changed = fault.applied_to(original)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(original))


def test_all_faults_can_be_applied_together(tmp_path: Path) -> None:
    """If two overlapped, stage two could not apply them in one run."""
    for path in {fault.path for fault in FAULTS}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    for fault in FAULTS:
        fault.apply(tmp_path)
    for path in {fault.path for fault in FAULTS}:
        ast.parse((tmp_path / path).read_text(encoding="utf-8"))


def test_there_are_enough_and_names_are_unique() -> None:
    assert len(FAULTS) >= FEWEST
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []


def test_every_package_has_a_fault() -> None:
    assert _packages() - {fault.path.rpartition("/")[0] for fault in FAULTS} == set()


def test_each_fault_has_nearest_tests() -> None:
    touched = Touched()
    assert [fault.name for fault in FAULTS if not touched.by([fault.path])] == []


def test_slow_tests_are_left_out() -> None:
    assert "not slow" in fast_marks()
