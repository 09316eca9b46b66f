"""What is alive: counted at rest, before and after, so that whatever was left behind shows."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import psutil
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

_OURS = ("core.", "desktop.")


@dataclass(frozen=True)
class Census:
    """objects: of our types, by name; qobjects: below the widget, by class; timers: those of them that are QTimers;
    widgets: of the whole application; none: references to None; memory_mb: of the process."""

    objects: Counter[str]
    qobjects: Counter[str]
    timers: int
    widgets: int
    none: int
    memory_mb: float

    def grown_since(self, before: Census, slack: int) -> dict[str, int]:
        """What there are more than `slack` more of now than then."""
        now = Counter(self.objects) + Counter(self.qobjects)
        now.update({"(timers)": self.timers, "(widgets)": self.widgets})
        then = Counter(before.objects) + Counter(before.qobjects)
        then.update({"(timers)": before.timers, "(widgets)": before.widgets})
        return {name: now[name] - then[name] for name in now if now[name] - then[name] > slack}


def take(root: QWidget) -> Census:
    """Count, after all that is garbage has gone."""
    for _ in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
        gc.collect()
    # type(), because isinstance() would ask lazy objects of other libraries for their class
    kinds = [type(item) for item in gc.get_objects()]
    ours = Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds if str(kind.__module__).startswith(_OURS))
    below = [child for child in root.findChildren(QObject) if shiboken6.isValid(child)]
    qobjects = Counter(f"Qt {child.metaObject().className()}" for child in below)
    timers = sum(isinstance(child, QTimer) for child in below)
    widgets = len(QApplication.allWidgets())
    del kinds, below
    gc.collect()
    memory_mb = psutil.Process().memory_info().rss / 2**20
    return Census(ours, qobjects, timers, widgets, sys.getrefcount(None), memory_mb)


MOST_NONE = 1_000
"""References to None that may come or go: caches and first times hold a few hundred. A PySide6 that loses them with
each paint loses 190 a time, and one that gains them 5, over a thousand paints and more."""
MOST_MB = 48.0
"""Megabytes that the process may have grown: fragments of the heap, and pictures kept of a larger widget, are some ten.
A picture of the chart that is not let go is two, so that twenty-four of them show."""
MOST_OF_A_KIND = 50
"""More of one kind of object: a view needs a few labels more, a panel that is in front now a few dozen bars."""


def assert_nothing_is_left(before: Census, after: Census, bounds: Mapping[str, int] = MappingProxyType({})) -> None:
    """Compare two moments of rest. bounds: how many there may be of a type that is kept up to a bound."""
    told = f"None {after.none - before.none:+d}, {before.memory_mb:.0f} MB, then {after.memory_mb:.0f} MB"
    print(told)
    grown = after.grown_since(before, MOST_OF_A_KIND)
    for name, most in bounds.items():
        grown.pop(name, None)
        assert after.objects[name] <= most, f"{after.objects[name]} of {name}, at most {most} are kept"
    assert not grown, f"left behind: {grown}"
    assert after.timers == before.timers, "timers were left behind"
    assert abs(after.none - before.none) < MOST_NONE, told
    assert after.memory_mb - before.memory_mb < MOST_MB, told
