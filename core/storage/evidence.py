"""The blocks of losses behind a run's proven results, as rows. A row with a wrong checksum counts as missing."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.domain.quantities import FloatArray
from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database

EVIDENCE_COLUMNS = ("kind", "block", "last_target_ms", "sums", "checksum")
_SHAPE = (3, 2)
_NUMBER = np.dtype("<f8")


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceBlock:
    """Sums of losses [3, close or range] over the candles of one full block."""

    kind: str
    number: int
    """From 0 on, of each kind."""
    last_target_ms: int
    sums: FloatArray


def evidence_row(block: EvidenceBlock) -> tuple[object, ...]:
    """In the order of EVIDENCE_COLUMNS."""
    packed = np.ascontiguousarray(block.sums, dtype=_NUMBER).tobytes()
    return block.kind, block.number, block.last_target_ms, packed, _checksum(block, packed)


def read_evidence(db: Database, run_id: str, until_ms: int) -> list[EvidenceBlock]:
    """The blocks of each kind up to this target, until the first missing or damaged one. Raises StorageError."""
    columns = ", ".join(EVIDENCE_COLUMNS)
    sql = f"SELECT {columns} FROM evidence WHERE run_id = ? AND last_target_ms <= ? ORDER BY kind, block"
    found: list[EvidenceBlock] = []
    expected: dict[str, int] = {}
    for row in select(db, sql, (run_id, until_ms)):
        block = _whole(row)
        if block is not None and block.number == expected.get(block.kind, 0):
            expected[block.kind] = block.number + 1
            found.append(block)
    return found


def _whole(row: Sequence[object]) -> EvidenceBlock | None:
    kind, number, last_target_ms, packed, checksum = row
    assert isinstance(number, int) and isinstance(last_target_ms, int) and isinstance(packed, bytes)
    if len(packed) != int(np.prod(_SHAPE)) * _NUMBER.itemsize:
        return None
    sums = np.frombuffer(packed, _NUMBER).reshape(_SHAPE).astype(np.float64)
    block = EvidenceBlock(str(kind), number, last_target_ms, sums)
    return block if checksum == _checksum(block, packed) else None


def _checksum(block: EvidenceBlock, packed: bytes) -> int:
    return zlib.crc32(f"{block.kind} {block.number} {block.last_target_ms}".encode() + packed)
