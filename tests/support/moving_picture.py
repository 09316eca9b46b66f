"""The README's moving picture, an animated WebP: the real window while candles close and ghosts move ahead."""

from __future__ import annotations

import asyncio
import dataclasses
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage

from desktop.app.composition import Application
from desktop.layouts.arrangements import WATCH
from tests.support.picture_names import MOVING

FRAMES = 14
SIZE = (1120, 630)
_ZOOM = 1.6
_DELAY_MS = 600
_LAST_DELAY_MS = 1_800
_TIMEOUT_S = 60.0
_LOSSLESS = 100
_HAS_ANIMATION = 0x02
_HAS_ALPHA = 0x10


async def shoot(application: Application, folder: Path) -> None:
    """One frame a closed candle, once the model's forecast from that candle is on the chart."""
    window, chart = application.window, application.chart
    appearance = dataclasses.replace(application.settings.current.appearance, theme="dark")
    application.settings.change(dataclasses.replace(application.settings.current, appearance=appearance))
    window.resize(*SIZE)
    window.arrange(WATCH)
    chart.zoom(_ZOOM)
    await asyncio.sleep(0.8)
    frames: list[QImage] = []
    last_ms = 0
    async with asyncio.timeout(_TIMEOUT_S):
        while len(frames) < FRAMES:
            newest_ms = forecast_candle(application)
            if newest_ms > last_ms:
                last_ms = newest_ms
                frames.append(window.grab().toImage())
            await asyncio.sleep(0.02)
    (folder / MOVING).write_bytes(animated_webp(frames))
    chart.reset_view()
    window.reset_layout()


def forecast_candle(application: Application) -> int:
    """The open time of the newest candle if the forecast on the chart was made from it, else 0."""
    forecast, series = application.chart.model.forecast, application.series
    if forecast is None or series is None or forecast.is_by_simple_rules:
        return 0
    newest_ms = series[len(series) - 1].open_time_ms
    return newest_ms if forecast.origin_open_time_ms == newest_ms else 0


def animated_webp(frames: Sequence[QImage]) -> bytes:
    """Frames of one size in at most 255 colours. Later ones store only the rectangle that changed.

    Qt writes single WebP images only. The container of an animation is described at
    https://developers.google.com/speed/webp/docs/riff_container
    """
    palette, indices = _indexed(np.stack([_pixels(frame) for frame in frames]))
    height, width = indices.shape[1:]
    extended = struct.pack("<I", _HAS_ANIMATION | _HAS_ALPHA) + _three_bytes(width - 1) + _three_bytes(height - 1)
    chunks = [
        _chunk(b"VP8X", extended),
        _chunk(b"ANIM", struct.pack("<IH", 0, 0)),  # the colour behind the frames; repeated for ever
        *(_chunk(b"ANMF", part) for part in _frame_parts(palette, indices)),
    ]
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _pixels(frame: QImage) -> np.ndarray:
    image = frame.convertToFormat(QImage.Format.Format_RGB32)
    packed = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return packed[:, : image.width()] & 0xFFFFFF


def _indexed(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Palette of 256 ARGB colours and indices from 1: the commonest colours, others by their nearest."""
    colours, inverse, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    rgb = np.stack([colours >> 16, colours >> 8 & 0xFF, colours & 0xFF], axis=1).astype(np.int32)
    chosen = np.sort(np.argsort(counts)[-255:])
    distances = ((rgb[:, None, :] - rgb[None, chosen, :]) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1).astype(np.uint8) + 1
    palette = np.zeros(256, np.uint32)  # index 0 is transparent: pixels that did not change
    palette[1 : len(chosen) + 1] = colours[chosen] | 0xFF000000
    return palette, nearest[inverse].reshape(pixels.shape)


def _frame_parts(palette: np.ndarray, indices: np.ndarray) -> Iterator[bytes]:
    for number, frame in enumerate(indices):
        changed = np.ones(frame.shape, bool) if number == 0 else frame != indices[number - 1]
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        top, bottom = (rows[0] // 2 * 2, rows[-1] + 1) if len(rows) else (0, 1)
        left, right = (columns[0] // 2 * 2, columns[-1] + 1) if len(columns) else (0, 1)
        delay_ms = _LAST_DELAY_MS if number == len(indices) - 1 else _DELAY_MS
        # The container stores half of each place, so rectangles begin at even pixels.
        numbers = (left // 2, top // 2, right - left - 1, bottom - top - 1, delay_ms)
        part = np.where(changed, frame, 0)[top:bottom, left:right]
        yield b"".join(map(_three_bytes, numbers)) + b"\0" + _image_chunk(palette[part])


def _image_chunk(pixels: np.ndarray) -> bytes:
    """The one chunk of a simple WebP file, without the header around it."""
    height, width = pixels.shape
    image = QImage(np.ascontiguousarray(pixels).tobytes(), width, height, 4 * width, QImage.Format.Format_ARGB32)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, "WEBP", _LOSSLESS)
    return bytes(buffer.data().data())[12:]


def _three_bytes(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
