"""What counts as caught, with played test runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sabotage.copies import Copy, Outcome
from tests.sabotage.fault import Fault
from tests.sabotage.runner import ALSO_WITHOUT, FaultResult, FaultRunner
from tests.support.touched import Near, Touched

ONE, OTHER = (Fault(name, f"core/{name}.py", "", "") for name in ("one", "other"))
PASSED, FAILED = Outcome((), "passed"), Outcome(("tests/test_price.py::test_double",), "failed")


class PlayedCopy(Copy):
    """Each run has the outcome that is given for the faults applied, or the next one of several."""

    def __init__(self, outcomes: dict[tuple[str, ...], Outcome | list[Outcome]]) -> None:
        super().__init__(Path(), "")
        self._outcomes, self._now = outcomes, ()

    @contextmanager
    def with_faults(self, faults: Iterable[Fault]) -> Iterator[None]:
        self._now = tuple(fault.name for fault in faults)
        yield
        self._now = ()

    def imports(self, faults: Iterable[Fault]) -> bool:
        return True

    def test(self, tests: Sequence[str], limit_s: float, *options: str) -> Outcome:
        outcome = self._outcomes.get(self._now, PASSED)
        return outcome.pop(0) if isinstance(outcome, list) else outcome


@pytest.fixture(autouse=True)
def one_near_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Touched, "__init__", lambda self: None)
    monkeypatch.setattr(Touched, "by", lambda self, changed: [Near("tests/test_price.py", 0)])


def runner(outcomes: dict[tuple[str, ...], Outcome | list[Outcome]]) -> FaultRunner:
    return FaultRunner([PlayedCopy(outcomes)], 60.0, 16)


def said(results: dict[str, FaultResult]) -> dict[str, tuple[bool, str]]:
    return {name: (result.is_caught, result.end) for name, result in results.items()}


@pytest.mark.parametrize("end", ["hang", "crash"])
def test_a_hang_or_crash_counts_unless_it_comes_without_the_fault_too(end: str) -> None:
    died = Outcome((), end)
    assert said(runner({("one",): died}).run_nearest([ONE])) == {"one": (True, end)}
    assert said(runner({("one",): died, (): died}).run_nearest([ONE])) == {"one": (False, ALSO_WITHOUT)}


def test_a_test_that_fails_without_the_fault_too_catches_nothing() -> None:
    found = runner({("one",): FAILED, (): FAILED}).run_all([ONE])
    assert said(found) == {"one": (False, "passed")}
    assert said(runner({("one",): FAILED}).run_all([ONE])) == {"one": (True, "failed")}


def test_a_test_that_fails_once_and_passes_when_repeated_catches_nothing() -> None:
    assert said(runner({("one",): [FAILED, PASSED]}).run_nearest([ONE])) == {"one": (False, "passed")}
    assert said(runner({("one",): [FAILED, FAILED]}).run_nearest([ONE])) == {"one": (True, "failed")}


def test_nothing_is_caught_by_tests_that_could_not_be_run_without_the_fault() -> None:
    without = Outcome((), "not run")
    with pytest.raises(AssertionError, match="not run"):
        runner({("one",): FAILED, (): without}).run_nearest([ONE])


def test_a_whole_run_that_ends_too_early_is_divided_until_one_fault_is_left() -> None:
    hang = Outcome((), "hang")
    found = runner({("one", "other"): hang, ("one",): hang}).run_all([ONE, OTHER])
    assert said(found) == {"one": (True, "hang"), "other": (False, "passed")}
