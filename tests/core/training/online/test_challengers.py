"""Further models beside the main one: judged and combined with it, and unable to change anything of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.challenger_sources import ChallengerError
from core.domain.events import Incident
from core.domain.incident_kinds import IncidentKind
from core.forecast.experts import MODEL, ExpertList, unpack_losses
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore, challenger_figures
from core.training.commands import SetPaused
from core.training.online.snapshot import pack, unpack_learned
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.core.training.online import chaotic
from tests.core.training.online.challenger_runs import (
    CANDLES,
    Result,
    is_unchanged,
    result_of,
    run_over,
    settings_with,
)
from tests.support.candles import random_walk

NAMES = ("gru", "tcn", "nlinear")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The model without challengers."""
    return run_over(tmp_path_factory.mktemp("alone"), rigs.SMALL)


@pytest.fixture(scope="module")
def challenged(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run_over(tmp_path_factory.mktemp("challenged"), settings_with(*NAMES))


def test_challengers_change_nothing_of_the_model(alone: Result, challenged: Result) -> None:
    assert is_unchanged(challenged, alone) and challenged.incidents == []
    assert challenged.digest != alone.digest, "they are part of what is shown"


def test_each_challenger_learns_and_is_scored_by_name(challenged: Result) -> None:
    rows = ExpertList(NAMES).loss_rows
    assert challenged.losses.shape[1] == len(rows) and rows[-4:-1] == NAMES
    of_each = challenged.losses[:, [rows.index(name) for name in NAMES], 0].T
    without = challenged.losses[:, 0, 0]
    for own in of_each:
        assert own[0] == pytest.approx(without[0]) and own[-1] != pytest.approx(without[-1])
    assert len({tuple(own) for own in of_each}) == len(NAMES)


def test_a_run_repeats_itself_also_if_it_was_killed(tmp_path: Path, challenged: Result) -> None:
    settings = settings_with(*NAMES)
    session = rigs.service(tmp_path, settings)
    rigs.feed(session, CANDLES[:34])
    session.close()  # as a kill leaves it: the newest checkpoint is some candles old
    session = rigs.service(tmp_path, settings)
    assert 0 < session._session.step < 33
    rigs.feed(session, rigs.after(session, len(CANDLES)))
    again = result_of(tmp_path, session)
    assert again.digest == challenged.digest
    np.testing.assert_array_equal(again.losses, challenged.losses)
    assert all(bool((again.model[name] == tensor).all()) for name, tensor in challenged.model.items())


def chaos(name: str) -> str:
    return f"{chaotic.__file__}:{name}"


@pytest.mark.parametrize("name", ["Chaotic", "Hopeless", "Poisoned"])
def test_a_challenger_that_fails_changes_nothing_of_the_model(tmp_path: Path, alone: Result, name: str) -> None:
    broken = run_over(tmp_path, settings_with(chaos(name)))
    assert is_unchanged(broken, alone)
    assert broken.incidents and all(f"The challenger {name}" in sentence for sentence in broken.incidents)
    assert len(broken.incidents) <= 6, "each episode is reported once"
    if name == "Hopeless":
        assert "keeps failing: RuntimeError: never again" in broken.incidents[-1], "it is suspended"
        np.testing.assert_array_equal(broken.losses[5:, -2], broken.losses[5:, 0])


def test_a_sound_challenger_is_not_disturbed_by_others_not_even_by_a_broken_one(
    tmp_path: Path, challenged: Result
) -> None:
    both = run_over(tmp_path, settings_with(chaos("Chaotic"), NAMES[-1]))
    np.testing.assert_array_equal(both.losses[:, -2], challenged.losses[:, -2])


def test_a_second_transformer_is_scored_as_the_model_itself(tmp_path: Path) -> None:
    """The same seed, samples, anchors and schedule, on another path."""
    both = run_over(tmp_path, settings_with("transformer"))
    np.testing.assert_array_equal(both.losses[:, -2], both.losses[:, 1 + MODEL])


def test_random_numbers_of_a_challenger_repeat_and_reach_nobody_else(tmp_path: Path) -> None:
    """Also after a restart in between."""
    settings = settings_with(chaos("Drawing"))
    whole = run_over(tmp_path / "whole", settings, CANDLES[:35])
    before = torch.random.get_rng_state()
    session = rigs.service(tmp_path / "cut", settings)
    rigs.feed(session, CANDLES[:25])
    session.close()
    session = rigs.service(tmp_path / "cut", settings)
    rigs.feed(session, rigs.after(session, 35))
    assert result_of(tmp_path / "cut", session).digest == whole.digest
    assert torch.equal(torch.random.get_rng_state(), before)


def test_nothing_later_changes_a_forecast_of_a_challenger(tmp_path: Path, challenged: Result) -> None:
    changed = [
        replace(candle, close=candle.high, volume=7.0) if place > 30 else candle for place, candle in enumerate(CANDLES)
    ]
    other = run_over(tmp_path, settings_with(*NAMES), changed)
    np.testing.assert_array_equal(other.losses[:30], challenged.losses[:30])
    assert (other.losses[30] != challenged.losses[30]).any()


def test_suspended_ones_take_part_again_when_training_is_resumed(tmp_path: Path) -> None:
    session = rigs.service(tmp_path, settings_with("nlinear", "gru"))
    for challenger in session._session.challengers:
        challenger.is_suspended = True
    session.handle(SetPaused(True))
    session.handle(SetPaused(False))
    assert not any(challenger.is_suspended for challenger in session._session.challengers)
    session.close()


def test_a_checkpoint_without_challengers_lets_them_begin_new(tmp_path: Path, session_after: SessionAfter) -> None:
    """Of another run, as weights are restored from one."""
    before = session_after(tmp_path / "alone", 21)
    tensors, metadata = pack(before._session, rigs.SMALL.model)
    session = rigs.service(tmp_path / "challenged", settings_with("nlinear"))
    rigs.feed(session, CANDLES[:30])
    taught = session._session.challengers[0].state()[0]["model.head.weight"]
    assert taught.any()
    unpack_learned(session._session, tensors, metadata)
    assert not session._session.challengers[0].state()[0]["model.head.weight"].any()
    events = rigs.feed(session, CANDLES[30:33])
    assert not [event for event in events if isinstance(event, Incident)]
    before.close()
    session.close()


def test_a_checkpoint_of_another_architecture_is_refused_for_the_challenger_alone(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN.format(size=3))
    settings = settings_with(f"{own}:Own")
    session = rigs.service(tmp_path / "run", settings)
    rigs.feed(session, CANDLES[:25])
    step, session_run = session.status().step, session.status().run_id
    session.close()
    own.write_text(OWN.format(size=4))
    session = rigs.service(tmp_path / "run", settings)
    assert session.status().run_id == session_run and step - 10 < session.status().step <= step
    refused = [event for event in rigs.feed(session, rigs.after(session, 30)) if isinstance(event, Incident)]
    session.close()
    assert [event.kind for event in refused] == [IncidentKind.CHALLENGER_REFUSED]
    assert "the shapes of another architecture" in refused[0].what_happened


OWN = """
from models.nlinear import NLinear
from torch import zeros

class Own(NLinear):
    def __init__(self, shape):
        super().__init__(shape)
        self.register_buffer("table", zeros({size}))
"""


def test_a_run_is_not_begun_with_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(ChallengerError, match=r"There is no file .*own\.py"):
        rigs.service(tmp_path, settings_with(f"{tmp_path / 'own.py'}:Own"))
    with closing(open_database(DataFolder(tmp_path).database, readonly=True)) as db:
        assert RunStore(db).list() == []


def test_a_run_continues_without_a_model_that_is_gone_and_with_it_when_it_is_back(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN.format(size=3))
    settings = settings_with(f"{own}:Own")
    session = rigs.service(tmp_path / "run", settings)
    rigs.feed(session, CANDLES[:25])
    session.close()
    own.rename(tmp_path / "moved.py")
    session = rigs.service(tmp_path / "run", settings)
    taught = session._session.challengers[0].state()[0]["model.head.weight"]
    events = rigs.feed(session, rigs.after(session, 45))
    kinds = [event.kind for event in events if isinstance(event, Incident)]
    session.close()
    (tmp_path / "moved.py").rename(own)
    session = rigs.service(tmp_path / "run", settings)
    again = session._session.challengers[0].state()[0]["model.head.weight"]
    rigs.feed(session, rigs.after(session, 50))
    later = session._session.challengers[0].state()[0]["model.head.weight"]
    session.close()
    assert kinds == [IncidentKind.CHALLENGER_SUSPENDED]
    assert bool(taught.any()) and torch.equal(taught, again) and not torch.equal(again, later)


def test_a_class_that_has_changed_is_reported_and_one_that_was_moved_is_not(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN.format(size=3))
    session = rigs.service(tmp_path / "run", settings_with(f"{own}:Own"))
    rigs.feed(session, CANDLES[:25])
    session.close()
    moved = own.rename(tmp_path / "moved.py")
    found = []
    for text in (OWN.format(size=3), "# new\n" + OWN.format(size=3)):
        moved.write_text(text)
        session = rigs.service(tmp_path / "run", settings_with(f"{moved}:Own"))
        events = rigs.feed(session, rigs.after(session, 30))
        found.append([event.kind for event in events if isinstance(event, Incident)])
        session.close()
    assert found == [[], [IncidentKind.CHALLENGER_CHANGED]]


def test_runs_of_different_challengers_are_different_runs(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN.format(size=3))
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "own.py"
    moved.write_text(own.read_text())
    ids = []
    for challengers in ((), ("gru",), ("gru", "tcn"), (f"{own}:Own",), (f"{moved}:Own",), ()):
        session = rigs.service(tmp_path / "run", settings_with(*challengers))
        ids.append(session.status().run_id)
        with closing(open_database(DataFolder(tmp_path / "run").database, readonly=True)) as db:
            run = RunStore(db).get(ids[-1])
        session.close()
        assert run.challengers == tuple(each.rpartition(":")[2] for each in challengers)
    assert len(set(ids)) == 4 and ids[3] == ids[4] and ids[0] == ids[5], "a file may be moved"


def test_challengers_learn_several_markets_with_the_model(tmp_path: Path) -> None:
    walks = CANDLES[:25], random_walk(25, seed=9)
    found = []
    for challengers in ((), ("gru", "nlinear")):
        root = tmp_path / str(len(challengers))
        session = rigs.service_of_two(root, settings_with(*challengers))
        rigs.feed_two(session, *walks)
        own = [market.run_id for market in session._session.markets]
        weights = {name: tensor.clone() for name, tensor in session._session.engine.tensors().items()}
        session.close()
        with closing(open_database(DataFolder(root).database, readonly=True)) as db:
            assert [RunStore(db).get(run_id).challengers for run_id in own] == [challengers] * 2
            found.append(([list(RecordReader(db, run_id).scores()) for run_id in own], weights))
    (alone, weights), (challenged, same) = found
    assert all(torch.equal(tensor, same[name]) for name, tensor in weights.items())
    for scores, others in zip(alone, challenged, strict=True):
        for score, other in zip(scores, others, strict=True):
            losses, more = unpack_losses(score.expert_losses), unpack_losses(other.expert_losses)
            assert losses is not None and more is not None and len(more) == len(losses) + 3
            np.testing.assert_array_equal(losses, more[: len(losses)])


def test_the_work_of_each_is_counted(tmp_path: Path) -> None:
    run_over(tmp_path, settings_with("gru", "nlinear"), CANDLES[:20])
    with closing(open_database(DataFolder(tmp_path).database, readonly=True)) as db:
        found = challenger_figures(db, rigs.newest_run(db))
    assert list(found) == ["gru", "nlinear"] and all(of.cost_ms and of.cost_ms > 0.0 for of in found.values())
    assert {of.answered for of in found.values()} == {1.0}
