"""Build a Debian package from the bundle: `.ci/deb.py dist/ghostcandle`. Run it with `make deb`, after `make bundle`.

It needs dpkg-deb and objdump. The package has no scripts that run as root: other packages' triggers put the entry and
the icons into the menu, and nobody's data is touched when it is removed.
"""

from __future__ import annotations

import getpass
import gzip
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import tomllib
from email.utils import formatdate
from pathlib import Path

from system_libraries import FONT_PACKAGE, LIBRARIES

PROJECT = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROGRAM = Path("usr/lib/ghostcandle")
DOCUMENTS = Path("usr/share/doc/ghostcandle")
ICONS = Path("usr/share/icons/hicolor")
ICON_SIZES = (16, 32, 48, 64, 128, 256, 512)
FILES = {
    "ghostcandle.desktop": "usr/share/applications/ghostcandle.desktop",
    "_internal/resources/ghostcandle.metainfo.xml": "usr/share/metainfo/dev.ghostcandle.Ghostcandle.metainfo.xml",
    "_internal/resources/icon.svg": f"{ICONS}/scalable/apps/ghostcandle.svg",
    **{
        f"_internal/resources/icons/ghostcandle-{size}.png": f"{ICONS}/{size}x{size}/apps/ghostcandle.png"
        for size in ICON_SIZES
    },
}
"""Of the bundle, where the system looks for them."""
RENAMED = {"libglib2.0-0": "libglib2.0-0t64 | libglib2.0-0"}
"""Debian 13 and Ubuntu 24.04 renamed it for times of 64 bits; older ones have only the second name."""
CONTROL = """\
Package: ghostcandle
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size_kb}
Depends: {depends}
Recommends: libwayland-client0, libwayland-cursor0, libwayland-egl1
Section: science
Priority: optional
Description: desktop monitor for a model that learns a market
 {description}
"""
COPYRIGHT = """\
Ghostcandle is under the licence below. The libraries in /{program}/_internal
have licences of their authors, among them PyTorch (BSD-3-Clause and others),
NumPy (BSD-3-Clause and others), Qt and Qt for Python (LGPL-3.0, whose text is
/usr/share/common-licenses/LGPL-3) and, in a build for CUDA, NVIDIA's libraries
(proprietary).

{licence}"""
CHANGELOG = """\
ghostcandle ({version}) unstable; urgency=medium

  * Built from the bundle; CHANGELOG.md of the source lists the changes.

 -- {maintainer}  {date}
"""
OVERRIDES = """\
# A bundle brings its libraries along, as they were built; PyInstaller's program ends in an archive that strip removes.
ghostcandle: custom-library-search-path
ghostcandle: embedded-library
ghostcandle: library-not-linked-against-libc
ghostcandle: missing-depends-on-sensible-utils
ghostcandle: unstripped-binary-or-object
ghostcandle: wrong-path-for-interpreter
"""


def maintainer() -> str:
    """As Debian's tools find it: from DEBFULLNAME and DEBEMAIL, else the person and machine that build."""
    address = os.environ.get("DEBEMAIL") or f"{getpass.getuser()}@{socket.getfqdn()}"
    return f"{os.environ.get('DEBFULLNAME') or getpass.getuser()} <{address}>"


def stage(bundle: Path, root: Path) -> None:
    """Lay out all files of the package below root, with the modes that they get."""
    shutil.copytree(bundle, root / PROGRAM, symlinks=True)
    for source, place in FILES.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bundle / source, root / place)
    write_documents(bundle, root)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/ghostcandle").symlink_to("../lib/ghostcandle/ghostcandle")
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or is_program(path) else 0o644)


def is_program(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o100) and ".so" not in path.name


def write_documents(bundle: Path, root: Path) -> None:
    (root / DOCUMENTS).mkdir(parents=True)
    licence = (bundle / "_internal/LICENSE").read_text(encoding="utf-8")
    (root / DOCUMENTS / "copyright").write_text(COPYRIGHT.format(program=PROGRAM, licence=licence), encoding="utf-8")
    built = formatdate((bundle / "BUILD_INFO.json").stat().st_mtime)
    entry = CHANGELOG.format(version=PROJECT["version"], maintainer=maintainer(), date=built)
    (root / DOCUMENTS / "changelog.gz").write_bytes(gzip.compress(entry.encode(), mtime=0))
    (root / "usr/share/lintian/overrides").mkdir(parents=True)
    (root / "usr/share/lintian/overrides/ghostcandle").write_text(OVERRIDES, encoding="utf-8")


def depends(bundle: Path) -> str:
    """What Qt links, even where the bundle has the library: with it come keyboards' layouts and the list of fonts."""
    packages = [RENAMED.get(name, name) for name in sorted({*LIBRARIES.values(), FONT_PACKAGE})]
    return ", ".join([f"libc6 (>= {newest_glibc(bundle)})", *packages])


def newest_glibc(bundle: Path) -> str:
    """The newest version of the C library that a library of the bundle was built against."""
    files = [path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path)]
    listed = subprocess.run(["objdump", "-p", *map(str, files)], capture_output=True, text=True, check=True).stdout
    newest = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d+\.\d+)", listed))
    return ".".join(map(str, newest))


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def write_control(bundle: Path, root: Path, architecture: str) -> None:
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    (root / "DEBIAN").mkdir(mode=0o755)
    control = CONTROL.format(
        version=PROJECT["version"],
        architecture=architecture,
        maintainer=maintainer(),
        size_kb=sum(-(-path.stat().st_size // 1024) for path in files),
        depends=depends(bundle),
        description="\n ".join(textwrap.wrap(PROJECT["description"], 76)),
    )
    (root / "DEBIAN/control").write_text(control, encoding="utf-8")
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files]
    (root / "DEBIAN/md5sums").write_text("".join(sums), encoding="utf-8")
    for path in (root / "DEBIAN").iterdir():
        path.chmod(0o644)


def main() -> None:
    missing = [name for name in ("dpkg-deb", "objdump") if not shutil.which(name)]
    if missing:
        sys.exit(f"{' and '.join(missing)} is missing. On Debian and Ubuntu: sudo apt-get install dpkg binutils")
    bundle = Path(sys.argv[1]).resolve()
    ask = ["dpkg", "--print-architecture"]
    architecture = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    root = bundle.with_name("deb")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(mode=0o755)
    stage(bundle, root)
    write_control(bundle, root, architecture)
    package = bundle.with_name(f"ghostcandle_{PROJECT['version']}_{architecture}.deb")
    # xz, because Debian's own tools refuse packages in zstd; its higher levels take minutes to save a few per cent.
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z2", "--build", str(root), str(package)], check=True)
    shutil.rmtree(root)
    print(f"{package}: {package.stat().st_size / 1e6:.0f} MB. Install it with: sudo apt install {package}")


if __name__ == "__main__":
    main()
