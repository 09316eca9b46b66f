"""Break a copy of the program by one line at a time, and say which breaks the fast tests notice: `make sabotage`.

Stage one tries the nearest tests for each fault. What they miss is tried together in one run of all fast tests, and
what fails there is run again with each of these faults alone, to say which of them it noticed.
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
from tests.sabotage.hunt import Hunt, Verdict
from tests.support.touched import ROOT, fast_marks

_LEAST_SHARE = 0.95
_COPIES = 2


def main() -> int:
    """The exit code: 1 where too few were caught."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that copies and children go in any case
    faults = [fault for fault in FAULTS if not arguments.names or fault.name in arguments.names]
    with (
        tempfile.TemporaryDirectory(prefix="sabotage-") as folder,
        copies_of(ROOT, _COPIES, fast_marks(), Path(folder)) as copies,
    ):
        hunt = Hunt(copies, arguments.limit, arguments.files)
        verdicts = {} if arguments.stage == "two" else hunt.nearby(faults)
        if arguments.stage != "one":
            left = [fault for fault in faults if fault.name not in verdicts or not verdicts[fault.name].is_caught]
            verdicts |= hunt.everywhere(left)
    return _told(faults, verdicts, arguments.out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.sabotage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT", help="try these alone")
    stages = {"choices": ("one", "two", "both"), "default": "both"}
    parser.add_argument("--stage", **stages, help="one: the nearest tests alone; two: all tests at once")
    parser.add_argument(
        "--limit", type=float, default=120.0, metavar="SECONDS", help="for the nearest tests of a fault"
    )
    parser.add_argument("--files", type=int, default=16, metavar="N", help="how many test files are the nearest")
    parser.add_argument("--out", type=Path, default=ROOT / "build/sabotage/result.json", help="where the result goes")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    return arguments


def _told(faults: list[Fault], verdicts: dict[str, Verdict], out: Path) -> int:
    caught = sum(verdicts[fault.name].is_caught for fault in faults)
    out.parent.mkdir(parents=True, exist_ok=True)
    found = {
        fault.name: {
            "path": fault.path,
            "caught_by": list(verdicts[fault.name].caught_by),
            "how": verdicts[fault.name].how,
            "stage": verdicts[fault.name].stage,
            "seconds": round(verdicts[fault.name].seconds, 1),
        }
        for fault in faults
    }
    out.write_text(json.dumps({"caught": caught, "of": len(faults), "faults": found}, indent=2) + "\n")
    for fault in faults:
        if not verdicts[fault.name].is_caught:
            print(f"survived: {fault.name} ({fault.path}): {fault.before.strip()} -> {fault.after.strip()}")
    print(f"caught {caught} of {len(faults)}")
    return 0 if caught >= _LEAST_SHARE * len(faults) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: copies and child processes are gone")
