"""The model confidence set and the bound for the best of many, where our expectations of arch were wrong or matter."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from core.domain.quantities import FloatArray
from core.forecast.score import block_length
from core.sweeps.best_of_many import MOST_IN_A_SET, SIZE, ArchIsMissingError, Comparison, compare

pytest.importorskip("arch", reason="needs the library arch: pip install 'ghostcandle[sweeps]'")
CANDLES = 2_000


def in_set(found: Comparison) -> list[bool]:
    assert found.in_set is not None
    return list(map(bool, found.in_set))


def losses(edges: list[float], deviations: list[float], candles: int = CANDLES) -> FloatArray:
    """Column 0 is the default; each other loses less than it by its edge on average, with this deviation."""
    generator = np.random.default_rng(1)
    common = 1.0 + generator.standard_normal((candles, 1))
    own = generator.standard_normal((candles, len(edges))) * deviations
    return common + np.column_stack([np.zeros(candles), own - edges])


def test_a_restless_setting_does_not_hide_a_calm_one() -> None:
    """arch divides by no deviation, so that the noise of the second would drown the edge of the first."""
    found = compare(losses([0.02, 0.0], [0.1, 5.0]), default=0)
    assert found.any_better_p is not None and found.any_better_p <= SIZE


def test_a_bad_setting_does_not_hide_a_good_one() -> None:
    found = compare(losses([0.02, -3.0], [0.1, 1.0]), default=0)
    assert found.any_better_p is not None and found.any_better_p <= SIZE
    assert in_set(found) == [False, True, False]


def test_the_default_alone_can_be_the_best() -> None:
    found = compare(losses([-0.05, -0.1], [0.1, 0.1]), default=0)
    assert in_set(found) == [True, False, False]
    assert found.any_better_p is not None and found.any_better_p > SIZE


def test_settings_that_lose_exactly_the_same_stay_together() -> None:
    """arch raises an IndexError for them, and settings without an effect give the same bytes of forecasts."""
    different = losses([0.05, -0.1], [0.1, 0.1])
    found = compare(different[:, [0, 1, 1, 2, 0]], default=0)
    assert in_set(found) == [False, True, True, False, False]
    assert found.set_p is not None and found.set_p[1] == found.set_p[2]


def test_settings_without_any_effect_prove_nothing() -> None:
    found = compare(losses([], [])[:, [0, 0, 0]], default=0)
    assert all(in_set(found))
    assert found.any_better_p is None


def test_the_order_of_settings_does_not_matter() -> None:
    given = losses([0.004, 0.002, -0.01], [0.1, 0.2, 0.1])
    order = [2, 0, 3, 1]
    one, other = compare(given, default=0), compare(given[:, order], default=1)
    assert one.set_p is not None and other.set_p is not None
    assert one.set_p[order] == pytest.approx(other.set_p)
    assert one.any_better_p == other.any_better_p


def test_fewer_rows_give_the_same_answer_as_all_candles() -> None:
    """Rows are means of a few candles, so that arch does not take minutes. The losses have a memory."""
    from arch.bootstrap import SPA  # noqa: PLC0415 - it may be missing

    given = losses([0.003, 0.001, -0.002], [0.1, 0.1, 0.1], candles=4_003)
    given = given + np.roll(given, 1, axis=0) + np.roll(given, 2, axis=0)
    differences = given[:, 1:] - given[:, [0]]
    length = block_length(given.shape[0])
    test = SPA(np.zeros(given.shape[0]), differences, length, 1000, bootstrap="circular", seed=2)
    test.compute()
    assert compare(given, default=0).any_better_p == pytest.approx(test.pvalues["consistent"], abs=0.05)


def test_of_very_many_settings_no_set_is_determined_but_a_better_one_is_found() -> None:
    many = MOST_IN_A_SET
    found = compare(losses([0.1] + [0.0] * (many - 1), [0.1] * many, candles=400), default=0)
    assert found.set_p is None and found.in_set is None
    assert found.any_better_p is not None and found.any_better_p <= SIZE


def test_without_arch_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arch", None)
    with pytest.raises(ArchIsMissingError, match="pip install"):
        compare(losses([0.0], [1.0]), default=0)
