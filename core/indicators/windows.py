"""Means and sums of squares of sliding windows, without the cancellation of running sums.

Windows of 1, 2, 4, ... values are made from pairs of the next smaller ones (Chan, Golub and LeVeque, 1979: updating
formulae for sample variances), and the wanted one from those that its length is the sum of. It takes O(N log period);
a window's result depends on its own values alone, bit by bit, and that of equal values is exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_PIECE = 16_384
"""So many windows at once stay in the processor's cache."""


def window_means(values: FloatArray, period: int) -> FloatArray:
    """The mean of each whole window: [n - period + 1], none where there are fewer values than `period`."""
    results = np.empty(max(0, values.size - period + 1))
    for piece in _pieces(results.size):
        results[piece] = _means(values[piece.start : piece.stop + period - 1], period)
    return results


def window_means_and_squares(values: FloatArray, period: int) -> tuple[FloatArray, FloatArray]:
    """The same means, and the sums of squared distances from them: [n - period + 1] each."""
    means, squares = (np.empty(max(0, values.size - period + 1)) for _ in range(2))
    for piece in _pieces(means.size):
        means[piece], squares[piece] = _moments(values[piece.start : piece.stop + period - 1], period)
    return means, squares


def _pieces(count: int) -> Iterator[slice]:
    for start in range(0, count, _PIECE):
        yield slice(start, min(start + _PIECE, count))


def _means(values: FloatArray, period: int) -> FloatArray:
    count, width, done = values.size - period + 1, 1, 0
    result, means = np.empty(0), values
    while True:
        if period & width:
            part = means[done : done + count]
            result = part if done == 0 else result + (part - result) * (width / (done + width))
            done += width
        if done == period:
            return result
        means = means[:-width] + (means[width:] - means[:-width]) * 0.5
        width *= 2


def _moments(values: FloatArray, period: int) -> tuple[FloatArray, FloatArray]:
    count, width, done = values.size - period + 1, 1, 0
    result, result_squares = np.empty(0), np.empty(0)
    means, squares = values, np.zeros(values.size)
    while True:
        if period & width:
            part, part_squares = means[done : done + count], squares[done : done + count]
            if done == 0:
                result, result_squares = part, part_squares
            else:
                apart, share = part - result, width / (done + width)
                result = result + apart * share
                result_squares = result_squares + part_squares + apart * apart * (done * share)
            done += width
        if done == period:
            return result, result_squares
        apart = means[width:] - means[:-width]
        means = means[:-width] + apart * 0.5
        squares = squares[:-width] + squares[width:] + apart * apart * (0.5 * width)
        width *= 2
