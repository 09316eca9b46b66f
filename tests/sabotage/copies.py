"""A copy of the tree for faults, and the tests that run in it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.sabotage.fault import Fault

_TEST_S = 150
"""One test. Longer than `PatientQtBot` waits: an alarm that goes off in a slot keeps pytest-qt's loop from ending."""
_GRACE_S = 30
_FAILED_LINE = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a test run. failed: ids of tests. end: "passed", "failed", "hang", "crash", "out of time", or
    "not run", where pytest did not get so far."""

    failed: tuple[str, ...]
    end: str

    @property
    def is_caught(self) -> bool:
        return bool(self.failed) or self.has_died

    @property
    def has_died(self) -> bool:
        """Whether the run itself shows a fault, by a hang or a crash."""
        return self.end in ("hang", "crash")

    @property
    def is_whole(self) -> bool:
        """Whether all tests were run."""
        return self.end in ("passed", "failed")


@dataclass(slots=True)
class Copy:
    """A separate tree in which one run at a time takes place."""

    root: Path
    marks: str
    _child: subprocess.Popen[str] | None = None
    _applied: int = 0
    _times_ns: dict[Path, int] = field(default_factory=dict)

    @contextmanager
    def with_faults(self, faults: Iterable[Fault]) -> Iterator[None]:
        """Apply these faults until the block is left."""
        faults = list(faults)
        paths = {self.root / fault.path for fault in faults}
        original = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
        self._applied += 1
        try:
            for fault in faults:
                fault.apply(self.root)
            for path, (_, at_ns) in original.items():  # a new time each time, so that Python compiles it again
                os.utime(path, ns=(at_ns, at_ns + self._applied * 10_000_000_000))
            yield
        finally:
            for path, (content, at_ns) in original.items():
                path.write_bytes(content)
                os.utime(path, ns=(at_ns, at_ns))

    def imports(self, faults: Iterable[Fault]) -> bool:
        """Whether everything that these faults touch can be imported."""
        modules = {fault.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for fault in faults}
        _, code = self._output([sys.executable, "-c", f"import {', '.join(sorted(modules))}"], 120.0)
        return code == 0

    def test(self, tests: Sequence[str], limit_s: float, *options: str) -> Outcome:
        """Run these test files or ids, all where none is named. No test begins after `limit_s`."""
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-m", self.marks, "-p", "no:cacheprovider"]
        # The tests of the list of faults look for the lines that a fault replaces: they would catch every one.
        command += ["--ignore=tests/sabotage", f"--timeout={_TEST_S}", f"--session-timeout={limit_s:g}"]
        command += [*options, *tests]
        output, code = self._output(command, limit_s + _TEST_S + _GRACE_S)
        failed = tuple(dict.fromkeys(_FAILED_LINE.findall(output)))
        return Outcome(failed, _end(code, output, bool(failed)))

    def end(self) -> None:
        """End the current run and its children."""
        if self._child is not None:
            _kill_group(self._child)

    def _output(self, command: list[str], limit_s: float) -> tuple[str, int | None]:
        """Its output and exit code; None where it had to be killed."""
        environment = os.environ | {"PYTHONPATH": str(self.root), "QT_QPA_PLATFORM": "offscreen", "CI": "true"}
        # A fault of the same length within the same second would leave the former byte code in force.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        self._child = child = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(timeout=limit_s)
            return output, child.returncode
        except subprocess.TimeoutExpired:
            _kill_group(child)
            return child.communicate()[0], None
        finally:
            _kill_group(child)
            self._child = None


@contextmanager
def copies_of(root: Path, count: int, marks: str, into: Path) -> Iterator[list[Copy]]:
    """Copies of all tracked and untracked, not ignored files, each beside a link to the data beside `root`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [name for name in listed.split("\0") if name and (root / name).is_file()]
    made = [_copy(root, names, into / str(number) / "tree", marks) for number in range(count)]
    try:
        yield made
    finally:
        for copy in made:
            copy.end()


def _copy(root: Path, names: Iterable[str], target: Path, marks: str) -> Copy:
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name)
    beside = root.parent / "shared"
    if beside.is_dir():
        (target.parent / "shared").symlink_to(beside.resolve(), target_is_directory=True)
    return Copy(target, marks)


def _end(code: int | None, output: str, has_failed: bool) -> str:
    if code is None:
        return "hang"
    if has_failed:
        return "failed"
    if "session-timeout" in output:
        return "out of time"
    if code in (0, 5):
        return "passed"
    return "crash" if code < 0 else "not run"


def _kill_group(child: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
