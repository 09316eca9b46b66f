"""Sample catalogs, large and small."""

from __future__ import annotations

import numpy as np

from core.checkpoints.catalog import Catalog
from core.checkpoints.row import CheckpointRow
from core.domain.checkpoint_info import CheckpointInfo

MINUTE_MS = 60_000
DAY_MS = 86_400_000
NOW_MS = 1_795_234_567_000


def kept(number: int, run: str = "run-1", **changes: object) -> CheckpointRow:
    """The number is its sequence; ten steps apart."""
    fields: dict[str, object] = {
        "checkpoint_id": f"{run}-{number:06d}",
        "run_id": run,
        "step": number * 10,
        "candle_open_time_ms": NOW_MS - DAY_MS + number * MINUTE_MS,
        "created_at_ms": NOW_MS - DAY_MS + number * MINUTE_MS + 500,
        "reason": "periodic",
        "skill": None,
        "skill_low": None,
        "skill_high": None,
        "scored": number,
        "loss": None,
        "file": f"models/transformer/{run}/{number}.safetensors",
        "size_bytes": 1_431_552,
        "sha256": f"{number:064x}",
        "parent_id": None,
    }
    return CheckpointRow(CheckpointInfo(**(fields | changes)), "binance", "BTC/USDT", MINUTE_MS, number)  # type: ignore[arg-type]


def catalog(*rows: CheckpointRow) -> Catalog:
    made = Catalog()
    made.put(rows)
    return made


def many(count: int, seed: int = 7) -> Catalog:
    """Different wherever they can be; every tenth without a skill."""
    generator = np.random.default_rng(seed)
    skills, losses = generator.normal(0.0, 0.01, count), generator.gamma(4.0, 0.1, count)
    made = Catalog()
    made.put(
        kept(
            number,
            f"2026-{number // 2_000:04d}",
            skill=None if number % 10 == 0 else float(skills[number]),
            loss=float(losses[number]),
            note=f"note {number}" if number % 50 == 0 else "",
            tags=("kept",) if number % 7 == 0 else (),
            health=("healthy", "always clipping")[number % 2],
            parent_id=f"parent-{number}",
        )
        for number in range(count)
    )
    return made
