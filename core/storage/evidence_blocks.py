"""The blocks of sums behind a run's proven results, as rows. A row with a wrong checksum counts as missing.

What the chances of prices have learned from outcomes is stored likewise, under other kinds.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database

EVIDENCE_COLUMNS = ("kind", "block", "last_target_ms", "sums", "checksum")
OWN, ONLINE = "own", "online"
"""Kinds of blocks: losses of the run's own forecasts, and of the model against the reference model."""
COMBINATION = "combination"
"""The kind of the combination's blocks, and its name among the experts'."""
_EXPERT = "expert "
_TOUCHED = "touched within "
_SHAPE = (3, 2)
_NUMBER = np.dtype("<f8")
_COLUMNS = ", ".join(EVIDENCE_COLUMNS)
_OF_EXPERTS = f"run_id = ? AND (kind = '{COMBINATION}' OR kind GLOB '{_EXPERT}*')"


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceBlock:
    """Sums [3, 2] over the candles of one full block: losses [3, close or range]; see `ExpertSums` for one expert's.
    For chances of a touch: the mean of a `ChanceCorrection`, and its precision."""

    kind: str
    number: int
    """Numbered from 0 for each kind; for the chance of a touch any ascending numbers."""
    last_target_ms: int
    sums: FloatArray


def evidence_row(block: EvidenceBlock) -> tuple[object, ...]:
    packed = np.ascontiguousarray(block.sums, dtype=_NUMBER).tobytes()
    return block.kind, block.number, block.last_target_ms, packed, _checksum(block, packed)


@dataclass(frozen=True, slots=True, eq=False)
class ExpertSums:
    """Losses and hits of one expert, one candle ahead: sums over B blocks of candles, in time order.

    last_target_ms: [B]. sums: [B, 3, 2]: losses of close and range; closes inside the 90 % band, and candles of which
    that is known; directions that were right, and candles with a direction.
    """

    last_target_ms: NDArray[np.int64]
    sums: FloatArray


def expert_kind(name: str) -> str:
    return _EXPERT + name


def touch_kind(within: int) -> str:
    """The kind of the blocks about the chance that a price is touched within this many candles."""
    return f"{_TOUCHED}{within}"


def newest_block(db: Database, run_id: str, kind: str, before_ms: int, most_number: int) -> EvidenceBlock | None:
    """The newest whole block of this kind whose last target opened before this time; most_number: an upper bound of its
    number, which keeps the search short. Raises StorageError."""
    sql = (
        f"SELECT {_COLUMNS} FROM evidence WHERE run_id = ? AND kind = ? AND block <= ? AND last_target_ms < ? "
        "ORDER BY block DESC LIMIT 3"
    )
    rows = select(db, sql, (run_id, kind, most_number, before_ms))
    return next((block for block in map(_intact_block, rows) if block is not None), None)


def read_evidence(db: Database, run_id: str, until_ms: int, kinds: Sequence[str]) -> list[EvidenceBlock]:
    """The blocks of each kind up to this target, until the first missing or damaged one. Raises StorageError."""
    sql = f"SELECT {_COLUMNS} FROM evidence WHERE run_id = ? AND kind = ? AND last_target_ms <= ? ORDER BY block"
    found: list[EvidenceBlock] = []
    for kind in kinds:
        for number, row in enumerate(select(db, sql, (run_id, kind, until_ms))):
            block = _intact_block(row)
            if block is None or block.number != number:
                break
            found.append(block)
    return found


def last_expert_blocks(db: Database, run_id: str, until_ms: int) -> dict[str, tuple[int, int]]:
    """The number and last target of the newest block up to this target, of each expert's kind. Raises StorageError."""
    sql = f"SELECT kind, MAX(block), MAX(last_target_ms) FROM evidence WHERE {_OF_EXPERTS} AND last_target_ms <= ? "
    rows = select(db, f"{sql} GROUP BY kind", (run_id, until_ms))
    return {str(kind): (int(number), int(last_target_ms)) for kind, number, last_target_ms in rows}


def read_expert_sums(db: Database, run_id: str, after_ms: int) -> Mapping[str, ExpertSums]:
    """The full blocks with targets after `after_ms`, by the expert's name, including COMBINATION. Raises
    StorageError."""
    sql = f"SELECT {_COLUMNS} FROM evidence WHERE {_OF_EXPERTS} AND last_target_ms > ? ORDER BY kind, block"
    found: dict[str, list[EvidenceBlock]] = {}
    for block in map(_intact_block, select(db, sql, (run_id, after_ms))):
        if block is not None:
            found.setdefault(block.kind.removeprefix(_EXPERT), []).append(block)
    sums: dict[str, ExpertSums] = {}
    for name, blocks in found.items():
        last = np.array([block.last_target_ms for block in blocks], dtype=np.int64)
        sums[name] = ExpertSums(last, np.stack([block.sums for block in blocks]))
    return sums


def _intact_block(row: Sequence[object]) -> EvidenceBlock | None:
    kind, number, last_target_ms, packed, checksum = row
    assert isinstance(number, int) and isinstance(last_target_ms, int) and isinstance(packed, bytes)
    if len(packed) != int(np.prod(_SHAPE)) * _NUMBER.itemsize:
        return None
    sums = np.frombuffer(packed, _NUMBER).reshape(_SHAPE).astype(np.float64)
    block = EvidenceBlock(str(kind), number, last_target_ms, sums)
    return block if checksum == _checksum(block, packed) else None


def _checksum(block: EvidenceBlock, packed: bytes) -> int:
    return zlib.crc32(f"{block.kind} {block.number} {block.last_target_ms}".encode() + packed)
