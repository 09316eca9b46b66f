"""The two stages: the nearest tests of each fault, then all tests for those that the nearest have missed."""

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
_WAVES = (2, 6)
"""After so many test files, or tests, the next ones are looked for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one fault. how: as `Outcome.end`."""

    caught_by: tuple[str, ...]
    how: str
    stage: int
    seconds: float

    @property
    def is_caught(self) -> bool:
        return bool(self.caught_by) or self.how in ("hang", "crash")


class Hunt:
    """Works in several copies side by side, one fault in each."""

    def __init__(self, copies: Sequence[Copy], limit_s: float, most_files: int) -> None:
        self._copies = copies
        self._free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for copy in copies:
            self._free.put(copy)
        self._limit_s = limit_s
        self._most_files = most_files
        self._touched = Touched()

    def nearby(self, faults: Sequence[Fault]) -> dict[str, Verdict]:
        """The nearest tests, up to the first that fails. One that fails without a fault as well catches nothing."""
        verdicts = self._side_by_side(faults, ())
        suspects = sorted({test for verdict in verdicts.values() for test in verdict.caught_by})
        red = set(self._copies[0].test(suspects, _ALL_S, *_IN_ORDER).failed) if suspects else set()
        again = [fault for fault in faults if red & set(verdicts[fault.name].caught_by)]
        if again:
            print("red without a fault:", *sorted(red), flush=True)
            verdicts |= self._side_by_side(again, tuple(f"--deselect={test}" for test in sorted(red)))
        return verdicts

    def everywhere(self, faults: Sequence[Fault]) -> dict[str, Verdict]:
        """All fast tests with all of these at once; then those that failed, with each fault alone."""
        if not faults:
            return {}
        copy = self._copies[0]
        with copy.broken_by(faults):
            can_run = copy.imports(faults)
            failed = copy.test((), _ALL_S, *_IN_ORDER, "-n", str(len(self._copies))).failed if can_run else ()
        if not can_run:
            assert len(faults) > 1, f"{faults[0].name} cannot be imported"
            half = len(faults) // 2
            return self.everywhere(faults[:half]) | self.everywhere(faults[half:])
        red = set(copy.test(failed, _ALL_S, *_IN_ORDER).failed) if failed else set()
        suspects = [test for test in failed if test not in red]
        print(
            f"{len(faults)} faults together failed {len(failed)} tests, {len(red)} of them without a fault", flush=True
        )
        return self._attributed(faults, suspects)

    def _attributed(self, faults: Sequence[Fault], suspects: Sequence[str]) -> dict[str, Verdict]:
        def judge(fault: Fault) -> Verdict:
            near = [each.path for each in self._touched.by([fault.path])]
            place = {path: number for number, path in enumerate(near)}
            ordered = sorted(suspects, key=lambda test: place.get(test.partition("::")[0], len(place)))
            return self._judged(fault, ordered, _ALL_S, 2)

        return self._each(faults, judge)

    def _side_by_side(self, faults: Sequence[Fault], options: tuple[str, ...]) -> dict[str, Verdict]:
        def judge(fault: Fault) -> Verdict:
            files = [near.path for near in self._touched.by([fault.path])[: self._most_files]]
            return self._judged(fault, files, self._limit_s, 1, *options)

        return self._each(faults, judge)

    def _each(self, faults: Sequence[Fault], judge: Callable[[Fault], Verdict]) -> dict[str, Verdict]:
        pool = ThreadPoolExecutor(len(self._copies))
        try:
            return dict(zip((fault.name for fault in faults), pool.map(judge, faults), strict=True))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in self._copies:
                copy.end()  # nothing goes on there, unless this was interrupted
            pool.shutdown()

    def _judged(self, fault: Fault, tests: Sequence[str], limit_s: float, stage: int, *options: str) -> Verdict:
        began_s = time.monotonic()
        outcome = self._tried(fault, tests, limit_s, *options) if tests else Outcome((), "passed")
        verdict = Verdict(outcome.failed, outcome.end, stage, time.monotonic() - began_s)
        told = f"caught by {', '.join(outcome.failed) or 'a ' + outcome.end}" if outcome.is_caught else "survived"
        print(f"{fault.name}: {told} ({outcome.end}, {verdict.seconds:.0f} s)", flush=True)
        return verdict

    def _tried(self, fault: Fault, tests: Sequence[str], limit_s: float, *options: str) -> Outcome:
        copy = self._free.get()
        try:
            with copy.broken_by([fault]):
                return self._in_waves(copy, tests, time.monotonic() + limit_s, options)
        finally:
            self._free.put(copy)

    def _in_waves(self, copy: Copy, tests: Sequence[str], until_s: float, options: tuple[str, ...]) -> Outcome:
        """The nearest first: most faults are caught there, and to collect the others costs as much as to run those."""
        outcome = Outcome((), "passed")
        for first, stop in pairwise((0, *_WAVES, len(tests))):
            if not tests[first:stop]:
                continue
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                return Outcome((), "out of time")
            outcome = copy.test(tests[first:stop], left_s, "-x", *_IN_ORDER, *options)
            if outcome.is_caught:
                break
        return outcome
