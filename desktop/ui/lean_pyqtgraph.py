"""Imports pyqtgraph without every class of Qt.

PySide makes a class when it is first asked for, and pyqtgraph asks for all 1,500 to copy them into its modules:
60 ms of the start, and 7 MB. Here these modules look each name up when it is used."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from types import ModuleType

from PySide6 import QtCore, QtGui, QtWidgets


def import_pyqtgraph() -> None:
    """Do nothing if it is imported already."""
    if "pyqtgraph" in sys.modules:
        return
    modules: tuple[ModuleType, ...] = (QtCore, QtGui, QtWidgets)
    for module in modules:
        name = module.__name__.replace("PySide6", "pyqtgraph.Qt")
        mirror = sys.modules[name] = ModuleType(name)
        vars(mirror)["__getattr__"] = partial(getattr, module)
        vars(module)["__dir__"] = list  # nothing to copy
    try:
        importlib.import_module("pyqtgraph")
    finally:
        for module in modules:
            del vars(module)["__dir__"]
