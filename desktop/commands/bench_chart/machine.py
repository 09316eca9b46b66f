"""On what the figures were taken."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np
import PySide6
from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication


def facts() -> dict[str, Any]:
    """Cores, system and versions; the load says how quiet the machine was. Needs an application."""
    return {
        "cpus": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "qt": qVersion(),
        "pyside": PySide6.__version__,
        "numpy": np.__version__,
        "platform": QGuiApplication.platformName(),
    }
