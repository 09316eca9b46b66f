from __future__ import annotations

from core.checkpoints.compare import best_index, settings_side_by_side
from core.settings.tree import Settings, to_dict


def test_the_better_side_follows_the_metric() -> None:
    assert best_index("adds", (0.01, 0.02, None)) == 1
    assert best_index("loss", (0.3, 0.2)) == 1
    assert best_index("coverage", (0.97, 0.88, 0.5)) == 1, "nearest to what it promises"


def test_unknown_values_have_no_better_side() -> None:
    assert best_index("adds", (0.01, None)) is None
    assert best_index("adds", (0.02, 0.02)) is None
    assert best_index("adds", (None, None)) is None
    assert best_index("scored", (3, 4)) is None


def test_only_differing_settings_are_listed() -> None:
    one = to_dict(Settings())
    other = to_dict(Settings())
    other["training"]["learning_rate"] = 1e-3
    rows = settings_side_by_side([one, None, other])
    (row,) = (each for each in rows if each.differs)
    assert row.path == "training.learning_rate" and row.values == ("3e-05", None, "0.001")
    assert any(each.path == "model.width" and not each.differs for each in rows)


def test_a_setting_missing_in_one_version_is_no_difference() -> None:
    (row,) = settings_side_by_side([{"a": {"b": True}}, {}])
    assert row.path == "a.b" and row.values == ("yes", None) and not row.differs
