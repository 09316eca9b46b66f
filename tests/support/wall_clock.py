"""Finds where a test's source sleeps, waits for the wall clock, or reads it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = frozenset(f"pytest.mark.{name}" for name in ("slow", "venue", "benchmark"))
_CLOCKS = ("monotonic", "perf_counter", "thread_time", "process_time")
_ALWAYS = frozenset(f"time.{name}{form}" for name in _CLOCKS for form in ("", "_ns")) | {"time.sleep"}
_METHODS = ("QTest.qWait", "QTest.qSleep", "qtbot.wait", "QThread.sleep", "QThread.msleep", "QThread.usleep")
_COMPARED = frozenset({"time.time", "time.time_ns"})
"""The date is no elapsed time, but a comparison or a difference of two is one."""
_VIRTUAL = "asyncio.sleep"
_HINTS = re.compile(rf"import time|from time|[sS]leep|qWait|wait\(|{'|'.join(_CLOCKS)}")
"""A source without one of these uses none."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Use:
    """One use of real time: the outermost function around it ("" for none), its line and what is used."""

    function: str
    line: int
    name: str


def uses_of_real_time(source: str, *, is_virtual: bool = False) -> list[Use]:
    """In the order of lines, except in what is marked slow, venue or benchmark.

    is_virtual: coroutines of this file run on virtual time, so that asyncio.sleep takes none.
    """
    if not _HINTS.search(source):
        return []
    module = ast.parse(source)
    names = _imported(module)
    if any(_is_mark(mark, names) for mark in module_marks(module)):
        return []
    visitor = _Visitor(names, is_virtual)
    visitor.visit(module)
    return sorted(visitor.found, key=lambda use: use.line)


class _Visitor(ast.NodeVisitor):
    """Walks through a module, past its marked functions."""

    def __init__(self, names: dict[str, str], is_virtual: bool) -> None:
        self.found: list[Use] = []
        self._names, self._is_virtual = names, is_virtual
        self._function = ""
        self._differences = 0

    def visit_FunctionDef(self, node: Function) -> None:
        if any(_is_mark(decorator, self._names) for decorator in node.decorator_list):
            return
        outer, self._function = self._function, self._function or node.name
        self.generic_visit(node)
        self._function = outer

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._differences += 1
        self.generic_visit(node)
        self._differences -= 1

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_difference = isinstance(node.op, ast.Sub)
        self._differences += is_difference
        self.generic_visit(node)
        self._differences -= is_difference

    def visit_Call(self, node: ast.Call) -> None:
        if _dotted(node.func, self._names) == _VIRTUAL and _is_no_time(node):
            return
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._note(node)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node)

    def _note(self, node: ast.Attribute | ast.Name) -> None:
        name = _dotted(node, self._names)
        if self._is_real(name):
            self.found.append(Use(self._function, node.lineno, name))

    def _is_real(self, name: str) -> bool:
        is_method = any(f".{name}".endswith(f".{method}") for method in _METHODS)
        is_compared = name in _COMPARED and self._differences > 0
        return name in _ALWAYS or is_method or is_compared or (name == _VIRTUAL and not self._is_virtual)


def _imported(module: ast.Module) -> dict[str, str]:
    """The meaning of each imported name, wherever it is imported: `nap` for time.sleep."""
    names: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname is not None}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`time.sleep` of the name or attribute; "" before the first part that is neither."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    return f"{_dotted(node.value, names)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _is_mark(node: ast.expr, names: dict[str, str]) -> bool:
    """The mark itself, with or without arguments, and nothing that merely contains it."""
    return _dotted(node.func if isinstance(node, ast.Call) else node, names) in MARKS


def module_marks(module: ast.Module) -> Iterator[ast.expr]:
    """What the `pytestmark` of a test file holds, mark by mark."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            value = statement.value
            yield from value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _is_no_time(call: ast.Call) -> bool:
    """A delay of a constant 0, which only lets the other tasks run."""
    delay = call.args[0] if call.args else None
    return isinstance(delay, ast.Constant) and delay.value == 0
