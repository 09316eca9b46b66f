"""The decompressed size of a Feather file is known before decompression."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.market.history.arrow import arrow_frames
from core.market.history.errors import CandleFileError
from core.market.history.source import LARGEST_BYTES

COLUMNS, ROWS = 10, 100_000


def test_a_feather_bomb_is_refused_before_decompression(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "bomb.feather"
    batch = pyarrow.record_batch(
        {f"column {number}": pyarrow.nulls(ROWS, pyarrow.float64()) for number in range(COLUMNS)}
    )
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(path, batch.schema, options=options) as file:
        for _ in range(LARGEST_BYTES // (COLUMNS * ROWS * 8) + 1):
            file.write_batch(batch)
    assert path.stat().st_size < 10_000_000
    with pytest.raises(CandleFileError, match="unpacks to more than 2 GiB"):
        next(arrow_frames(path, "feather", 1_000))
