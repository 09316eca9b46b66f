"""The command `ghostcandle`, in a module whose name no other project has.

Python searches PYTHONPATH first, where a `desktop.py` or `models.py` of someone's own would take the place of the
program's packages. So this comes before they are imported; spawned processes get this process's `sys.path`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from desktop.__main__ import main

if __name__ == "__main__":
    main()
