"""Disks that are full or read-only: real mounts, in a namespace that ends with the process in it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

_SMALL = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
_READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift 1 && exec "$@"'


def on_small_disk(folder: Path, size: str) -> list[str]:
    """Command prefix that mounts an empty disk of this size (such as ``8m``) on `folder`, for that command only."""
    return [*_unshared(), "sh", "-c", _SMALL, "sh", size, str(folder)]


def read_only(folder: Path) -> list[str]:
    """Command prefix that makes `folder` read-only for that command: by a mount, because root ignores permissions."""
    return [*_unshared(), "sh", "-c", _READ_ONLY, "sh", str(folder)]


def seen_by(pid: int, folder: Path) -> Path:
    """The folder as the process sees it."""
    return Path(f"/proc/{pid}/root") / folder.relative_to("/")


def beside(pid: int) -> list[str]:
    """Command prefix that enters the mounts of this process."""
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", *user, "--mount", f"--target={pid}"]


@functools.cache
def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    trial = [*_command(), "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def _unshared() -> list[str]:
    if not _can_mount():
        pytest.skip("this machine does not allow mounting in a private namespace (unshare)")
    return _command()


def _command() -> list[str]:
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
