"""Ends a process with the one that started it, however that ends: one that is killed can end nothing itself.

Elsewhere than on Windows a shell waits for the end of a pipe that only we hold open. To ask the kernel instead would
run code between fork and exec, which is not safe in a process with threads. On Windows a job ends with its last handle.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import Any

if sys.platform == "win32":
    import ctypes

    _EXTENDED_LIMITS, _KILL_ON_CLOSE = 9, 0x2000

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", ctypes.c_uint32),
            ("least_memory", ctypes.c_size_t),
            ("most_memory", ctypes.c_size_t),
            ("processes", ctypes.c_uint32),
            ("affinity", ctypes.c_size_t),
            ("priority", ctypes.c_uint32),
            ("scheduling", ctypes.c_uint32),
        )

    class _ExtendedLimits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

        _fields_ = (("basic", _BasicLimits), ("counters", ctypes.c_uint64 * 6), ("memory", ctypes.c_size_t * 4))

    class BoundLifetime:
        """A job that ends all its processes, and their children, when its handle closes; ours closes with us."""

        def __init__(self) -> None:
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
            self._job = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
            limits = _ExtendedLimits()
            limits.basic.flags = _KILL_ON_CLOSE
            self._kernel.SetInformationJobObject(
                self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            )

        def bind(self, process: subprocess.Popen[bytes]) -> None:
            """Bind the process: from now on it ends with ours."""
            private: Any = process  # its handle has no public name
            self._kernel.AssignProcessToJobObject(self._job, ctypes.c_void_p(int(private._handle)))

        def release(self) -> None:
            """End the remaining children of the process, which has ended or was never bound. Can be called twice."""
            job, self._job = self._job, ctypes.c_void_p()
            if job:
                self._kernel.CloseHandle(job)

else:
    _SHELL_ENDS_WITHIN_S = 2.0
    _WAIT_THEN_END = """
read -r group && [ -n "$group" ] || exit 0
read -r _ && exit 0
sleep 1; kill -s TERM -- "-$group"
sleep 1; kill -s KILL -- "-$group"
"""
    """If no second line arrives, we have ended and the process's stdin is closed. It gets the same grace period."""

    class BoundLifetime:
        """Ends all processes of the session that the forecaster leads."""

        def __init__(self) -> None:
            """Raises OSError."""
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _WAIT_THEN_END],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # Ctrl+C and a service manager's signals are for us
            )

        def bind(self, process: subprocess.Popen[bytes]) -> None:
            """Bind the process: from now on it ends with ours."""
            self._write_line(f"{process.pid}\n")

        def release(self) -> None:
            """The process has ended, or was never tied. Can be called twice."""
            self._write_line("\n")
            if self._shell.stdin is not None:
                with contextlib.suppress(OSError):
                    self._shell.stdin.close()
            try:
                self._shell.wait(_SHELL_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:  # somebody has stopped it
                self._shell.kill()
                self._shell.wait()

        def _write_line(self, line: str) -> None:
            """It may have been killed: then nothing is tied."""
            if self._shell.stdin is not None and not self._shell.stdin.closed:
                with contextlib.suppress(OSError):
                    self._shell.stdin.write(line.encode())
                    self._shell.stdin.flush()
