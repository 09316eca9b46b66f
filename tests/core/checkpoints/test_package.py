"""Export and import of checkpoints: real and tampered ones."""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save
from sqlite_utils import Database

from core.checkpoints import package
from core.checkpoints.row import CheckpointRow
from core.checkpoints.weight_file import BadFileError, read_description, read_verified, verify
from core.domain.events import Incident
from core.storage.browsing import BrowsedRows
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.importing_checkpoints import import_package
from core.storage.runs import RunStore
from core.storage.setting_sets import settings_of
from core.training.commands import RestoreCheckpoint, SaveCheckpoint
from tests.core.training import rigs
from tests.support.candles import random_walk


@dataclass
class Exported:
    root: Path
    kept: CheckpointRow
    folder: Path
    settings: dict


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    root, into = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("out")
    session = rigs.service(root)
    rigs.feed(session, random_walk(15))
    session.handle(SaveCheckpoint())
    session.close()
    db = open_database(DataFolder(root).database)
    kept = BrowsedRows(db).page(None, 1)[0]
    CheckpointRows(db).set_name(kept.info.checkpoint_id, "The | good one")
    CheckpointRows(db).set_tags(kept.info.checkpoint_id, ["keep"])
    kept = BrowsedRows(db).page(None, 1)[0]
    assert kept.info.settings_id is not None
    stored = settings_of(db, kept.info.settings_id)
    db.close()
    assert stored is not None
    folder = package.export(kept, root / kept.info.file, stored, into)
    return Exported(root, kept, folder, stored)


@pytest.fixture
def copy(exported: Exported, tmp_path: Path) -> Path:
    target = tmp_path / exported.folder.name
    target.mkdir()
    for path in exported.folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


@pytest.fixture
def other(tmp_path: Path) -> tuple[Database, DataFolder]:
    folder = DataFolder(tmp_path / "other")
    folder.ensure()
    return open_database(folder.database), folder


def test_a_checkpoints_settings_are_stored_with_it(exported: Exported) -> None:
    assert exported.settings["model"]["width"] == rigs.SMALL.model.width
    assert exported.settings["training"]["learning_rate"] == rigs.SMALL.training.learning_rate


def test_the_package_is_described_for_programs_and_people(exported: Exported) -> None:
    assert {path.name for path in exported.folder.iterdir()} == {"weights.safetensors", "card.json", "README.md"}
    card = json.loads((exported.folder / "card.json").read_text())
    assert hashlib.sha256((exported.folder / "weights.safetensors").read_bytes()).hexdigest() == card["sha256"]
    text = (exported.folder / "README.md").read_text()
    assert "The / good one" in text.splitlines()[0] and f"| Steps | {exported.kept.info.step:,} |" in text
    assert "| Tags | keep |" in text and card["sha256"] in text


def test_neither_paths_nor_the_commands_of_challengers_are_exported(exported: Exported, tmp_path: Path) -> None:
    challengers = ["/home/me/own.py:Own", "kronos=process:python /home/me/kronos.py --key secret", "gru"]
    model, market = exported.settings["model"], exported.settings["market"]
    settings = exported.settings | {
        "model": model | {"challengers": challengers},
        "market": market | {"file": "/home/me/candles.csv"},
    }
    folder = package.export(exported.kept, exported.root / exported.kept.info.file, settings, tmp_path)
    card = json.loads((folder / "card.json").read_text())["settings"]
    assert card["model"]["challengers"] == ["Own", "kronos", "gru"] and card["market"]["file"] == "candles.csv"
    assert card["training"] == exported.settings["training"]
    text = (folder / "README.md").read_text()
    assert "secret" not in text and "/home" not in text and "kronos" in text


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"model": [1], "market": "x"}, {"model": [1], "market": "x"}),
        ({"model": {"challengers": [5, "/home/me/x", "gru"]}}, {"model": {"challengers": ["gru"]}}),
        ({"market": {"file": 3}}, {"market": {"file": 3}}),
    ],
)
def test_settings_of_an_imported_checkpoint_may_be_anything(
    exported: Exported, tmp_path: Path, settings: dict[str, Any], shown: dict[str, Any]
) -> None:
    folder = package.export(exported.kept, exported.root / exported.kept.info.file, settings, tmp_path)
    assert json.loads((folder / "card.json").read_text())["settings"] == shown


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_exported_files_follow_the_umask(exported: Exported, tmp_path: Path) -> None:
    plain, folder = tmp_path / "plain", tmp_path / "folder"
    plain.touch()
    folder.mkdir()
    assert {path.stat().st_mode for path in exported.folder.iterdir()} == {plain.stat().st_mode}
    assert exported.folder.stat().st_mode == folder.stat().st_mode


def test_the_card_table_escapes_any_symbol(exported: Exported, tmp_path: Path) -> None:
    odd = replace(exported.kept, symbol="A|B  | C")
    folder = package.export(odd, exported.root / odd.info.file, None, tmp_path)
    rows = [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("|")]
    assert len(rows) > 5 and {row.count("|") for row in rows} == {3}
    assert any("A/B / C" in row for row in rows)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.004, 0.034, "1.2 % (95 % interval 0.4 to 3.4), over 900 candles"),
        (-0.01, 0.034, "not proven (95 % interval -1 to 3.4), over 900 candles"),
        (None, None, "not proven, over 900 candles"),
    ],
)
def test_people_read_what_the_model_adds_if_that_is_proven(
    exported: Exported, tmp_path: Path, low: float | None, high: float | None, shown: str
) -> None:
    info = replace(exported.kept.info, model_gain=0.012, gain_low=low, gain_high=high, gain_candles=900)
    folder = package.export(replace(exported.kept, info=info), exported.root / info.file, None, tmp_path)
    assert f"| What the model adds to the ghosts | {shown} |" in (folder / "README.md").read_text()
    assert package.read(folder).card.gain_low == low


def test_a_package_is_imported_and_restored_in_another_folder(
    exported: Exported, other: tuple[Database, DataFolder]
) -> None:
    db, folder = other
    info = import_package(db, folder, package.read(exported.folder), 5_000)
    (kept,) = BrowsedRows(db).page(None, 10)
    assert kept.info.checkpoint_id == info.checkpoint_id and kept.info.run_id != exported.kept.info.run_id
    same = ("step", "skill", "loss", "coverage", "direction", "health", "device", "name", "tags", "sha256")
    assert all(getattr(kept.info, name) == getattr(exported.kept.info, name) for name in same)
    assert kept.info.verified_at_ms == 5_000 and kept.symbol == exported.kept.symbol
    assert settings_of(db, kept.info.settings_id or "") == exported.settings
    db.close()
    session = rigs.service(folder.root)
    assert session.status().run_id != kept.info.run_id, "an import starts a new run"
    rigs.feed(session, random_walk(3))
    events = session.handle(RestoreCheckpoint(kept.info.checkpoint_id))
    restored = [parameter.detach().clone() for parameter in session._session.engine.model.parameters()]
    session.close()
    assert [event.kind for event in events if isinstance(event, Incident)] == ["restored"]
    again = rigs.service(exported.root)
    again.handle(RestoreCheckpoint(exported.kept.info.checkpoint_id))
    assert all(torch.equal(a, b) for a, b in zip(restored, again._session.engine.model.parameters(), strict=True))
    again.close()


def test_an_imported_checkpoint_is_never_the_best_of_a_run(
    exported: Exported, other: tuple[Database, DataFolder]
) -> None:
    db, folder = other
    given = package.read(exported.folder)
    info = import_package(db, folder, replace(given, card=given.card.model_copy(update={"skill": 0.5})), 5_000)
    rows = CheckpointRows(db)
    found = rows.by_id(info.checkpoint_id)
    assert found is not None and found.skill == 0.5 and found.is_known_good and not found.is_best
    assert rows.best(info.run_id) is None
    db.close()


def test_a_checkpoint_of_several_markets_is_intact_exported_and_imported(
    tmp_path: Path, other: tuple[Database, DataFolder]
) -> None:
    session = rigs.service_of_two(tmp_path / "data")
    rigs.feed_two(session, random_walk(15), random_walk(15, seed=2))
    session.handle(SaveCheckpoint())
    session.close()
    with open_database(DataFolder(tmp_path / "data").database, readonly=True) as db:
        kept = BrowsedRows(db).page(None, 1)[0]
    file = tmp_path / "data" / kept.info.file
    assert verify(file, kept.info.sha256) == ""
    taken_into, folder = other
    exported = package.export(kept, file, None, tmp_path)
    assert f"{kept.symbol}, {rigs.OTHER.symbol}; " in (exported / "README.md").read_text()
    (named,) = package.read(exported).card.other_markets
    assert (named.venue, named.symbol) == (rigs.OTHER.venue, rigs.OTHER.symbol)
    taken = import_package(taken_into, folder, package.read(exported), 5_000)
    assert verify(folder.absolute(taken.file), taken.sha256) == ""
    taken_into.close()


def test_a_market_that_joined_later_is_not_one_of_the_checkpoint(tmp_path: Path) -> None:
    session = rigs.service_of_two(tmp_path)
    rigs.feed_two(session, random_walk(15), random_walk(15, seed=2))
    session.handle(SaveCheckpoint())
    session.close()
    third = replace(rigs.OTHER, symbol="SOL/USDT")
    with open_database(DataFolder(tmp_path).database) as db:
        info = BrowsedRows(db).page(None, 1)[0].info
        head = RunStore(db).get(info.run_id)
        RunStore(db).join(head, (third,), info.created_at_ms + 1)
        assert BrowsedRows(db).page(None, 1)[0].others == (rigs.OTHER,)


def test_importing_twice_is_refused(exported: Exported, other: tuple[Database, DataFolder]) -> None:
    db, folder = other
    found = package.read(exported.folder)
    import_package(db, folder, found, 1)
    with pytest.raises(StorageError, match="already"):
        import_package(db, folder, found, 2)
    assert len(list(folder.models.rglob("*.safetensors"))) == 1
    db.close()


def test_an_existing_target_is_not_overwritten(exported: Exported) -> None:
    with pytest.raises(BadFileError, match="already exists"):
        package.export(exported.kept, exported.root / exported.kept.info.file, None, exported.folder.parent)
    assert len(list(exported.folder.parent.iterdir())) == 1, "and nothing is left behind"


def test_a_damaged_file_is_not_exported(exported: Exported, tmp_path: Path) -> None:
    broken = tmp_path / "weights.safetensors"
    broken.write_bytes((exported.root / exported.kept.info.file).read_bytes()[:-1])
    with pytest.raises(BadFileError, match="altered"):
        package.export(exported.kept, broken, None, tmp_path)
    assert list(tmp_path.iterdir()) == [broken]
    assert "altered" in verify(broken, exported.kept.info.sha256)
    assert verify(exported.root / exported.kept.info.file, exported.kept.info.sha256) == ""


def test_export_to_a_missing_folder_is_refused(exported: Exported, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="could not be written"):
        package.export(exported.kept, exported.root / exported.kept.info.file, None, tmp_path / "nowhere")


def edit_card(folder: Path, **changes: object) -> None:
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, **changes}))


def replace_weights(folder: Path, data: bytes) -> None:
    """As an attacker who updates the checksums."""
    (folder / "weights.safetensors").write_bytes(data)
    edit_card(folder, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def retold(folder: Path, **tensors: torch.Tensor) -> bytes:
    """The weights with some of them replaced."""
    from safetensors import safe_open  # noqa: PLC0415
    from safetensors.torch import load  # noqa: PLC0415

    path = folder / "weights.safetensors"
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    return save({**load(path.read_bytes()), **tensors}, metadata)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pickle as weights": (lambda f: replace_weights(f, b"\x80\x04cos\nsystem\n"), "not a whole safetensors file"),
    "a zip as weights": (lambda f: replace_weights(f, b"PK\x03\x04" + bytes(60)), "not a whole safetensors file"),
    "altered": (lambda f: (f / "weights.safetensors").write_bytes(b"no"), "altered"),
    "no weights": (lambda f: (f / "weights.safetensors").unlink(), "weights.safetensors cannot be read"),
    "no card": (lambda f: (f / "card.json").unlink(), r"no card\.json"),
    "a card of nonsense": (lambda f: (f / "card.json").write_text("[" * 100_000), "card"),
    "a huge card": (lambda f: (f / "card.json").write_text(" " * 2_000_000), "too large"),
    "a path as run": (lambda f: edit_card(f, run_id="../../etc"), "run_id"),
    "a NaN as skill": (lambda f: edit_card(f, skill=float("nan")), "skill"),
    "a text as step": (lambda f: edit_card(f, step="many"), "step"),
    "one field more": (lambda f: edit_card(f, pickle="x"), "pickle"),
    "another form": (lambda f: edit_card(f, form=2), "form"),
    "a header beyond the file": (lambda f: replace_weights(f, struct.pack("<Q", 2**60) + b"{}"), "header"),
    "a header that is no JSON": (lambda f: replace_weights(f, struct.pack("<Q", 4) + b"nope"), "header"),
    "a header that is deep": (
        lambda f: replace_weights(f, struct.pack("<Q", 200_000) + b"[" * 200_000),
        "header",
    ),
    "nothing": (lambda f: replace_weights(f, b""), "not a whole safetensors file"),
    "no description": (lambda f: replace_weights(f, save({"a": torch.zeros(2)})), "no description"),
    "no model": (lambda f: replace_weights(f, save({"a": torch.zeros(2)}, {"ghostcandle": "{}"})), "describe a model"),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_tampered_package_is_refused_with_an_explanation(attack: str, copy: Path) -> None:
    tamper, words = HOSTILE[attack]
    tamper(copy)
    with pytest.raises(BadFileError, match=words) as refused:
        package.read(copy)
    assert str(refused.value).endswith(".") and len(str(refused.value)) < 400


MISFITS: dict[str, tuple[dict[str, torch.Tensor], str]] = {
    "of another shape": ({"model.position": torch.zeros(8, 9)}, "do not have the shapes and types of this run's model"),
    "one too many": ({"model.extra": torch.zeros(1)}, "do not have the shapes and types of this run's model"),
    "not finite": ({"model.position": torch.full((8, 8), torch.nan)}, "holds weights that are not finite"),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_weights_that_do_not_fit_their_model_are_refused_by_the_trainer(
    misfit: str, copy: Path, other: tuple[Database, DataFolder]
) -> None:
    """The window has no model to compare them with."""
    tensors, words = MISFITS[misfit]
    replace_weights(copy, retold(copy, **tensors))
    db, folder = other
    info = import_package(db, folder, package.read(copy), 5_000)
    db.close()
    session = rigs.service(folder.root)
    rigs.feed(session, random_walk(3))
    before = [parameter.detach().clone() for parameter in session._session.engine.model.parameters()]
    (incident,) = (e for e in session.handle(RestoreCheckpoint(info.checkpoint_id)) if isinstance(e, Incident))
    after = list(session._session.engine.model.parameters())
    session.close()
    assert incident.kind == "restore refused" and words in str(incident)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_flipped_byte_crashes_the_import(exported: Exported, tmp_path: Path, data: st.DataObject) -> None:
    """The checksum is valid, as an attacker would make it: only the content can be rejected."""
    whole = bytearray((exported.folder / "weights.safetensors").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, min(len(whole) - 1, 6_000)))] = data.draw(st.integers(0, 255))
    path = tmp_path / "weights.safetensors"
    path.write_bytes(bytes(whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))]))
    try:
        read_description(path)
    except BadFileError as error:
        assert str(error).startswith("weights.safetensors")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="cannot be read"):
        read_verified(tmp_path / "missing.safetensors")
    with pytest.raises(BadFileError, match=r"missing has no card\.json"):
        package.read(tmp_path / "missing")


def test_a_card_escapes_user_text(exported: Exported) -> None:
    info = replace(exported.kept.info, note="a\n# b | c", name="x" * 60)
    card = package.card_of(replace(exported.kept, info=info), None)
    assert package.Card.model_validate_json(card.model_dump_json()) == card
