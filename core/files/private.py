"""Files and folders that only their owner can read, whatever the umask: they reveal a user's markets.

Does nothing on Windows: there a user's data folder is private already, and modes have no effect.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_FOLDER, _OTHERS = 0o700, 0o077


def make_private_folder(path: Path) -> None:
    """Create the folder and its parents if missing; make it private if this user owns it. Raises OSError."""
    path.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    make_private(path)


def make_private(path: Path) -> None:
    """Remove access for others. Leaves alone links, missing files, other users' files and shared folders such as
    /tmp."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # a disk without modes, or one that is read-only
        found = path.lstat()
        is_plain = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        mode = stat.S_IMODE(found.st_mode)
        if is_plain and found.st_uid == os.geteuid() and not mode & stat.S_ISVTX and mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
