"""Retention, for any table of checkpoints and any policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from core.checkpoints.best import best_of, lowest_loss_of
from core.checkpoints.retention import Rules, checkpoints_to_delete, reasons_to_keep
from core.domain.checkpoint_info import CheckpointInfo
from tests.core.storage.samples import checkpoint

REASONS = st.sampled_from(["periodic", "periodic", "exit", "manual", "change"])
NOTES = st.sampled_from(["", "", "the good one"])
HEALTH = st.sampled_from([None, "healthy", "diverged"])
SCORES = st.none() | st.sampled_from([0.0, -0.1, 0.2, 0.2, 0.5]) | st.floats()


@st.composite
def tables(draw: st.DrawFn) -> list[CheckpointInfo]:
    """Newest first, as `CheckpointRows.list` gives them."""
    flag = st.booleans()
    parts = draw(st.lists(st.tuples(SCORES, SCORES, flag, flag, REASONS, NOTES, HEALTH), max_size=12))
    tagged = draw(st.integers(-1, 11))
    oldest_first = [
        replace(
            checkpoint("run", number, skill=skill, loss=loss, is_pinned=is_pinned and number % 3 == 0),
            is_known_good=is_good,
            reason=reason,
            note=note,
            health=health,
            tags=("kept",) if number == tagged else (),
        )
        for number, (skill, loss, is_pinned, is_good, reason, note, health) in enumerate(parts)
    ]
    return oldest_first[::-1]


KEEP = st.integers(0, 6)
RULES = st.builds(Rules, KEEP, KEEP, st.sampled_from([0, 0, 1, 15, 40]), st.sampled_from([0, 0, 1, 30]))
IDS = st.integers(0, 11).map(lambda number: f"run-{number}")
IN_USE = st.sets(IDS, max_size=2)


@given(tables(), RULES, st.integers(0, 12 * 60_000) | st.integers(0, 10**9), IN_USE, st.none() | IDS)
def test_checkpoints_are_kept_for_exactly_the_documented_reasons(
    table: list[CheckpointInfo], rules: Rules, now_ms: int, in_use: set[str], offered: str | None
) -> None:
    deleted = checkpoints_to_delete(table, rules, now_ms, in_use, offered)
    keep_newest, keep_best, every, hours = astuple(rules)
    kept_for = reasons_to_keep(table, rules, now_ms, in_use, offered)
    good = [info for info in table if info.is_known_good]
    before_change = next((info for info in good if info.reason == "change" and info.health != "diverged"), None)
    for place, info in enumerate(table):
        reasons = (
            place < max(1, keep_newest),
            rank(table, info) < max(1, keep_best),
            has_lowest_loss(table, info),
            info.is_pinned,
            info.reason == "manual",
            bool(info.note),
            good[:1] == [info],
            healthier(table, info, offered) < max(1, keep_newest),
            info is before_change,
            info.checkpoint_id == offered,
            info.checkpoint_id in in_use,
            bool(info.tags),
            every > 0 and not any(older.step // every == info.step // every for older in table[place + 1 :]),
            hours > 0 and now_ms - info.created_at_ms < hours * 3_600_000,
        )
        assert bool(kept_for[info.checkpoint_id]) == any(reasons)
        assert (info.checkpoint_id in deleted) == (not any(reasons))


def healthier(table: Sequence[CheckpointInfo], info: CheckpointInfo, offered: str | None) -> float:
    """Its rank among healthy checkpoints; infinite if it is not known good."""
    places = {each.checkpoint_id: place for place, each in enumerate(table)}

    def order(each: CheckpointInfo) -> tuple[bool, bool, int]:
        place = places[each.checkpoint_id]
        is_gone_back_from = place < places.get(offered or "", 0)
        return is_gone_back_from or each.health == "diverged", each.health != "healthy", place

    if not info.is_known_good:
        return float("inf")
    return sum(each.is_known_good and order(each) < order(info) for each in table)


def rank(table: Sequence[CheckpointInfo], info: CheckpointInfo) -> float:
    """How many are better: a higher skill, or the same and newer. One without a finite skill has no rank."""
    table = sound(table)
    if info.skill is None or not isfinite(info.skill) or info not in table:
        return float("inf")
    place = table.index(info)
    return sum(
        other.skill is not None
        and isfinite(other.skill)
        and (other.skill > info.skill or (other.skill == info.skill and number < place))
        for number, other in enumerate(table)
    )


def sound(table: Sequence[CheckpointInfo]) -> list[CheckpointInfo]:
    return [info for info in table if info.is_known_good and info.health != "diverged"]


def has_lowest_loss(table: Sequence[CheckpointInfo], info: CheckpointInfo) -> bool:
    table = sound(table)
    if info.loss is None or not isfinite(info.loss) or info not in table:
        return False
    place = table.index(info)
    return not any(
        other.loss is not None and (other.loss < info.loss or (other.loss == info.loss and number < place))
        for number, other in enumerate(table)
        if other.loss is not None and isfinite(other.loss)
    )


@given(tables(), RULES, st.integers(0, 12 * 60_000))
def test_deleting_twice_deletes_no_more(table: list[CheckpointInfo], rules: Rules, now_ms: int) -> None:
    deleted = checkpoints_to_delete(table, rules, now_ms)
    left = [info for info in table if info.checkpoint_id not in deleted]
    assert checkpoints_to_delete(left, rules, now_ms) == ()
    assert best_of(left) == best_of(table)
    assert lowest_loss_of(left) == lowest_loss_of(table)


def test_a_diverged_checkpoint_displaces_no_healthy_one() -> None:
    """A checkpoint every ten steps: after fifty diverged ones, the one to restore must still exist."""
    sound = [checkpoint("run", number) for number in range(5)]
    diverged = [replace(checkpoint("run", number), health="diverged") for number in range(5, 50)]
    deleted = checkpoints_to_delete([*sound, *diverged][::-1], Rules(2, 1), 0)
    assert {"run-4", "run-3", "run-49", "run-48"}.isdisjoint(deleted) and len(deleted) == 46


def test_an_offered_checkpoint_is_kept_while_offered() -> None:
    """Healthy ones after it were saved while diverging: the doctor needs a few steps to detect it."""
    healthy = [replace(checkpoint("run", number), health="healthy") for number in range(8)]
    table = [*healthy, *[replace(checkpoint("run", number), health="diverged") for number in range(8, 20)]][::-1]
    kept = set(reasons_to_keep(table, Rules(2, 1), 0, offered="run-3")) - {
        *checkpoints_to_delete(table, Rules(2, 1), 0, offered="run-3")
    }
    assert kept == {"run-19", "run-18", "run-3", "run-2"}
    assert "run-3" in checkpoints_to_delete(table, Rules(2, 1), 0)


def test_healthy_checkpoints_are_kept_before_unknown_and_diverged_ones() -> None:
    """A reported case: after a restore of step 74 the clean-up deleted it and kept the diverged step 80."""
    healths = ["healthy", "too early to tell", "too early to tell", "diverged", "diverged", "too early to tell"]
    table = [
        replace(checkpoint("run", number, skill=0.1 * number if health == "diverged" else None), health=health)
        for number, health in enumerate(healths)
    ][::-1]
    assert checkpoints_to_delete(table, Rules(1, 1), 0) == ("run-1", "run-2", "run-3", "run-4")
    assert best_of(table) is None, "a wreck is no best one"


def test_the_best_is_kept_despite_higher_scores_of_harmful_ones() -> None:
    table = [checkpoint("run", number, skill=0.1 * number) for number in range(6)]
    gains = [0.01 if number == 1 else -0.01 for number in range(6)]
    table = [
        replace(info, model_gain=gain, gain_low=gain - 0.005, gain_high=gain + 0.005)
        for info, gain in zip(table, gains, strict=True)
    ][::-1]
    assert best_of(table) == table[4]
    assert set(checkpoints_to_delete(table, Rules(1, 1), 0)).isdisjoint({"run-1", "run-5"})


def test_the_checkpoint_before_the_newest_setting_change_is_kept() -> None:
    table = [replace(checkpoint("run", number), health="too early to tell") for number in range(9)]
    table[2], table[4] = replace(table[2], reason="change"), replace(table[4], reason="change")
    assert checkpoints_to_delete(table[::-1], Rules(2, 1), 0) == ("run-0", "run-1", "run-2", "run-3", "run-5", "run-6")


def test_the_oldest_are_deleted_first() -> None:
    table = [checkpoint("run", number) for number in range(5)][::-1]
    assert checkpoints_to_delete(table, Rules(2, 1), 0) == ("run-0", "run-1", "run-2")


def test_recent_checkpoints_are_kept_for_their_hours() -> None:
    table = [checkpoint("run", number) for number in range(3)][::-1]
    oldest, rules = table[-1], Rules(1, 1, keep_hours=30)
    ends_ms = oldest.created_at_ms + 30 * 60 * 60 * 1000
    assert checkpoints_to_delete(table, rules, ends_ms - 1) == ()
    assert checkpoints_to_delete(table, rules, ends_ms) == (oldest.checkpoint_id,)


def test_without_checkpoints_nothing_is_deleted() -> None:
    assert checkpoints_to_delete([], Rules(1, 1), 0, in_use=["run-1"]) == ()
    assert best_of([]) is lowest_loss_of([]) is None


def test_each_reason_names_its_rule() -> None:
    """Regression: healthy checkpoints far behind the newest were said to be among the newest."""
    healths = ["too early to tell", "healthy", "healthy", "diverged", "diverged", "diverged", "diverged"]
    table = [replace(checkpoint("run", number), health=health) for number, health in enumerate(healths)][::-1]
    table[0] = replace(table[0], is_in_use=True)
    kept_for = reasons_to_keep(table, Rules(2, 1), 0, in_use=["run-4"])
    assert kept_for == {
        "run-6": ("in use", "among the newest"),
        "run-5": ("among the newest",),
        "run-4": ("open in the window",),
        "run-3": (),
        "run-2": ("among the newest healthy",),
        "run-1": ("among the newest healthy",),
        "run-0": (),
    }
    assert reasons_to_keep(table, Rules(3, 1), 0)["run-0"] == ("too few healthy ones",)
    bad = [replace(info, is_known_good=number > 2, health=None) for number, info in enumerate(table)]
    assert reasons_to_keep(bad, Rules(1, 1), 0)["run-3"] == ("newest known good", "too few healthy ones")
