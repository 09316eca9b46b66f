"""`bench browser` over a few checkpoints."""

from __future__ import annotations

from pathlib import Path

from tests.support import commands


def test_every_filter_and_sort_is_measured(tmp_path: Path) -> None:
    answer = commands.invoke_json("bench", "browser", "--rows", "1200", "--data-dir", str(tmp_path))
    assert answer["rows"] == 1_200
    for kind in ("filter_ms", "sort_ms"):
        assert len(answer[kind]) >= 4
        for figures in answer[kind].values():
            assert figures["cpu"] > 0.0 and 0.0 < figures["median"] <= figures["worst"]
    assert answer["page_ms"]["worst"] > 0.0
