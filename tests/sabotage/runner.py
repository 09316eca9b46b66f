"""The two stages: the nearest tests of each fault, then all tests for the faults that those missed."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

from tests.sabotage.copies import Copy, Outcome
from tests.sabotage.fault import Fault
from tests.support.touched import Touched

_IN_ORDER = ("-p", "no:randomly")
_ALL_S = 3600.0
ALSO_WITHOUT = "hang or crash also without the fault"
_BATCH_ENDS = (2, 6)
"""The nearest test files, or tests, run in three batches that end here and at the last one."""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """Which tests caught a fault. end: as `Outcome.end`, or `ALSO_WITHOUT`; stage: 1 or 2."""

    caught_by: tuple[str, ...]
    end: str
    stage: int
    seconds: float

    @property
    def is_caught(self) -> bool:
        return Outcome(self.caught_by, self.end).is_caught


class FaultRunner:
    """Works in several copies in parallel, one fault in each."""

    def __init__(self, copies: Sequence[Copy], limit_s: float, most_files: int) -> None:
        self._copies = copies
        self._free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for copy in copies:
            self._free.put(copy)
        self._limit_s = limit_s
        self._most_files = most_files
        self._touched = Touched()

    def run_nearest(self, faults: Sequence[Fault]) -> dict[str, FaultResult]:
        """The nearest tests, up to the first that fails. One that also fails without a fault catches nothing, nor does
        a hang or crash that comes without it."""
        results = self._run_each(faults, ())
        suspects = sorted({test for result in results.values() for test in result.caught_by})
        red = self._red(suspects)
        again = [fault for fault in faults if red & set(results[fault.name].caught_by)]
        if again:
            print("red without a fault:", *sorted(red), flush=True)
            results |= self._run_each(again, tuple(f"--deselect={test}" for test in sorted(red)))
        return {fault.name: self._confirmed(results[fault.name], self._nearest(fault)) for fault in faults}

    def run_all(self, faults: Sequence[Fault]) -> dict[str, FaultResult]:
        """All fast tests with all of these at once; then those that failed, with each fault alone. If not all tests
        could be run, with half of the faults at once."""
        if not faults:
            return {}
        began_s = time.monotonic()
        outcome = self._run_together(faults)
        print(f"{len(faults)} faults together: {outcome.end}, {len(outcome.failed)} tests failed", flush=True)
        if not outcome.is_whole and len(faults) > 1:
            half = len(faults) // 2
            return self.run_all(faults[:half]) | self.run_all(faults[half:])
        if not outcome.is_whole and not outcome.failed:
            result = FaultResult((), outcome.end, 2, time.monotonic() - began_s)
            return {faults[0].name: self._confirmed(result, ())}
        red = self._red(outcome.failed)
        print(f"{len(red)} of them without a fault", flush=True)
        return self._attributed(faults, [test for test in outcome.failed if test not in red])

    def _red(self, tests: Sequence[str]) -> set[str]:
        """Those that fail without a fault."""
        if not tests:
            return set()
        outcome = self._copies[0].test(tests, _ALL_S, *_IN_ORDER)
        assert outcome.is_whole, f"without a fault, the tests that failed with one ended otherwise: {outcome.end}"
        return set(outcome.failed)

    def _run_together(self, faults: Sequence[Fault]) -> Outcome:
        copy = self._copies[0]
        with copy.with_faults(faults):
            can_run = copy.imports(faults)
            assert can_run or len(faults) > 1, f"{faults[0].name} cannot be imported"
            return self._run_all_tests() if can_run else Outcome((), "not run")

    def _run_all_tests(self) -> Outcome:
        return self._copies[0].test((), _ALL_S, *_IN_ORDER, "-n", str(len(self._copies)))

    def _confirmed(self, result: FaultResult, tests: Sequence[str]) -> FaultResult:
        """A hang or crash counts only if these tests, or all, neither hang nor crash without the fault."""
        if result.caught_by or not result.is_caught:
            return result
        without = self._copies[0].test(tests, self._limit_s, *_IN_ORDER) if tests else self._run_all_tests()
        return replace(result, end=ALSO_WITHOUT) if without.has_died else result

    def _attributed(self, faults: Sequence[Fault], suspects: Sequence[str]) -> dict[str, FaultResult]:
        def run(fault: Fault) -> FaultResult:
            near = [each.path for each in self._touched.by([fault.path])]
            place = {path: number for number, path in enumerate(near)}
            ordered = sorted(suspects, key=lambda test: place.get(test.partition("::")[0], len(place)))
            return self._result(fault, ordered, _ALL_S, 2)

        return self._map(faults, run)

    def _run_each(self, faults: Sequence[Fault], options: tuple[str, ...]) -> dict[str, FaultResult]:
        def run(fault: Fault) -> FaultResult:
            return self._result(fault, self._nearest(fault), self._limit_s, 1, *options)

        return self._map(faults, run)

    def _nearest(self, fault: Fault) -> list[str]:
        by_imports = [near.path for near in self._touched.by([fault.path]) if near.path not in fault.near]
        return [*fault.near, *by_imports][: self._most_files]

    def _map(self, faults: Sequence[Fault], run: Callable[[Fault], FaultResult]) -> dict[str, FaultResult]:
        pool = ThreadPoolExecutor(len(self._copies))
        try:
            return dict(zip((fault.name for fault in faults), pool.map(run, faults), strict=True))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in self._copies:
                copy.end()  # nothing runs there, unless this was interrupted
            pool.shutdown()

    def _result(self, fault: Fault, tests: Sequence[str], limit_s: float, stage: int, *options: str) -> FaultResult:
        began_s = time.monotonic()
        outcome = self._run(fault, tests, limit_s, *options) if tests else Outcome((), "passed")
        result = FaultResult(outcome.failed, outcome.end, stage, time.monotonic() - began_s)
        line = f"caught by {', '.join(outcome.failed) or 'a ' + outcome.end}" if outcome.is_caught else "survived"
        print(f"{fault.name}: {line} ({outcome.end}, {result.seconds:.0f} s)", flush=True)
        return result

    def _run(self, fault: Fault, tests: Sequence[str], limit_s: float, *options: str) -> Outcome:
        copy = self._free.get()
        try:
            with copy.with_faults([fault]):
                assert copy.imports([fault]), f"{fault.name} cannot be imported, which every test catches"
                outcome = self._run_in_batches(copy, tests, time.monotonic() + limit_s, options)
                # A test that failed because the machine was busy passes now, and has caught nothing.
                return copy.test(outcome.failed, _ALL_S, *_IN_ORDER, *options) if outcome.failed else outcome
        finally:
            self._free.put(copy)

    def _run_in_batches(self, copy: Copy, tests: Sequence[str], until_s: float, options: tuple[str, ...]) -> Outcome:
        """The nearest first: they catch most faults, and collecting the others takes as long as running these."""
        outcome = Outcome((), "passed")
        for first, stop in pairwise((0, *_BATCH_ENDS, len(tests))):
            if not tests[first:stop]:
                continue
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                return Outcome((), "out of time")
            outcome = copy.test(tests[first:stop], left_s, "-x", *_IN_ORDER, *options)
            if outcome.is_caught:
                break
        return outcome
