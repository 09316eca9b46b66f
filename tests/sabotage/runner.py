"""The two stages: the nearest tests of each fault, then all tests for the faults that those missed."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

from tests.sabotage.copies import Copy, Outcome
from tests.sabotage.fault import Fault
from tests.support.touched import Touched

_IN_ORDER = ("-p", "no:randomly")
_ALL_S = 3600.0
_BATCH_ENDS = (2, 6)
"""The nearest test files, or tests, run in three batches that end here and at the last one."""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """Which tests caught a fault. end: as `Outcome.end`; stage: 1 or 2."""

    caught_by: tuple[str, ...]
    end: str
    stage: int
    seconds: float

    @property
    def is_caught(self) -> bool:
        return bool(self.caught_by) or self.end in ("hang", "crash")


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
        """The nearest tests, up to the first that fails. One that also fails without a fault catches nothing."""
        results = self._run_each(faults, ())
        suspects = sorted({test for result in results.values() for test in result.caught_by})
        red = set(self._copies[0].test(suspects, _ALL_S, *_IN_ORDER).failed) if suspects else set()
        again = [fault for fault in faults if red & set(results[fault.name].caught_by)]
        if again:
            print("red without a fault:", *sorted(red), flush=True)
            results |= self._run_each(again, tuple(f"--deselect={test}" for test in sorted(red)))
        return results

    def run_all(self, faults: Sequence[Fault]) -> dict[str, FaultResult]:
        """All fast tests with all of these at once; then those that failed, with each fault alone."""
        if not faults:
            return {}
        copy = self._copies[0]
        with copy.with_faults(faults):
            can_run = copy.imports(faults)
            failed = copy.test((), _ALL_S, *_IN_ORDER, "-n", str(len(self._copies))).failed if can_run else ()
        if not can_run:
            assert len(faults) > 1, f"{faults[0].name} cannot be imported"
            half = len(faults) // 2
            return self.run_all(faults[:half]) | self.run_all(faults[half:])
        red = set(copy.test(failed, _ALL_S, *_IN_ORDER).failed) if failed else set()
        suspects = [test for test in failed if test not in red]
        print(
            f"{len(faults)} faults together failed {len(failed)} tests, {len(red)} of them without a fault", flush=True
        )
        return self._attributed(faults, suspects)

    def _attributed(self, faults: Sequence[Fault], suspects: Sequence[str]) -> dict[str, FaultResult]:
        def run(fault: Fault) -> FaultResult:
            near = [each.path for each in self._touched.by([fault.path])]
            place = {path: number for number, path in enumerate(near)}
            ordered = sorted(suspects, key=lambda test: place.get(test.partition("::")[0], len(place)))
            return self._result(fault, ordered, _ALL_S, 2)

        return self._map(faults, run)

    def _run_each(self, faults: Sequence[Fault], options: tuple[str, ...]) -> dict[str, FaultResult]:
        def run(fault: Fault) -> FaultResult:
            files = [near.path for near in self._touched.by([fault.path])[: self._most_files]]
            return self._result(fault, files, self._limit_s, 1, *options)

        return self._map(faults, run)

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
                return self._run_in_batches(copy, tests, time.monotonic() + limit_s, options)
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
