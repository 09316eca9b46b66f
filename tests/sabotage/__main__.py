"""Apply one-line faults to a copy of the program and report which the fast tests catch: `make sabotage`.

Stage one runs the nearest tests of each fault. The faults that they miss are applied together for one run of all fast
tests; what fails there is run again with each of these faults alone, to find which of them it caught.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path

from tests.sabotage.copies import copies_of
from tests.sabotage.fault import Fault
from tests.sabotage.faults import FAULTS
from tests.sabotage.runner import FaultResult, FaultRunner
from tests.support.touched import ROOT, fast_marks

_LEAST_SHARE = 0.95
_COPIES = 2


def main() -> int:
    """The exit code: 1 where too few were caught."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that copies and children are removed in any case
    faults = [fault for fault in FAULTS if not arguments.names or fault.name in arguments.names]
    with (
        tempfile.TemporaryDirectory(prefix="sabotage-") as folder,
        copies_of(ROOT, _COPIES, fast_marks(), Path(folder)) as copies,
    ):
        runner = FaultRunner(copies, arguments.limit, arguments.files)
        results = {} if arguments.stage == "two" else runner.run_nearest(faults)
        if arguments.stage != "one":
            left = [fault for fault in faults if fault.name not in results or not results[fault.name].is_caught]
            results |= runner.run_all(left)
    return _report(faults, results, arguments.out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.sabotage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT", help="only these")
    stages = {"choices": ("one", "two", "both"), "default": "both"}
    parser.add_argument("--stage", **stages, help="one: the nearest tests alone; two: all tests at once")
    parser.add_argument(
        "--limit", type=float, default=120.0, metavar="SECONDS", help="limit for the nearest tests of one fault"
    )
    parser.add_argument("--files", type=int, default=16, metavar="N", help="how many of the nearest test files to run")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build/sabotage/result.json", help="where to write the result"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    return arguments


def _report(faults: list[Fault], results: dict[str, FaultResult], out: Path) -> int:
    caught = sum(results[fault.name].is_caught for fault in faults)
    out.parent.mkdir(parents=True, exist_ok=True)
    found = {
        fault.name: {
            "path": fault.path,
            "caught_by": list(results[fault.name].caught_by),
            "end": results[fault.name].end,
            "stage": results[fault.name].stage,
            "seconds": round(results[fault.name].seconds, 1),
        }
        for fault in faults
    }
    out.write_text(json.dumps({"caught": caught, "of": len(faults), "faults": found}, indent=2) + "\n")
    for fault in faults:
        if not results[fault.name].is_caught:
            print(f"survived: {fault.name} ({fault.path}): {fault.before.strip()} -> {fault.after.strip()}")
    print(f"caught {caught} of {len(faults)}")
    return 0 if caught >= _LEAST_SHARE * len(faults) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: copies and child processes are gone")
