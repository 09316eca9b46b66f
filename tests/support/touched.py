"""The tests affected by a change: those in its mirrored place, then those that import it, nearest first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import grimp

from tests.support.wall_clock import module_marks

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("core", "models", "desktop", "tests")
_NEIGHBOUR = 6
"""So many imports away is a test that lies in the mirrored folder, where no fewer lead to it."""
_NAMING_NEIGHBOUR = 5
"""The same for one that has a word of the module's name in quotes, as the tests of a sub-command do."""


@dataclass(frozen=True, slots=True)
class Near:
    """A test file, relative to the root, and how far it is from what changed: 0 is the change itself."""

    path: str
    distance: int


class Touched:
    """What imports what in the tree that `python -m` was started in, and so which tests see a change."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._graph = grimp.build_graph(*_PACKAGES, cache_dir=None)
        self._modules = frozenset(self._graph.modules)  # the graph makes a new set each time
        self._importers_of: dict[str, frozenset[str]] = {}
        """As far as they were looked for."""
        self._tests = {name for name in self._modules if _is_test(name)}
        self._bytes = {_path_of(name): (root / _path_of(name)).stat().st_size for name in self._tests}

    def by(self, changed: Iterable[str]) -> list[Near]:
        """The test files, nearest first, for changed files relative to the root; of equals the shortest first."""
        nearest: dict[str, int] = {}
        for path in changed:
            for name, distance in self._around(path).items():
                nearest[name] = min(distance, nearest.get(name, distance))
        found = [Near(_path_of(name), distance) for name, distance in nearest.items()]
        return sorted(found, key=lambda near: (near.distance, self._bytes[near.path], near.path))

    def _around(self, path: str) -> dict[str, int]:
        module = _module_of(path)
        if not path.endswith(".py") or module.partition(".")[0] not in _PACKAGES:
            return {}
        steps = self._steps_to(module)
        if not _is_test(module):
            steps |= {name: min(far, steps.get(name, far)) for name, far in self._neighbours(path).items()}
        return {name: steps[name] + _folder_distance(path, _path_of(name)) for name in steps.keys() & self._tests}

    def _neighbours(self, path: str) -> dict[str, int]:
        """The tests in the mirrored folder: a module that is loaded by its name, or is deleted, has no importer."""
        folder, _, file = _mirrored(path).rpartition("/")
        words = [f'"{word}"' for word in file.removesuffix(".py").split("_") if word]
        folders = {test: _path_of(test).rpartition("/")[0] for test in self._tests}
        beside = [test for test in folders if folders[test] == folder]
        beside = beside or [test for test in folders if folders[test].startswith(f"{folder}/")]
        naming = {test for test in beside if any(word in self._text(test) for word in words)}
        return {test: _NAMING_NEIGHBOUR if test in naming else _NEIGHBOUR for test in beside}

    def _steps_to(self, module: str) -> dict[str, int]:
        """How many imports lie between each module and this one."""
        steps, frontier = {module: 0}, {module}
        while frontier:
            importers = {name for each in frontier for name in self._importers(each)} - steps.keys()
            steps |= dict.fromkeys(importers, steps[next(iter(frontier))] + 1)
            frontier = importers
        return steps

    def _importers(self, module: str) -> set[str]:
        """Those that import it; a conftest is imported by each test below it."""
        package, _, own = module.rpartition(".")
        if own == "conftest":
            return {name for name in self._tests if name.startswith(f"{package}.")}
        if module not in self._modules:
            importing = _importing(module)
            return {name for name in self._modules if importing.search(self._text(name))}
        if module not in self._importers_of:
            self._importers_of[module] = frozenset(self._graph.find_modules_that_directly_import(module))
        return set(self._importers_of[module])

    def _text(self, module: str) -> str:
        path = self._root / _path_of(module)
        path = path if path.is_file() else path.with_suffix("") / "__init__.py"
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def fast_marks(root: Path = ROOT) -> str:
    """The marker expression of `make test`, whose only copy is in the Makefile."""
    found = re.search(r"^FAST := (.+)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, "the Makefile names the marks of the fast tests"
    return found.group(1)


def has_fast_tests(source: str) -> bool:
    """False if the `pytestmark` of a test file has a mark that `make test` leaves out."""
    if "pytestmark" not in source:  # to parse takes a hundred times as long
        return True
    parts = (part for mark in module_marks(ast.parse(source)) for part in ast.walk(mark))
    names = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return names.isdisjoint(re.findall(r"not (\w+)", fast_marks()))


def _module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _is_test(module: str) -> bool:
    return module.rpartition(".")[2].startswith("test_")


def _importing(module: str) -> re.Pattern[str]:
    """Finds the imports of a deleted module, which the graph no longer has, and its name in a string."""
    package, _, own = (re.escape(part) for part in module.rpartition("."))
    return re.compile(rf"\b{package}\.{own}\b|from {package} import (\([^)]*|[^(\n]*)\b{own}\b")


def _mirrored(path: str) -> str:
    """Where the tests of this file lie, under its own name; what lies in tests/ is its own mirror."""
    return path if path.startswith("tests/") else f"tests/{path}"


def _folder_distance(path: str, test: str) -> int:
    """0: it mirrors the file by its name; 1: it lies in the mirrored folder; more: elsewhere."""
    if path == test:
        return 0
    mirror, _, own = _mirrored(path).rpartition("/")
    folder, _, name = test.rpartition("/")
    if folder == mirror:
        return 0 if name == f"test_{own}" else 1
    return 2 if folder.split("/")[1:2] == mirror.split("/")[1:2] else 3
