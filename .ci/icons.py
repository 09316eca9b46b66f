"""Render resources/icon.svg in the formats that desktops need: PNG, .ico (Windows), .icns (macOS)."""

from __future__ import annotations

import struct
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

RESOURCES = Path(__file__).resolve().parents[1] / "resources"
PNG_SIZES = (16, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 32, 48, 64, 128, 256)
ICNS_TYPES = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def main() -> None:
    application = QGuiApplication(["icons", "-platform", "offscreen"])
    renderer = QSvgRenderer(str(RESOURCES / "icon.svg"))
    pictures = {size: _png(renderer, size) for size in PNG_SIZES}
    folder = RESOURCES / "icons"
    folder.mkdir(exist_ok=True)
    for size, data in pictures.items():
        (folder / f"ghostcandle-{size}.png").write_bytes(data)
    (folder / "ghostcandle.ico").write_bytes(_ico({size: pictures[size] for size in ICO_SIZES}))
    (folder / "ghostcandle.icns").write_bytes(_icns({size: pictures[size] for size in ICNS_TYPES}))
    application.quit()


def _png(renderer: QSvgRenderer, size: int) -> bytes:
    image = QImage(QSize(size, size), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _ico(pictures: dict[int, bytes]) -> bytes:
    """A directory of PNGs; a side of 256 is written as 0."""
    header = struct.pack("<HHH", 0, 1, len(pictures))
    offset = len(header) + 16 * len(pictures)
    entries = b""
    for size, data in pictures.items():
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), offset)
        offset += len(data)
    return header + entries + b"".join(pictures.values())


def _icns(pictures: dict[int, bytes]) -> bytes:
    body = b"".join(ICNS_TYPES[size] + struct.pack(">I", 8 + len(data)) + data for size, data in pictures.items())
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


if __name__ == "__main__":
    main()
