"""pyqtgraph is imported without a copy of every class of Qt, and works as ever."""

from __future__ import annotations

import subprocess
import sys

from tests.support import commands

CODE = """
import PySide6.QtGui
from desktop.ui.lean_pyqtgraph import import_pyqtgraph

import_pyqtgraph()
import pyqtgraph
from pyqtgraph.Qt import QtGui

copied = [name for name in vars(QtGui) if name.startswith("Q") and name != "QFileSystemModel"]
app = pyqtgraph.mkQApp()
plot = pyqtgraph.PlotWidget()
plot.plot([1, 2, 3], pen=pyqtgraph.mkPen("r"))
plot.grab()
import_pyqtgraph()
print(len(copied), QtGui.QPolygonF is PySide6.QtGui.QPolygonF, "QPolygonF" in dir(PySide6.QtGui))
"""


def test_no_class_is_copied_and_a_curve_is_painted() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=commands.ROOT)
    assert done.stdout.split() == ["0", "True", "True"]
