"""Look for the system libraries that Qt needs on Linux; install them where that is allowed, else say how.

Standard library only: it runs before anything is installed. Always exits 0: a machine without a display can still
run everything but the window.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
FONT_PACKAGE = "fonts-dejavu-core"
OTHER_INSTALLERS = {
    "dnf": "sudo dnf install mesa-libEGL mesa-libGL libglvnd-opengl libxkbcommon libxkbcommon-x11 xcb-util-cursor "
    "xcb-util-wm xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb dbus-libs fontconfig dejavu-sans-fonts",
    "pacman": "sudo pacman -S --needed libglvnd libxkbcommon libxkbcommon-x11 xcb-util-cursor xcb-util-wm "
    "xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb dbus fontconfig ttf-dejavu",
    "zypper": "sudo zypper install libEGL1 libGL1 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libdbus-1-3 fontconfig dejavu-fonts",
}


def missing_packages() -> list[str]:
    """Debian's names of what is not there."""
    missing = [package for library, package in LIBRARIES.items() if not _loads(library)]
    return missing if _has_font() else [*missing, FONT_PACKAGE]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_font() -> bool:
    """Whether any font is installed; a window without one shows boxes."""
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", Path.home() / ".fonts", Path.home() / ".local/share/fonts")
    names = (name for folder in folders for _, _, files in os.walk(folder) for name in files)
    return any(name.lower().endswith((".ttf", ".otf", ".ttc", ".pfb")) for name in names)


def main() -> None:
    if not sys.platform.startswith("linux"):
        return
    missing = missing_packages()
    if not missing:
        print("System libraries for Qt: all there.")
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        print(f"Installing system libraries for Qt: {' '.join(missing)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in ([apt, "-qq", "update"], [apt, "-qq", "-y", "install", "--no-install-recommends", *missing]):
            subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
        missing = missing_packages()
        if not missing:
            return
    print(f"The window needs these system libraries: {' '.join(missing)}. Install them with:\n  {_advice(missing)}")


def _advice(missing: list[str]) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install {' '.join(missing)}"
    for installer, line in OTHER_INSTALLERS.items():
        if shutil.which(installer):
            return line
    return f"your package manager (the names on Debian: {' '.join(missing)})"


if __name__ == "__main__":
    main()
