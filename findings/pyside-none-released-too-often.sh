#!/usr/bin/env bash
# Expected: a call of Qt that returns None leaves the count of references to None as it was.
# Is: with PySide6 6.12.0 each such call releases None once more than it takes it, such as parent, setPen, processEvents
# and QPainter's drawing (Qt's bug PYSIDE-3474, by the release notes of JeanExtreme002/PyMemoryEditor 3.4.1). Before
# Python 3.12, which made None immortal (PEP 683), the process ends where the count reaches zero; a chart that repaints
# releases hundreds in each frame. The hundred calls here are far from that, as Python itself holds thousands.
# Version: PySide6-Essentials 6.11.3 and 6.12.0, Python 3.11.7, Linux. Source: sys.getrefcount.
# Output seen: 6.11.3 released 0 times in 100 calls; 6.12.0 released 100 times in 100 calls.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 6.11.3 6.12.0; do
    python3.11 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install -q "PySide6-Essentials==$version"
    "$folder/$version/bin/python" - <<'PYTHON'
import sys

from PySide6 import __version__
from PySide6.QtCore import QObject

CALLS = 100
alone = QObject()
before = sys.getrefcount(None)
for _ in range(CALLS):
    alone.parent()
released = before - sys.getrefcount(None)
print(__version__, "released", released, "times in", CALLS, "calls")
assert released == {"6.11.3": 0, "6.12.0": CALLS}[__version__]
PYTHON
done
