"""Counts live objects at rest, before and after, to find leaks."""

from __future__ import annotations

import ctypes
import gc
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import FunctionType, MappingProxyType
from typing import Any, ClassVar

import psutil
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QMetaMethod, QMetaObject, QObject, QTimer
from PySide6.QtGui import QAccessibleInterface, QPixmapCache
from PySide6.QtWidgets import QApplication, QWidget

_OURS = ("core.", "desktop.")
_PICTURES = ("QPixmap", "QImage", "QPicture", "QPainter")
_SIGNAL = "2"
"""Prefix of signatures from Qt's SIGNAL()."""


@dataclass(frozen=True)
class Census:
    """objects: of our types, of Qt's pictures, and our functions, by name (a connected lambda is one); connections: by
    class and signal, of objects of our classes and those below the widget; qobjects: below the widget, by class;
    timers: those of them that are QTimers; widgets: of the whole application; none: references to None; blocks: of
    memory of Python objects; heap_mb: held by C and C++, including pictures, NaN if the C library does not report it;
    memory_mb: of the process, including freed memory kept for reuse."""

    objects: Counter[str]
    connections: Counter[str]
    qobjects: Counter[str]
    timers: int
    widgets: int
    none: int
    blocks: int
    heap_mb: float
    memory_mb: float

    def grown_since(self, before: Census, slack: int) -> dict[str, int]:
        """Counts that grew by more than `slack`. Candles and forecasts, of which `core` keeps thousands, may grow by a
        tenth: those that closed since."""
        now, then = self._all(), before._all()
        grown = {name: now[name] - then[name] for name in now}
        kept = {name: then[name] // 10 if name.startswith("core.") else 0 for name in grown}
        return {name: more for name, more in grown.items() if more > max(slack, kept[name])}

    def _all(self) -> Counter[str]:
        counted = self.objects + self.connections + self.qobjects
        counted.update({"(timers)": self.timers, "(widgets)": self.widgets})
        return counted


def take(root: QWidget) -> Census:
    """Count after a full garbage collection."""
    for _ in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
        gc.collect()
    QPixmapCache.clear()
    # type(), because isinstance() would trigger lazy objects of other libraries
    items = [(item, type(item)) for item in gc.get_objects()]
    ours = Counter(name for item, kind in items if (name := _name(item, kind)) is not None)
    own = [item for item, kind in items if issubclass(kind, QObject) and kind.__module__.startswith(_OURS)]
    below = [child for child in root.findChildren(QObject) if shiboken6.isValid(child)]
    connections = _connections({*(each for each in own if shiboken6.isValid(each)), *below})
    qobjects = Counter(f"Qt {child.metaObject().className()}" for child in below)
    timers = sum(isinstance(child, QTimer) for child in below)
    widgets = len(QApplication.allWidgets())
    del items, own, below
    gc.collect()
    memory_mb = psutil.Process().memory_info().rss / 2**20
    counts = (timers, widgets, sys.getrefcount(None), sys.getallocatedblocks())
    return Census(ours, connections, qobjects, *counts, heap_mb(), memory_mb)


class _HeapInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`; hblkhd and uordblks: bytes in use, in separate mappings and in the arenas."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def heap_mb() -> float:
    """Memory allocated through the C library and not freed."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (OSError, TypeError, AttributeError):  # no glibc, or one before 2.33
        return math.nan
    ask.restype = _HeapInfo
    info = ask()
    return float(info.hblkhd + info.uordblks) / 2**20


def _name(item: Any, kind: type) -> str | None:
    """The name it is counted under; None: not ours, or PySide keeps every instance until the process ends: accessible
    interfaces of widgets (`PySideAccessibleFactory::m_objects` in PySide's glue/qtgui.cpp)."""
    if issubclass(kind, QAccessibleInterface):
        return None
    if kind is FunctionType and str(item.__module__).startswith(_OURS):
        return f"def {item.__module__}.{item.__qualname__}"
    is_picture = kind.__name__ in _PICTURES and str(kind.__module__).startswith("PySide6.")
    return f"{kind.__module__}.{kind.__qualname__}" if is_picture or str(kind.__module__).startswith(_OURS) else None


def _connections(objects: set[QObject]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in objects:
        for signature in _signals(each.metaObject()):
            count = each.receivers(_SIGNAL + signature)
            if count:
                found[f"{type(each).__name__}.{signature}"] += count
    return found


def _signals(meta: QMetaObject) -> list[str]:
    methods = (meta.method(index) for index in range(meta.methodCount()))
    signals = (method for method in methods if method.methodType() is QMetaMethod.MethodType.Signal)
    return [bytes(method.methodSignature().data()).decode() for method in signals]


MOST_NONE = 300
"""Tolerated change of the references to None: 60 were measured between two rests of the window, most of them in
pyqtgraph, which keeps one at each change of a plot's size. Ten minutes have tens of thousands of frames, so a reference
gained or lost per frame shows. For `make test` another test counts them."""
MOST_HEAP_MB = 8.0
"""Tolerated growth of C and C++ memory in megabytes; 2.5 were measured. A picture of the chart is two: four leaked ones
show."""
MOST_MB = 64.0
"""Tolerated growth of the process in megabytes if the C library does not report memory in use: fragmentation and memory
kept for reuse vary by forty."""
MOST_OF_A_KIND = 50
"""Tolerated growth of one kind of object: a view needs a few more labels, a panel shown now a few dozen bars."""


def assert_nothing_is_left(before: Census, after: Census, bounds: Mapping[str, int] = MappingProxyType({})) -> None:
    """Compare two counts at rest. bounds: limits for types that are kept up to a limit."""
    assert_no_objects_are_left(before, after, bounds)
    changes = _changes_text(before, after)
    assert abs(after.none - before.none) < MOST_NONE, changes
    assert _memory_growth(before, after) < 1.0, changes


def assert_no_objects_are_left(before: Census, after: Census, bounds: Mapping[str, int] = MappingProxyType({})) -> None:
    """Compare the named counts."""
    print(_changes_text(before, after))
    grown = after.grown_since(before, MOST_OF_A_KIND)
    for name, most in bounds.items():
        grown.pop(name, None)
        assert after.objects[name] <= most, f"{after.objects[name]} of {name}, at most {most} are kept"
    assert not grown, f"left behind: {grown}"
    assert after.timers == before.timers, "timers were left behind"


def assert_does_not_go_on_growing(rests: Sequence[Census]) -> None:
    """A first use may leave something once, in one stretch between two rests; a leak grows in each."""
    stretches = list(pairwise(rests))
    changes = [_changes_text(*stretch) for stretch in stretches]
    for sign in (1, -1):
        assert min(sign * (after.none - before.none) for before, after in stretches) < MOST_NONE, changes
    assert min(_memory_growth(*stretch) for stretch in stretches) < 1.0, changes


def _memory_growth(before: Census, after: Census) -> float:
    """As a share of the tolerance."""
    if math.isnan(after.heap_mb):
        return (after.memory_mb - before.memory_mb) / MOST_MB
    return (after.heap_mb - before.heap_mb) / MOST_HEAP_MB


def _changes_text(before: Census, after: Census) -> str:
    return (
        f"None {after.none - before.none:+d}, blocks {after.blocks - before.blocks:+d}, "
        f"heap {before.heap_mb:.1f}, then {after.heap_mb:.1f} MB, "
        f"process {before.memory_mb:.0f}, then {after.memory_mb:.0f} MB"
    )
