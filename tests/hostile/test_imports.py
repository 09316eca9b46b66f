"""Untrusted input: checkpoint folders and candle files."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load, save

from core.checkpoints import package
from core.checkpoints.weight_file import BadFileError, read_description
from core.domain.events import CheckpointForecast, Incident
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from core.storage.browsing import BrowsedRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.importing_checkpoints import import_package
from core.training.commands import ForecastWith, RestoreCheckpoint, SaveCheckpoint
from core.training.engine.device import release_thread
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.hostile.windows import TRACEBACK
from tests.support import commands
from tests.support.candles import random_walk

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

CANDLES = random_walk(130)
HEADER = "time,open,high,low,close,volume\n"


@dataclass
class Given:
    """An exported checkpoint in a folder that may be tampered with."""

    folder: Path

    @property
    def weights(self) -> Path:
        return self.folder / package.WEIGHTS

    def tensors(self) -> dict[str, torch.Tensor]:
        return load(self.weights.read_bytes())

    def description(self) -> dict[str, Any]:
        with safe_open(self.weights, "pt") as file:
            described: dict[str, Any] = json.loads(file.metadata()["ghostcandle"])
        return described

    def put(self, data: bytes) -> None:
        """As an attacker who updates the checksums."""
        self.weights.write_bytes(data)
        card = json.loads((self.folder / package.CARD).read_text())
        card |= {"sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data)}
        (self.folder / package.CARD).write_text(json.dumps(card))

    def put_tensors(self, tensors: dict[str, torch.Tensor], description: dict[str, Any] | None = None) -> None:
        self.put(save(tensors, {"ghostcandle": json.dumps(description or self.description())}))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exported")
    session = rigs.service(root / "data")
    rigs.feed(session, CANDLES)
    session.handle(SaveCheckpoint())
    session.close()
    with closing(open_database(DataFolder(root / "data").database)) as db:
        kept = BrowsedRows(db).page(None, 1)[0]
    return package.export(kept, root / "data" / kept.info.file, None, root)


@pytest.fixture
def given_one(exported: Path, tmp_path: Path) -> Given:
    folder = tmp_path / exported.name
    folder.mkdir()
    for path in exported.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return Given(folder)


def with_header(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The same tensors under a changed header."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def overlap(header: dict[str, Any]) -> None:
    first, second = [entry for key, entry in header.items() if key != "__metadata__"][:2]
    second["data_offsets"] = first["data_offsets"]


def stretch(header: dict[str, Any]) -> None:
    entry = next(entry for key, entry in header.items() if key.startswith("model."))
    entry["shape"] = [2**40, 2**40]


def past_the_end(header: dict[str, Any]) -> None:
    entry = next(entry for key, entry in header.items() if key.startswith("model."))
    entry["data_offsets"] = [0, 2**62]


def negative(header: dict[str, Any]) -> None:
    entry = next(entry for key, entry in header.items() if key.startswith("model."))
    entry["shape"] = [-1, *entry["shape"][1:]]


def make_pipe(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes in folders")
    os.mkfifo(path)


def pipe(given: Given) -> None:
    (given.folder / package.CARD).unlink()
    make_pipe(given.folder / package.CARD)


def as_integers(given: Given) -> None:
    tensors = given.tensors()
    name = next(name for name in tensors if name.startswith("model."))
    given.put_tensors({**tensors, name: tensors[name].to(torch.int32)})


def on_the_card(name: str, value: object) -> Callable[[Given], object]:
    def write(given: Given) -> None:
        card = json.loads((given.folder / package.CARD).read_text())
        (given.folder / package.CARD).write_text(json.dumps(card | {name: value}))

    return write


REFUSED: dict[str, tuple[Callable[[Given], object], str]] = {
    "overlapping tensors": (lambda g: g.put(with_header(g.weights.read_bytes(), overlap)), "not a whole safetensors"),
    "a shape of terabytes": (lambda g: g.put(with_header(g.weights.read_bytes(), stretch)), "not a whole safetensors"),
    "offsets past the end": (
        lambda g: g.put(with_header(g.weights.read_bytes(), past_the_end)),
        "not a whole safetensors",
    ),
    "a negative side": (lambda g: g.put(with_header(g.weights.read_bytes(), negative)), "not a whole safetensors"),
    "a header as long as the file": (lambda g: g.put(struct.pack("<Q", 2**24) + b" " * 2**24), "header"),
    "a card that is a pipe": (pipe, "not a regular file"),
    "weights that are a folder": (lambda g: (g.weights.unlink(), g.weights.mkdir()), "not a regular file"),
    "a card that leads out": (on_the_card("checkpoint_id", "../../../x"), "checkpoint_id"),
    "an interval of nothing": (on_the_card("interval", "0m"), "interval: "),
    "an interval in Arabic digits": (on_the_card("interval", "٣m"), "interval: "),
    "a loss without end": (on_the_card("loss", float("inf")), "loss: "),
    "a step before the first": (on_the_card("step", -1), "step: "),
    "a name of a megabyte": (on_the_card("name", "x" * 900_000), "name: "),
}


@pytest.mark.parametrize("attack", REFUSED)
def test_a_tampered_folder_is_refused(given_one: Given, attack: str) -> None:
    tamper, words = REFUSED[attack]
    tamper(given_one)
    with pytest.raises(BadFileError, match=words) as refused:
        package.read(given_one.folder)
    assert str(refused.value).endswith(".") and len(str(refused.value)) < 400


def stretched(given: Given) -> None:
    tensors = given.tensors()
    name = "m000.forecaster.combined.weights.gain"
    given.put_tensors({**tensors, name: torch.zeros(1, dtype=torch.float64)})


def poisoned(given: Given) -> None:
    tensors = given.tensors()
    name = "m000.forecaster.combined.calibration.bias"
    given.put_tensors({**tensors, name: torch.full_like(tensors[name], torch.nan)})


def noisy(given: Given) -> None:
    given.put_tensors({**given.tensors(), "noise": torch.zeros(3, dtype=torch.uint8)})


def with_engine(given: Given, **changes: object) -> None:
    description = given.description()
    given.put_tensors(given.tensors(), {**description, "engine": {**description["engine"], **changes}})


def without_experts(given: Given) -> None:
    given.put_tensors({name: each for name, each in given.tensors().items() if not name.startswith("m000.forecaster.")})


SECRETLY_BAD: dict[str, Callable[[Given], object]] = {
    "weights of whole numbers": as_integers,
    "expert weights of one number": stretched,
    "a calibration that is not finite": poisoned,
    "a generator of three bytes": noisy,
    "no expert weights": without_experts,
    "a schedule that is a text": lambda g: with_engine(g, schedule="slowly"),
    "a schedule that is empty": lambda g: with_engine(g, schedule={}),
    "a rate that is not finite": lambda g: with_engine(g, rate_factor=float("nan")),
    "no engine": lambda g: g.put_tensors(g.tensors(), {**g.description(), "engine": None}),
}
"""Weights that are sound, beside a state that is not: the import cannot know, the trainer must."""


@dataclass
class Trainer:
    """Trains on new candles between two attacks."""

    root: Path
    session: TrainingService
    learned: int = 0

    def learn(self, count: int) -> None:
        rigs.feed(self.session, CANDLES[self.learned : self.learned + count])
        self.learned += count

    def import_package(self, given: Given) -> str:
        folder = DataFolder(self.root)
        with closing(open_database(folder.database)) as db:
            return import_package(db, folder, package.read(given.folder), 1_000).checkpoint_id


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainer]:
    root = tmp_path_factory.mktemp("attacked") / "data"
    found = Trainer(root, rigs.service(root))
    found.learn(40)
    release_thread()  # it stays open between tests, which are checked for denormals left flushed
    yield found
    found.session.close()


def state_of(session: TrainingService) -> str:
    """A digest of all that was learned."""
    engine, forecaster = session._session.engine, session._session.forecaster
    arrays = {name: tensor.numpy() for name, tensor in engine.tensors().items()} | forecaster.state(0)
    digest = hashlib.sha256(json.dumps(engine.scalars(), sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("attack", SECRETLY_BAD)
def test_a_tampered_state_is_refused_and_the_trainer_continues(given_one: Given, trainer: Trainer, attack: str) -> None:
    SECRETLY_BAD[attack](given_one)
    checkpoint_id, session = trainer.import_package(given_one), trainer.session
    before = state_of(session)
    shown, done = (
        session.handle(ForecastWith((checkpoint_id,), rigs.MARKET)),
        session.handle(RestoreCheckpoint(checkpoint_id)),
    )
    (previewed,) = (event for event in shown if isinstance(event, CheckpointForecast))
    (incident,) = (event for event in done if isinstance(event, Incident))
    assert incident.kind == "restore refused" and state_of(session) == before, "nothing of it was taken"
    assert previewed.forecast is None or attack == "a generator of three bytes"
    trainer.learn(5)
    assert session.status().step == trainer.learned - 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_header_crashes_the_reader(exported: Path, tmp_path: Path, data: st.DataObject) -> None:
    """Headers that are JSON of the right form, with wrong numbers and kinds in them."""
    whole = (exported / package.WEIGHTS).read_bytes()
    odd = (
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_subnormal=False)
        | st.text(max_size=5)
        | st.just([])
    )
    shapes = st.lists(st.integers(-2, 2**64), max_size=12)
    kinds = st.sampled_from(["F64", "F32", "BF16", "I64", "BOOL", "F8_E4M3", "nothing"])

    def change(header: dict[str, Any]) -> None:
        names = [name for name in header if name != "__metadata__"]
        for _ in range(data.draw(st.integers(1, 3))):
            entry = header[data.draw(st.sampled_from(names))]
            if isinstance(entry, dict):
                part = data.draw(st.sampled_from(["dtype", "shape", "data_offsets"]))
                entry[part] = data.draw({"dtype": kinds | odd}.get(part, shapes | odd))

    path = tmp_path / "weights.safetensors"
    path.write_bytes(with_header(whole, change))
    try:
        read_description(path)
    except BadFileError as error:
        assert str(error).startswith("weights.safetensors") and len(str(error)) < 500


LINES = st.lists(
    st.sampled_from(["1700000000000,1,2,0.5,1.5,3", "1700000060000,1,2,0.5,1.5,3", "", ",,,,,", "nan,inf,-inf,0,0,0"])
    | st.text(max_size=40),
    max_size=12,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.binary(max_size=300)
    | LINES.map(lambda lines: (HEADER + "\n".join(lines)).encode("utf-8", "surrogatepass")),
    name=st.sampled_from(["a.csv", "a.txt", "a.csv.gz", "a.zip", "a.feather", "a.parquet", "a"]),
    beginning=st.sampled_from([b"", b"\x1f\x8b", b"PK\x03\x04", b"ARROW1", b"PAR1", b"\xff\xfe", b"\xef\xbb\xbf"]),
    is_packed=st.booleans(),
)
def test_any_candle_file_gives_candles_or_an_explanation(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, name: str, beginning: bytes, is_packed: bool
) -> None:
    path = tmp_path_factory.mktemp("odd") / name
    path.write_bytes(gzip.compress(body) if is_packed else beginning + body)
    try:
        table = read_candle_table(path)
    except CandleFileError as error:
        assert path.name in str(error) and str(error).rstrip()[-1] in ".)?"
        return
    times, values = table.columns.open_time_ms, table.columns.values
    assert (np.diff(times) > 0).all() and np.isfinite(values).all() and (values[:4] > 0).all()


def test_a_pipe_is_refused_as_candle_file(tmp_path: Path) -> None:
    """Reading it would wait for ever."""
    make_pipe(tmp_path / "candles.csv")
    named = ("--venue", "file", "--symbol", "A/B", "--data-dir", str(tmp_path / "data"))
    done = commands.invoke("import", str(tmp_path / "candles.csv"), *named)
    assert done.returncode != 0 and TRACEBACK not in done.stderr and "pipe" in done.stderr + done.stdout
