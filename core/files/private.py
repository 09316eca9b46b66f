"""Files and folders for their owner's eyes alone, whatever the umask: what is stored says what a user trades.

On Windows a user's data folder is private already, and modes say nothing; there nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_FOLDER, _OTHERS = 0o700, 0o077


def make_private_folder(path: Path) -> None:
    """Create it where it is missing, with its parents; one of this user's becomes private. Raises OSError."""
    path.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    make_private(path)


def make_private(path: Path) -> None:
    """Take it from everybody else. What is another user's, a link, shared by all as /tmp is, or gone is left alone."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # a disk without modes, or one that is read-only
        found = path.lstat()
        is_plain = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        mode = stat.S_IMODE(found.st_mode)
        if is_plain and found.st_uid == os.geteuid() and not mode & stat.S_ISVTX and mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
