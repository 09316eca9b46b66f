"""Which tests a change touches: those in its mirrored place first, then those that import it, the nearest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("core", "models", "desktop", "tests")
_NEIGHBOUR = 6
"""So many imports away is a test that lies in the mirrored folder, where no fewer lead to it."""


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
        self._tests = {name for name in self._graph.modules if _is_test(name)}

    def by(self, changed: Iterable[str]) -> list[Near]:
        """The test files, nearest first, for changed files relative to the root; of equals the shortest first."""
        nearest: dict[str, int] = {}
        for path in changed:
            for name, distance in self._around(path).items():
                nearest[name] = min(distance, nearest.get(name, distance))
        found = [Near(self._path_of(name), distance) for name, distance in nearest.items()]
        return sorted(found, key=lambda near: (near.distance, self._size(near.path), near.path))

    def _around(self, path: str) -> dict[str, int]:
        module = _module_of(path)
        if module not in self._graph.modules:
            return {}
        steps = self._steps_to(module)
        mirror = f"tests.{module.rpartition('.')[0]}"
        for name in self._tests:  # a module that is loaded by its name has no importer
            if name.rpartition(".")[0] == mirror:
                steps[name] = min(_NEIGHBOUR, steps.get(name, _NEIGHBOUR))
        return {name: steps[name] + _strangeness(module, name) for name in steps if name in self._tests}

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
        return set(self._graph.find_modules_that_directly_import(module))

    def _path_of(self, module: str) -> str:
        return f"{module.replace('.', '/')}.py"

    def _size(self, path: str) -> int:
        return (self._root / path).stat().st_size


def fast_marks(root: Path = ROOT) -> str:
    """The marker expression of `make test`, which is said in the Makefile alone."""
    found = re.search(r"^FAST := (.+)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, "the Makefile names the marks of the fast tests"
    return found.group(1)


def _module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_test(module: str) -> bool:
    return module.rpartition(".")[2].startswith("test_")


def _strangeness(module: str, test: str) -> int:
    """0: it mirrors the module by its name; 1: it lies in the mirrored folder; more: elsewhere."""
    if module == test:
        return 0
    package, _, own = module.removeprefix("tests.").rpartition(".")
    folder, _, name = test.removeprefix("tests.").rpartition(".")
    if folder == package:
        return 0 if name == f"test_{own}" else 1
    return 2 if folder.partition(".")[0] == package.partition(".")[0] else 3
