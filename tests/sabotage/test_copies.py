"""Tests run in a copy of a small tree, by a real child process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sabotage.copies import Copy, Outcome
from tests.sabotage.fault import Fault

pytestmark = pytest.mark.slow

NEUTRAL = Fault("neutral", "core/price.py", "# a comment", "# another")
HALVED = Fault("halved", "core/price.py", "return 2 * price", "return price")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    files = {
        "core/__init__.py": "",
        "core/price.py": "def double(price):\n    return 2 * price  # a comment\n",
        "tests/test_price.py": "from core.price import double\n\ndef test_double():\n    assert double(3) == 6\n",
        "tests/sabotage/test_faults.py": "def test_line():\n    assert '# a comment' in open('core/price.py').read()\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Copy(tmp_path, "not slow")


def test_a_caught_fault_names_its_test_and_restores_the_tree(copy: Copy) -> None:
    before = (copy.root / HALVED.path).read_bytes()
    with copy.with_faults([HALVED]):
        assert copy.test((), 60.0) == Outcome(("tests/test_price.py::test_double",), "failed")
    assert (copy.root / HALVED.path).read_bytes() == before
    assert copy.test((), 60.0) == Outcome((), "passed")


def test_a_fault_without_effect_survives(copy: Copy) -> None:
    with copy.with_faults([NEUTRAL]):
        assert not copy.test((), 60.0).is_caught
