"""Finds where a test's source sleeps, waits for the wall clock, or reads it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = frozenset(f"pytest.mark.{name}" for name in ("slow", "venue", "benchmark"))
_CLOCKS = ("monotonic", "perf_counter", "thread_time", "process_time", "clock_gettime")
_ALWAYS = frozenset(f"time.{name}{form}" for name in _CLOCKS for form in ("", "_ns")) | {"time.sleep"}
_METHODS = (
    *("QTest.qWait", "QTest.qSleep", "qtbot.wait", "QThread.sleep", "QThread.msleep", "QThread.usleep"),
    *("SystemClock().sleep_s", "SystemClock().monotonic_s", "threading.Event().wait"),
    *("QElapsedTimer", "QDeadlineTimer", "timeit.timeit", "timeit.repeat", "timeit.Timer", "timeit.default_timer"),
)
_COMPARED = (
    *("time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "SystemClock().now_ms"),
    *("QDateTime.currentDateTime", "QDateTime.currentDateTimeUtc", "QDateTime.currentMSecsSinceEpoch"),
)
"""The date is no elapsed time, but a comparison or a difference of two is one."""
_VIRTUAL = ("asyncio.sleep", "asyncio.get_running_loop().time", "asyncio.get_event_loop().time")
_KEPT = ("SystemClock()", "asyncio.get_running_loop()", *(f"{name}()" for name in _COMPARED))
"""Where one of these is assigned to a name, the name means it."""
_LIMITED = ("wait", "join")
_LEAST_LIMIT = 10
"""Who waits for something gives it more seconds than this: a shorter wait is a pause, or fails on a busy machine."""
_HINTS = re.compile(
    rf"import time|from time|[sS]leep|qWait|wait\(|join\([\dt]|{'|'.join(_CLOCKS)}"
    r"|SystemClock|ElapsedTimer|DeadlineTimer|datetime|DateTime|_loop\(\)|assertNotEmitted"
)
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
        was_virtual, self._is_virtual = self._is_virtual, self._is_virtual and not self._runs_a_real_loop(node)
        self.generic_visit(node)
        self._function, self._is_virtual = outer, was_virtual

    def _runs_a_real_loop(self, node: Function) -> bool:
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        return any(_dotted(call.func, self._names) == "asyncio.run" for call in calls)

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
        name = _dotted(node.func, self._names)
        if name == "asyncio.sleep" and _is_no_time(node):
            return
        if _is_pause(node) and not (self._is_virtual and name.startswith("asyncio.")):
            self.found.append(Use(self._function, node.lineno, name))
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
        is_compared = self._differences > 0 and _ends_with(name.removesuffix("()"), _COMPARED)
        is_slept = not self._is_virtual and _ends_with(name, _VIRTUAL)
        return name in _ALWAYS or _ends_with(name, _METHODS) or is_compared or is_slept


def _imported(module: ast.Module) -> dict[str, str]:
    """The meaning of each imported name, wherever it is imported: `nap` for time.sleep; and of those that hold a clock
    or its time."""
    names: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname is not None}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    held = {ast.unparse(target): _dotted(value, names) for target, value in _assigned(module)}
    return names | {target: name for target, name in held.items() if _ends_with(name, _KEPT)}


def _assigned(module: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Target and value, with and without an annotation."""
    for node in ast.walk(module):
        if isinstance(node, ast.Assign):
            yield node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield node.target, node.value


def _ends_with(name: str, endings: tuple[str, ...]) -> bool:
    return any(f".{name}".endswith(f".{ending}") for ending in endings)


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`time.sleep` of the name or attribute, `SystemClock().sleep_s` of a call's; "" before the first other part."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Call):
        return f"{_dotted(node.func, names)}()"
    name = f"{_dotted(node.value, names)}.{node.attr}" if isinstance(node, ast.Attribute) else ""
    return names.get(name, name)


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


def _is_pause(call: ast.Call) -> bool:
    """A wait with a short constant limit, or one for a signal that must not come."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if method not in _LIMITED:
        return method == "assertNotEmitted" and "wait" in keywords
    limit = keywords.get("timeout", call.args[0] if call.args else None)
    value = limit.value if isinstance(limit, ast.Constant) else None
    return isinstance(value, int | float) and 0 < value < _LEAST_LIMIT
