"""Files of JSON as they come: packed, in another encoding, with what JSON does not have."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.market.history.errors import CandleFileError
from tests.core.market.history.test_json_rows import CANDLES, ROWS, SHAPES, array, read

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zipped(text: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("candles.json", text)
    return packed.getvalue()


@pytest.mark.parametrize("shape", ["arrays", "columns", "a message a line"])
@pytest.mark.parametrize("packed", [gzip.compress, zipped, zstd.compress])
def test_packed(tmp_path: Path, shape: str, packed: Callable[[bytes], bytes]) -> None:
    assert read(tmp_path, packed(SHAPES[shape].encode()), "candles.json.bin") == CANDLES


@pytest.mark.parametrize("word", ["NaN", "Infinity"])
def test_what_pythons_json_writes_for_no_number(tmp_path: Path, word: str) -> None:
    """Getting the file again would not help."""
    text = json.dumps([array(row) for row in ROWS]).replace("1.2]", f"{word}]")
    with pytest.raises(CandleFileError, match="holds NaN or Infinity"):
        read(tmp_path, text)


def test_utf_16(tmp_path: Path) -> None:
    """As PowerShell redirects it."""
    with pytest.raises(CandleFileError, match="Save it again in UTF-8"):
        read(tmp_path, SHAPES["arrays"].encode("utf-16"))
