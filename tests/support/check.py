"""The inner loop, `make check`: lint, types, and the tests that are near what the working tree changes against main.

Lint and types go on beside the tests. What is not run is said, and is left to `make test`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.touched import ROOT, Near, Touched, fast_marks

_MOST_FILES = 12
_FARTHEST = 4
"""Imports between a change and a test, counted as `Near.distance`: what is farther seldom says more."""
_BUDGET_S = 35.0
_BIN = Path(sys.executable).parent


def main() -> int:
    """The exit code: 0 where all is well as far as it was looked at."""
    began_s = time.monotonic()
    changed = _changed()
    touched = Touched()
    found = touched.by(changed)
    near = [each for each in found if each.distance <= _FARTHEST][:_MOST_FILES]
    _announce(changed, near, len(found))
    with ThreadPoolExecutor() as pool:
        linted = pool.submit(_lint)
        is_green = _test(near)
        is_clean, report = linted.result()
    print(report, end="")
    print(f"{'ok' if is_green and is_clean else 'FAILED'} after {time.monotonic() - began_s:.0f} s")
    return 0 if is_green and is_clean else 1


def _changed() -> list[str]:
    """Files that are there, and differ from where this branch left main, committed or not."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    names = {*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).is_file())


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def _announce(changed: list[str], near: list[Near], found: int) -> None:
    print(f"changed: {', '.join(changed) or 'nothing'}")
    print(f"tests: {' '.join(each.path for each in near) or 'none'}")
    if found > len(near):
        print(f"left to make test: {found - len(near)} test files that are farther away")
    other = [name for name in changed if not name.endswith(".py")]
    if other:
        print(f"left to make test: what {', '.join(other)} changes, for only Python tells what it is used by")
    sys.stdout.flush()


def _test(near: list[Near]) -> bool:
    if not near:
        return True
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-m", fast_marks()]
    command += ["-p", "tests.support.budget", f"--budget={_BUDGET_S}", *(each.path for each in near)]
    nothing_to_run = 5
    return subprocess.run(command, cwd=ROOT).returncode in (0, nothing_to_run)


def _lint() -> tuple[bool, str]:
    """One after the other: the tests have the other core. mypy's cache makes its second run short."""
    report, is_clean = "", True
    for tool in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports", "--no-logo"]):
        began_s = time.monotonic()
        done = subprocess.run([str(_BIN / tool[0]), *tool[1:]], cwd=ROOT, capture_output=True, text=True)
        is_clean = is_clean and done.returncode == 0
        report += f"{' '.join(tool)}: {'ok' if done.returncode == 0 else 'FAILED'} ({_since(began_s)})\n"
        report += "" if done.returncode == 0 else done.stdout + done.stderr
    return is_clean, report


def _since(began_s: float) -> str:
    return f"{time.monotonic() - began_s:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
