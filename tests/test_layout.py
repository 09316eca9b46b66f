"""House rules that a program can check."""

from __future__ import annotations

import ast
import functools
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("core", "models", "desktop")
MOST_LINES = 450
MEDIAN_FUNCTION_LINES = 10
LONGEST_FUNCTION_LINES = 60
HEAVY = ("torch", "ccxt", "pandas", "talib")
WINDOW = (
    "desktop.__main__",
    "desktop.services.trainer",
    "desktop.window.main_window",
    "desktop.app.composition",
    "desktop.app.running",
)


TOP_LEVEL = {"core", "desktop", "docs", "findings", "models", "resources", "tests", "build.spec", "pyproject.toml"}
TOP_LEVEL |= {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "Makefile"}
TOP_LEVEL |= {"requirements.lock", ".ci", ".github", ".gitattributes", ".gitignore", ".pre-commit-config.yaml"}
TOP_LEVEL |= {"run_ghostcandle.py"}  # the command must not be in a package whose name others use too


def sources(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a source file: the lines of its functions by where they begin, and what else the rules ask."""

    lengths: dict[int, int]
    has_docstring: bool
    imports_time: bool


@functools.cache
def facts(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(statements(tree))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    lengths = {function.lineno: length(function) for function in functions}
    return Facts(lengths, ast.get_docstring(tree) is not None, "time" in imported)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All below this one, but not the parts of their expressions: a tenth of what `ast.walk` goes through."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, block, ()):
            yield child
            yield from statements(child)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout: what else lies here is nobody's fault")
def test_the_top_level_has_only_agreed_files() -> None:
    """Tracked files at the top level."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert {line.split("/")[0] for line in listed.splitlines()} - TOP_LEVEL == set()


def test_ci_and_docs_call_existing_make_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    workflows, docs = (ROOT / ".github" / "workflows").glob("*.yml"), [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    texts = [path.read_text(encoding="utf-8") for path in (*workflows, ROOT / ".ci" / "run", *docs)]
    called = {name for text in texts for name in re.findall(r"(?:run: |^|`)make ([a-z-]+)", text, re.MULTILINE)}
    assert called >= {"test", "test-slow", "bundle"}
    assert called <= targets


def test_files_named_in_the_docs_exist() -> None:
    """CHANGELOG names those of earlier versions."""
    pages = [page for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")) if page.name != "CHANGELOG.md"]
    named = re.compile(r"`((?:core|desktop|docs|tests)/[\w/.]+)`")
    found = {(page.name, path) for page in pages for path in named.findall(page.read_text(encoding="utf-8"))}
    assert len(found) > 60
    assert sorted(each for each in found if not (ROOT / each[1]).exists()) == []


def test_no_file_is_too_long() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources(*PACKAGES)
    }
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}


def test_functions_are_short() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}:{line}": count
        for path in sources(*PACKAGES)
        for line, count in facts(path).lengths.items()
    }
    assert statistics.median(lengths.values()) <= MEDIAN_FUNCTION_LINES
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION_LINES} == {}


def test_every_module_has_a_docstring() -> None:
    silent = [
        path.relative_to(ROOT).as_posix() for path in sources(*PACKAGES, "resources") if not facts(path).has_docstring
    ]
    assert silent == []


def test_only_the_clock_reads_the_time_in_core_and_models() -> None:
    """`import time` elsewhere would be a second clock. The database waits for a lock, which is no decision."""
    readers = {path.relative_to(ROOT).as_posix() for path in sources("core", "models") if facts(path).imports_time}
    assert readers == {"core/domain/clock.py", "core/storage/database.py"}


def test_no_dialog_nests_the_event_loop() -> None:
    nested = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources("desktop")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ".exec()" in line or "processEvents" in line
    ]
    assert nested == []


def test_waits_for_a_window_are_entered() -> None:
    """`waitExposed` and `waitActive` are context managers: a bare call waits for nothing."""
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources("tests")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r"\s*(self\.)?qtbot\.wait(Exposed|Active)\(", line)
    ]
    assert bare == []


def test_the_window_imports_no_heavy_modules() -> None:
    """In a fresh interpreter: neither torch nor ccxt nor pandas before the first paint asks for them."""
    code = (
        "import importlib, sys\n"
        f"for module in {WINDOW!r}:\n"
        "    importlib.import_module(module)\n"
        f"    print(*[f'{{module}}: {{name}}' for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []


def test_no_file_has_merge_conflict_markers() -> None:
    """They are valid Markdown, and so no linter minds them."""
    listed = [path for suffix in ("md", "py", "toml") for path in ROOT.glob(f"*.{suffix}")]
    listed += [path for folder in ("docs", *PACKAGES) for path in (ROOT / folder).rglob("*.[mp][dy]")]
    marked = [path.name for path in listed if "\n" + "<" * 7 + " " in path.read_text(encoding="utf-8")]
    assert listed and marked == []
