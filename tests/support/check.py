"""The inner loop, `make check`: lint, types, and the tests nearest to the changes of the working tree against main.
Those of tables and texts come first, whatever has changed: they look at files that they do not import.

Lint and types run beside the tests. Skipped tests are listed, and are left to `make test`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from grimp.exceptions import GrimpException
from pytest import ExitCode

from tests.support.touched import ROOT, Near, Touched, fast_marks, has_fast_tests

_MOST_FILES = 12
_FARTHEST = 4
"""Imports between a change and a test, counted as `Near.distance`: what is farther rarely finds more."""
_BUDGET_S = 35.0
_GREEN = (ExitCode.OK, ExitCode.NO_TESTS_COLLECTED)
_TABLES = ("tests/desktop/docs", "tests/desktop/ui/test_words.py", "tests/desktop/test_every_text.py")
_BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Choice:
    """Test files to run, nearest first, and those left out. All paths are relative to the root.

    farther: how many more are touched, and left to `make test`; slow: how many have a mark that `make test` leaves out;
    without: changed files that no test file was chosen for.
    """

    files: tuple[str, ...]
    farther: int
    slow: int
    without: tuple[str, ...]


def main() -> int:
    """The exit code: 0 if neither lint nor a test that was run has failed."""
    began_s = time.monotonic()
    with ThreadPoolExecutor() as pool:
        linted = pool.submit(_lint)
        tested = _test_near(_changed())
        is_clean, report = linted.result()
    print(report, end="")
    print(f"{_verdict(tested, is_clean)}, after {_since(began_s)}")
    return 0 if is_clean and tested in _GREEN else 1


def _test_near(changed: list[str]) -> int:
    """The exit code of pytest. A file that cannot be parsed is lint's to report: no import can be followed then."""
    _announce_changes(changed)
    if not changed:
        return ExitCode.NO_TESTS_COLLECTED
    try:
        choice = choose(Touched(), changed)
    except (GrimpException, UnicodeError) as error:
        print(f"tests: none, because a file cannot be read. {error}", flush=True)
        return ExitCode.USAGE_ERROR
    _announce(choice)
    return _test((*_TABLES, *choice.files))


def choose(touched: Touched, changed: Sequence[str]) -> Choice:
    """For each changed file the fast tests within reach, or else the nearest ones; of all those as many as fit."""
    found = {path: touched.by([path]) for path in changed}
    fast = {path: [near for near in tests if _is_fast(near.path)] for path, tests in found.items()}
    reached = {path: _within_reach(tests) for path, tests in fast.items()}
    files = _spread(_merged(reached.values()))
    without = tuple(path for path, tests in reached.items() if not any(near.path in files for near in tests))
    all_fast = _merged(fast.values())
    return Choice(files, len(all_fast) - len(files), len(_merged(found.values())) - len(all_fast), without)


@cache
def _is_fast(path: str) -> bool:
    return has_fast_tests((ROOT / path).read_text(encoding="utf-8"))


def _within_reach(found: list[Near]) -> list[Near]:
    return [near for near in found if near.distance <= _FARTHEST] or found[:_MOST_FILES]


def _merged(found: Iterable[list[Near]]) -> list[str]:
    """Each path once, the nearest first."""
    nearest_first = sorted(chain.from_iterable(found), key=lambda near: near.distance)
    return list(dict.fromkeys(near.path for near in nearest_first))


def _spread(files: list[str]) -> tuple[str, ...]:
    """The nearest for half of the places; for the others each top-level folder in turn, the fullest folder first.

    Otherwise the hundred tests of core next to an event of core would leave no place for one of the window.
    """
    if len(files) <= _MOST_FILES:
        return tuple(files)
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in files[_MOST_FILES // 2 :]:
        folders[path.split("/")[1]].append(path)
    turns = zip_longest(*sorted(folders.values(), key=len, reverse=True))
    others = [path for path in chain.from_iterable(turns) if path is not None]
    return (*files[: _MOST_FILES // 2], *others)[:_MOST_FILES]


def _changed() -> list[str]:
    """Files that differ from where this branch left main, committed or not; a renamed one under both names."""
    base = _git("merge-base", "HEAD", "main") or _git("merge-base", "HEAD", "origin/main")
    if not base:
        print("This clone has no commit in common with main or origin/main: only what is not committed is tested.")
    differing = _git("diff", "--name-only", "--no-renames", *(base or ["HEAD"]))
    return sorted({*differing, *_git("ls-files", "--others", "--exclude-standard")})


def _git(*arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotePath=off", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def _announce_changes(changed: list[str]) -> None:
    deleted = [path for path in changed if not (ROOT / path).exists()]
    kept = [path for path in changed if path not in deleted]
    if kept or not deleted:
        print(f"changed: {', '.join(kept) or 'nothing'}")
    if deleted:
        print(f"deleted: {', '.join(deleted)}")
    sys.stdout.flush()


def _announce(choice: Choice) -> None:
    print(f"tables and texts: {' '.join(_TABLES)}")
    print(f"tests: {' '.join(choice.files) or 'none'}")
    if choice.farther:
        print(f"left to make test: {choice.farther} test files that are farther away")
    if choice.slow:
        print(f"left out for their marks, as make test does: {choice.slow} test files")
    if choice.without:
        print(f"no test file was chosen for {', '.join(choice.without)}; only Python imports are followed")
    sys.stdout.flush()


def _test(files: Sequence[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-m", fast_marks()]
    command += ["-p", "tests.support.budget", f"--budget={_BUDGET_S}", *files]
    return subprocess.run(command, cwd=ROOT).returncode


def _lint() -> tuple[bool, str]:
    """One after the other: the tests have the other core. mypy's cache makes its second run short."""
    report, is_clean = "", True
    for command in lint_commands():
        began_s = time.monotonic()
        done = subprocess.run([str(_BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True)
        is_clean = is_clean and done.returncode == 0
        report += f"{' '.join(command)}: {'ok' if done.returncode == 0 else 'FAILED'} ({_since(began_s)})\n"
        report += "" if done.returncode == 0 else done.stdout + done.stderr
    return is_clean, report


def lint_commands(root: Path = ROOT) -> list[list[str]]:
    """Those of `make style` and `make types`, without a path: their only copy is in the Makefile."""
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^(?:style|types): setup\n((?:\t\$\(BIN\)/.+\n)+)", makefile, re.MULTILINE)
    assert len(recipes) == 2, "the Makefile has the commands of style and types"
    lines = [line.split() for recipe in recipes for line in recipe.replace("\t$(BIN)/", "").splitlines()]
    return [[path for word in line for path in _expanded(word, root)] for line in lines]


def _expanded(word: str, root: Path) -> list[str]:
    """As the shell and make do it; a variable that only the Makefile's other targets set is empty."""
    if "*" in word:
        return sorted(path.relative_to(root).as_posix() for path in root.glob(word))
    return [] if word.startswith("$(") else [word]


def _verdict(tested: int, is_clean: bool) -> str:
    if not is_clean or tested not in _GREEN:
        return "FAILED"
    return "ok" if tested == ExitCode.OK else "lint and types are ok; no test was run"


def _since(began_s: float) -> str:
    return f"{time.monotonic() - began_s:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
