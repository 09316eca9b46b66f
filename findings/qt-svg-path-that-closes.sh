#!/usr/bin/env bash
# Expected: pyqtgraph's SVG exporter saves a plot, as it does with Qt 6.10.
# Is: Qt's SVG generator ends a closed path with "Z" since 6.11. pyqtgraph 0.14.0 takes each part of a path for a pair of
# numbers, and raises ValueError (pyqtgraph/pyqtgraph#3495; 0.14.0 is its newest release). The path without the "Z" is
# closed too, as the line back to its start is written before it.
# Version: PySide6-Essentials 6.10.3 and 6.11.3, pyqtgraph 0.14.0, Python 3.11.7. Source: QSvgGenerator and the exporter.
# Output seen: 6.10.3 path ends with L1,1; the plot is saved. 6.11.3 path ends with L1,1 Z; ValueError: not enough values
# to unpack (expected 2, got 1).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 6.10.3 6.11.3; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install -q "PySide6-Essentials==$version" pyqtgraph==0.14.0
    QT_QPA_PLATFORM=offscreen "$folder/$version/bin/python" - <<'PYTHON'
import re

import pyqtgraph
from pyqtgraph.exporters import SVGExporter
from PySide6 import __version__
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtSvg import QSvgGenerator

application = pyqtgraph.mkQApp()

triangle = QPainterPath()
triangle.moveTo(1, 1)
triangle.lineTo(9, 1)
triangle.lineTo(9, 9)
triangle.closeSubpath()
file = QBuffer()
file.open(QIODevice.OpenModeFlag.WriteOnly)
generator = QSvgGenerator()
generator.setOutputDevice(file)
painter = QPainter(generator)
painter.drawPath(triangle)
painter.end()
path = re.search(r' d="([^"]*)"', bytes(file.data()).decode()).group(1)

plot = pyqtgraph.PlotItem()
view = pyqtgraph.GraphicsLayoutWidget()
view.addItem(plot)
plot.plot([1, 3, 2])
try:
    SVGExporter(plot).export(toBytes=True)
    outcome = "the plot is saved"
except ValueError as error:
    outcome = f"ValueError: {error}"
print(f"{__version__} path ends with {path[path.rindex('L'):].strip()}; {outcome}")
is_new = __version__ == "6.11.3"
assert path.strip().endswith("L1,1 Z" if is_new else "L1,1")
assert outcome == ("ValueError: not enough values to unpack (expected 2, got 1)" if is_new else "the plot is saved")
PYTHON
done
