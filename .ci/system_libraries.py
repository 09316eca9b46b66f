"""Check the system libraries that Qt needs on Linux; install missing ones as root, else print the command.

Standard library only: it runs before anything is installed. Always exits 0: a machine without a display can still
run everything but the window. An argument names a stamp file for make, touched when nothing is missing.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Libraries that Qt and its X11 platform plugin link against, beyond libc, with their Debian packages.
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
}
FONT_PACKAGE = "fonts-dejavu-core"
OTHER_INSTALLERS = {
    "dnf": "sudo dnf install mesa-libEGL mesa-libGL libX11-xcb libxkbcommon libxkbcommon-x11 xcb-util xcb-util-cursor "
    "xcb-util-wm xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb dbus-libs fontconfig freetype glib2 "
    "krb5-libs dejavu-sans-fonts",
    "pacman": "sudo pacman -S --needed libglvnd libx11 libxkbcommon libxkbcommon-x11 xcb-util xcb-util-cursor "
    "xcb-util-wm xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb dbus fontconfig freetype2 glib2 "
    "krb5 ttf-dejavu",
    "zypper": "sudo zypper install libEGL1 libGL1 libX11-xcb1 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 "
    "libxcb-glx0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-util1 "
    "libxcb-xkb1 libdbus-1-3 fontconfig dejavu-fonts",
}


def missing_packages() -> list[str]:
    """Debian packages of the missing libraries."""
    missing = [package for library, package in LIBRARIES.items() if not _loads(library)]
    return missing if _has_font() else [*missing, FONT_PACKAGE]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_font() -> bool:
    """Whether fontconfig finds any font; without one Qt shows boxes."""
    try:
        fontconfig = ctypes.CDLL("libfontconfig.so.1")
    except OSError:
        return False
    fontconfig.FcInitLoadConfigAndFonts.restype = ctypes.c_void_p
    fontconfig.FcConfigGetFonts.restype = ctypes.POINTER(ctypes.c_int)  # its first field is the number of fonts
    fontconfig.FcConfigGetFonts.argtypes = [ctypes.c_void_p, ctypes.c_int]
    configuration = fontconfig.FcInitLoadConfigAndFonts()
    fonts = fontconfig.FcConfigGetFonts(configuration, 0) if configuration else None
    return fonts is not None and bool(fonts) and fonts[0] > 0


def main() -> None:
    missing = missing_packages() if sys.platform.startswith("linux") else []
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        _install(missing)
        missing = missing_packages()
    if missing:
        print(f"The window needs these system libraries: {' '.join(missing)}. Install them with:\n  {_advice(missing)}")
    elif sys.argv[1:]:
        Path(sys.argv[1]).touch()


def _install(packages: list[str]) -> None:
    print(f"Installing system libraries for Qt: {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["-y", "install", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *arguments], env=environment, check=False, stdout=subprocess.DEVNULL)


def _advice(missing: list[str]) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install {' '.join(missing)}"
    for installer, line in OTHER_INSTALLERS.items():
        if shutil.which(installer):
            return line
    return f"your package manager (the names on Debian: {' '.join(missing)})"


if __name__ == "__main__":
    main()
