"""The README's moving picture: an animated PNG of the real window while candles close and ghosts move ahead of them."""

from __future__ import annotations

import asyncio
import dataclasses
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.layouts.arrangements import Arrangement
from tests.support.picture_names import MOVING

FRAMES = 14
SIZE = (1120, 630)
_ZOOM = 1.6
_ARRANGEMENT = Arrangement(right=(((ActionId.SHOW_LOSS,), 0.42), ((ActionId.SHOW_ACCURACY,), 0.58)))
_DELAY_MS = 600
_LAST_DELAY_MS = 1_800
_TIMEOUT_S = 60.0
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


async def shoot(application: Application, folder: Path) -> None:
    """One frame a closed candle, once the model's forecast from that candle is on the chart."""
    window, chart = application.window, application.chart
    appearance = dataclasses.replace(application.settings.current.appearance, theme="dark")
    application.settings.change(dataclasses.replace(application.settings.current, appearance=appearance))
    window.arrange(_ARRANGEMENT)
    window.resize(*SIZE)
    chart.zoom(_ZOOM)
    await asyncio.sleep(0.8)
    frames: list[QImage] = []
    last_ms = 0
    async with asyncio.timeout(_TIMEOUT_S):
        while len(frames) < FRAMES:
            newest_ms = _forecast_candle(application)
            if newest_ms > last_ms:
                last_ms = newest_ms
                frames.append(window.grab().toImage())
            await asyncio.sleep(0.02)
    (folder / MOVING).write_bytes(animated_png(frames))
    chart.reset_view()
    window.reset_layout()


def _forecast_candle(application: Application) -> int:
    """The open time of the newest candle if the forecast on the chart was made from it, else 0."""
    forecast, series = application.chart.model.forecast, application.series
    if forecast is None or series is None or forecast.is_by_simple_rules:
        return 0
    newest_ms = series[len(series) - 1].open_time_ms
    return newest_ms if forecast.origin_open_time_ms == newest_ms else 0


def animated_png(frames: Sequence[QImage]) -> bytes:
    """Frames of one size in at most 255 colours. Later ones store only the rectangle that changed."""
    palette, indices = _indexed(np.stack([_pixels(frame) for frame in frames]))
    height, width = indices.shape[1:]
    chunks = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        _chunk(b"acTL", struct.pack(">II", len(frames), 0)),
        _chunk(b"PLTE", palette.tobytes()),
        _chunk(b"tRNS", b"\0"),  # index 0 is transparent: pixels that did not change
        *_frame_chunks(indices),
        _chunk(b"IEND", b""),
    ]
    return _SIGNATURE + b"".join(chunks)


def _pixels(frame: QImage) -> np.ndarray:
    image = frame.convertToFormat(QImage.Format.Format_RGB32)
    packed = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return packed[:, : image.width()] & 0xFFFFFF


def _indexed(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Palette of shape (256, 3) and indices from 1: the commonest colours, others by their nearest."""
    colours, inverse, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    rgb = np.stack([colours >> 16, colours >> 8 & 0xFF, colours & 0xFF], axis=1).astype(np.int32)
    chosen = np.sort(np.argsort(counts)[-255:])
    distances = ((rgb[:, None, :] - rgb[None, chosen, :]) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1).astype(np.uint8) + 1
    palette = np.zeros((256, 3), np.uint8)
    palette[1 : len(chosen) + 1] = rgb[chosen]
    return palette, nearest[inverse].reshape(pixels.shape)


def _frame_chunks(indices: np.ndarray) -> Iterator[bytes]:
    sequence = 0
    for number, frame in enumerate(indices):
        changed = np.ones(frame.shape, bool) if number == 0 else frame != indices[number - 1]
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        top, bottom = (rows[0], rows[-1] + 1) if len(rows) else (0, 1)
        left, right = (columns[0], columns[-1] + 1) if len(columns) else (0, 1)
        delay_ms = _LAST_DELAY_MS if number == len(indices) - 1 else _DELAY_MS
        place = struct.pack(">IIII", right - left, bottom - top, left, top)
        yield _chunk(b"fcTL", struct.pack(">I", sequence) + place + struct.pack(">HHBB", delay_ms, 1000, 0, 1))
        part = np.where(changed, frame, 0)[top:bottom, left:right].astype(np.uint8)
        data = zlib.compress(np.pad(part, ((0, 0), (1, 0))).tobytes(), 9)  # filter 0 before each row
        sequence += 1
        if number == 0:
            yield _chunk(b"IDAT", data)
        else:
            yield _chunk(b"fdAT", struct.pack(">I", sequence) + data)
            sequence += 1


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
