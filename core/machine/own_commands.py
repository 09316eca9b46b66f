"""Commands of this installation, as a user can type them."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from pathlib import Path


def own_program() -> str:
    """The command that starts Ghostcandle: it is rarely on the shell's path."""
    return quoted(shutil.which("ghostcandle", path=str(Path(sys.executable).parent)) or "ghostcandle")


def quoted(path: str) -> str:
    """The path quoted for the system's shell, on Windows PowerShell."""
    if platform.system() == "Windows":
        return f'& "{path}"' if " " in path else path
    return shlex.quote(path)
