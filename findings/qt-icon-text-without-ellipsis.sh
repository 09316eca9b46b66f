#!/usr/bin/env bash
# Expected: the icon text of an action "Pausing…" that was given none is "Pausing…", as in Qt 6.9, which takes away three
# full stops but leaves the one character.
# Is: since Qt 6.11 it is "Pausing": a tool button that shows its text no longer says that something is under way.
# Version: PySide6-Essentials 6.9.3 and 6.11.3, Python 3.11 to 3.13. Source: its QAction.
# Output seen: 6.9.3 Pausing… Open; 6.11.3 Pausing Open.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 6.9.3 6.11.3; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install -q "PySide6-Essentials==$version"
    QT_QPA_PLATFORM=offscreen "$folder/$version/bin/python" - <<'PYTHON'
from PySide6 import __version__
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

application = QApplication([])
shown = [QAction(text).iconText() for text in ("Pausing…", "Open...")]
print(__version__, *shown)
assert shown == {"6.9.3": ["Pausing…", "Open"], "6.11.3": ["Pausing", "Open"]}[__version__]
PYTHON
done
