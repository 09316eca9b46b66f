"""The tolerance accepts rasteriser noise, but no move by a pixel."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from desktop.ui.theme import build_palette
from tests.golden.comparison import (
    TOLERATED_LEVEL,
    TOLERATED_SHARE,
    Pixels,
    compare,
    difference_picture,
    pixels_of,
    read,
)
from tests.golden.render import file_name
from tests.golden.review import EXPECTED, SCALES

PALETTE = build_palette(True, "green-red")
_SHORTEST_PX = 2
"""Logical pixels of a wick beyond its body; shorter ones hardly count."""


def candles(scale: float) -> Pixels:
    return read(EXPECTED / file_name("candles-dark", scale))


def rgb(colour: QColor) -> tuple[int, int, int]:
    return (colour.red(), colour.green(), colour.blue())


def wicks(picture: Pixels, colour: QColor, width: int) -> list[tuple[int, slice]]:
    """Left column and rows of each vertical line of this colour that is `width` pixels wide."""
    inked = np.pad((picture == rgb(colour)).all(axis=2), 1)
    middle = inked[1:-1, 1:-1]
    lines = middle & ~inked[1:-1, :-2]
    for offset in range(width):
        lines &= np.roll(middle, -offset, axis=1)
    lines &= ~np.roll(middle, -width, axis=1)
    return [(column, rows) for column in range(lines.shape[1]) for rows in runs(lines[:, column])]


def runs(marked: NDArray[np.bool_]) -> list[slice]:
    """The ranges in which all are marked."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def moved_right(picture: Pixels, column: int, rows: slice, width: int) -> tuple[Pixels, Pixels]:
    """The line and its background, and both with the line one pixel further right, with the background in its former
    place."""
    around = picture[rows, column - 1 : column + width + 1]
    moved = around.copy()
    moved[:, width + 1] = around[:, 1]
    moved[:, 1] = around[:, 0]
    return around, moved


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("colour", [PALETTE.up, PALETTE.down], ids=["up", "down"])
def test_no_wick_may_move_by_one_pixel(scale: float, colour: QColor) -> None:
    picture, width = candles(scale), int(scale)
    found = [
        (column, rows)
        for column, rows in wicks(picture, colour, width)
        if rows.stop - rows.start >= _SHORTEST_PX * scale and 0 < column < picture.shape[1] - width
    ]
    assert len(found) > 15
    size = picture.shape[0] * picture.shape[1]
    for column, rows in found:  # compared separately: the rest of the picture is the same
        differing = compare(*moved_right(picture, column, rows, width)).pixels
        assert differing / size > TOLERATED_SHARE, (column, rows)


def test_no_wick_may_be_a_pixel_longer() -> None:
    picture = candles(1.0)
    column, rows = max(wicks(picture, PALETTE.up, 1), key=lambda wick: wick[1].stop - wick[1].start)
    longer = picture.copy()
    longer[rows.start - 1, column] = rgb(PALETTE.up)
    assert not compare(picture, longer).is_tolerated


def test_no_grid_line_may_move_by_one_pixel() -> None:
    picture = candles(1.0)
    grid = (picture == rgb(PALETTE.grid)).all(axis=2).sum(axis=1)
    row = int(grid.argmax())
    assert grid[row] > 200
    moved = picture.copy()
    moved[[row, row + 1]] = moved[[row + 1, row]]
    assert not compare(picture, moved).is_tolerated


def test_noise_of_a_rasteriser_is_tolerated() -> None:
    picture = candles(1.0)
    noise = np.random.default_rng(1).integers(-TOLERATED_LEVEL, TOLERATED_LEVEL + 1, picture.shape)
    noisy = np.clip(picture.astype(int) + noise, 0, 255).astype(np.uint8)
    difference = compare(picture, noisy)
    assert difference.is_tolerated and 0 < difference.largest <= TOLERATED_LEVEL


def test_pictures_of_different_sizes_differ() -> None:
    picture = candles(1.0)
    assert not compare(picture, picture[:-1]).is_tolerated
    assert difference_picture(picture, picture[:-1]).shape == picture[:-1].shape


def test_the_difference_picture_marks_the_place() -> None:
    picture = candles(1.0)
    changed = picture.copy()
    changed[40:50, 60:70] = 255
    shown = (difference_picture(picture, changed) == (255, 0, 255)).all(axis=2)
    assert shown[40:50, 60:70].all() and shown.sum() == 100


def test_reading_returns_the_painted_picture_and_refuses_other_files() -> None:
    image_path = EXPECTED / file_name("candles-dark", 1.0)
    assert np.array_equal(read(image_path), pixels_of(QImage(str(image_path))))
    with pytest.raises(ValueError, match="could not be read"):
        read(EXPECTED.parent / "comparison.py")
    with pytest.raises(FileNotFoundError, match="is not there"):
        read(EXPECTED / "nothing.png")
