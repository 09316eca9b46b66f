"""The difference of two pictures, and the tolerance.

The tolerance covers text and slanted lines: another rasteriser, or another processor's arithmetic, gives edges that
differ by a few levels of 255. (FreeType 2.12, 2.13 and 2.14 gave the same bytes for all scenes.) Everything else is
rectangles on whole device pixels, where the slightest move changes whole pixels from one colour to another: a tick of a
wick, or a faint grid line. So the level is small and the share of pixels beyond it next to none: at 640x400 not one, at
twice that scale three, fewer than in the shortest wick.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

TOLERATED_LEVEL = 8
"""Of 255, in any of red, green and blue. The faintest line, the grid on a dark background, differs by 12."""
TOLERATED_SHARE = 3e-6
"""Share of the pixels that may differ by more than that."""

Pixels = NDArray[np.uint8]
"""Shape (height, width, 3)."""


@dataclass(frozen=True)
class Difference:
    """pixels: number of pixels beyond the tolerated level; share: of all; largest: the largest difference of a channel.
    Pictures of two sizes differ in every pixel."""

    pixels: int
    share: float
    largest: int

    @property
    def is_tolerated(self) -> bool:
        return self.share <= TOLERATED_SHARE

    def __str__(self) -> str:
        return f"{self.pixels} pixels ({100 * self.share:.4f} %) differ, by up to {self.largest} of 255"


def read(path: Path) -> Pixels:
    """A picture from its file. Raises FileNotFoundError, or ValueError for an invalid file."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    image = QImage(str(path))
    if image.isNull():
        raise ValueError(f"{path} could not be read as a picture")
    return pixels_of(image)


def pixels_of(image: QImage) -> Pixels:
    """Red, green and blue of each pixel."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), dtype=np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()


def compare(expected: Pixels, actual: Pixels) -> Difference:
    """The difference between two pictures."""
    if expected.shape != actual.shape:
        return Difference(max(expected.size, actual.size) // 3, 1.0, 255)
    if np.array_equal(expected, actual):
        return Difference(0, 0.0, 0)
    apart = distance(expected, actual)
    beyond = int((apart > TOLERATED_LEVEL).sum())
    return Difference(beyond, beyond / apart.size, int(apart.max()))


def distance(expected: Pixels, actual: Pixels) -> NDArray[np.int16]:
    """For each pixel the largest difference of its channels."""
    return np.abs(expected.astype(np.int16) - actual.astype(np.int16)).max(axis=2)


def difference_picture(expected: Pixels, actual: Pixels) -> Pixels:
    """The actual picture, faint, with differences beyond the tolerated level in magenta and the others in yellow. For
    pictures of two sizes: their common part."""
    height, width = (min(expected.shape[side], actual.shape[side]) for side in (0, 1))
    expected, actual = expected[:height, :width], actual[:height, :width]
    apart = distance(expected, actual)
    shown = (96 + actual // 4).astype(np.uint8)
    shown[apart > 0] = (240, 220, 0)
    shown[apart > TOLERATED_LEVEL] = (255, 0, 255)
    return shown


def write(path: Path, pixels: Pixels) -> None:
    """Save as PNG. Raises OSError."""
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels)
    image = QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888)
    if not image.save(str(path), quality=0):
        raise OSError(f"{path} could not be written")
