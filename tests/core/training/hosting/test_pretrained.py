"""A live run that starts from a pretrained model."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.candle import Interval, Market
from core.domain.events import ForecastMade, ForecastMode, Incident, Severity, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.forecast.panel import FEATURES, OTHERS
from core.settings.tree import ModelSettings, Settings
from core.storage.folder import DataFolder
from core.training.commands import SaveCheckpoint
from core.training.engine.engine import part_of
from core.training.hosting.opening import build_engine
from core.training.hosting.pretrained import PretrainedStore, start_from_newest
from core.training.hosting.service import TrainingService
from core.training.online.snapshot import SCHEMA, describe_model
from tests.core.forecast.alone import ALONE
from tests.core.training import rigs as sessions
from tests.core.training.pretraining import rigs
from tests.support.candles import MINUTE, START_MS, random_walk

CANDLES = rigs.reverting(300)
LATER = rigs.reverting(20, 3, start_ms=START_MS + 700 * 60_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a pretrained model, and the file that it learned from."""
    root = tmp_path_factory.mktemp("pretrained")
    rigs.run(root, rigs.write(root / "reverting.csv", CANDLES), epochs=3)
    return root


@pytest.fixture
def pretrained(tmp_path: Path, folder: Path) -> str:
    """The id of a model that lies in the data folder `tmp_path`."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return PretrainedStore(DataFolder(tmp_path)).newest_first()[0].checkpoint_id


def service(root: Path, settings: Settings = rigs.SMALL) -> TrainingService:
    return sessions.service(root, settings)


def incidents(session: TrainingService) -> list[Incident]:
    return [event for event in session.opening_events() if isinstance(event, Incident)]


def averaging(decay: float) -> Settings:
    return dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, ema_decay=decay))


def ready(session: TrainingService) -> TrainerReady:
    return next(event for event in session.opening_events() if isinstance(event, TrainerReady))


def forecasts(session: TrainingService, candles: list, mode: ForecastMode = ForecastMode.REPLAY) -> list[ForecastMade]:
    return [event for event in sessions.feed(session, candles, mode) if isinstance(event, ForecastMade)]


def test_the_first_forecast_is_the_pretrained_models(tmp_path: Path, pretrained: str) -> None:
    """Computed here from the file alone; a new model would forecast like the reference."""
    store = PretrainedStore(DataFolder(tmp_path))
    tensors, metadata = store.load(store.newest_first()[0])
    engine = build_engine(rigs.SMALL, torch.device("cpu"), 0)
    assert engine.restore(tensors, metadata["engine"])
    session = service(tmp_path)
    made = session.handle(sessions.observed(LATER[0]))
    history = session._session.market.history
    features, is_real = history.windows(np.array([0]), rigs.SMALL.model.context)
    (anchor,) = session._session.forecaster._baselines.combined(ALONE)
    wanted = np.sort(anchor + engine.corrections(features, is_real)[0], axis=-1)
    factor, offset = (unit[0, 0, 0] for unit in history.units(np.array([0])))
    stored = session._session.market._pending[0].quantiles.experts[0, 0, 0]
    np.testing.assert_array_equal(stored, offset + factor * wanted[0, 0])
    assert not np.allclose(wanted[0, 0], anchor[0, 0])
    (forecast,) = [event for event in made if isinstance(event, ForecastMade)]
    assert forecast.checkpoint_id == pretrained
    session.close()


def test_weights_and_moments_are_loaded_and_the_rest_is_new(tmp_path: Path, pretrained: str) -> None:
    store = PretrainedStore(DataFolder(tmp_path))
    tensors, _ = store.load(store.newest_first()[0])
    session = service(tmp_path)
    taken = session._session.engine.tensors()
    for part in ("model", "optimizer"):
        assert part_of(tensors, part)
        for name, tensor in part_of(tensors, part).items():
            assert torch.equal(part_of(taken, part)[name], tensor)
    started = ready(session)
    assert started.resumed_from == pretrained and started.step == 0 and started.markets[0].position_ms is None
    assert session._session.engine.rate_now == rigs.SMALL.training.learning_rate
    (said,) = incidents(session)
    assert said.severity is Severity.INFO and pretrained in said.what_happened
    session.close()


def test_a_pretrained_start_differs_from_a_new_run_and_can_be_disabled(tmp_path: Path, pretrained: str) -> None:
    refusing = dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, start_from="none"))
    digests = []
    for root, settings in ((tmp_path, rigs.SMALL), (tmp_path / "empty", rigs.SMALL), (tmp_path, refusing)):
        session = sessions.TrainingService(
            dataclasses.replace(sessions.spec(root, settings), new_run=True), sessions.SystemClock()
        )
        sessions.feed(session, LATER)
        digests.append(sessions.digest(root, session.status().run_id))
        session.close()
    started, new, refused = digests
    assert started != new and refused == new


def test_forecasts_of_pretraining_candles_are_scored_separately(tmp_path: Path, pretrained: str) -> None:
    session = service(tmp_path)
    boundary = CANDLES[-1].open_time_ms
    after = rigs.reverting(5, 4, start_ms=boundary + 60_000)
    made = forecasts(session, [*CANDLES[-5:], *after])
    modes = {forecast.origin_open_time_ms: forecast.mode for forecast in made}
    assert all(modes[one.open_time_ms] is ForecastMode.SEEN for one in CANDLES[-5:-1])
    assert modes[boundary] is ForecastMode.REPLAY, "its first target opens when the newest seen candle has closed"
    assert all(modes[one.open_time_ms] is ForecastMode.REPLAY for one in after)
    session.close()


def test_the_pretraining_range_survives_a_restart(tmp_path: Path, pretrained: str) -> None:
    session = service(tmp_path)
    sessions.feed(session, CANDLES[100:110])
    session.handle(SaveCheckpoint())
    own = session._session.checkpoint_id
    session.close()
    resumed = service(tmp_path)
    assert ready(resumed).resumed_from == own != pretrained, "a run continues from its own checkpoint"
    assert incidents(resumed) == []
    assert {one.mode for one in forecasts(resumed, CANDLES[110:115])} == {ForecastMode.SEEN}
    resumed.close()


def test_a_start_killed_before_its_first_checkpoint_repeats_identically(
    tmp_path: Path, folder: Path, pretrained: str
) -> None:
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(folder, undisturbed)
    digests = []
    for root, stops in ((tmp_path, (4, 15)), (undisturbed, (15,))):
        for stop in stops:
            session = service(root)
            sessions.feed(session, LATER[:stop])
            run_id = session.status().run_id
            session.close()
        digests.append(sessions.digest(root, run_id))
    assert digests[0] == digests[1]


@pytest.mark.parametrize("run_decay", [0.0, 0.9])
@pytest.mark.parametrize("pretrained_decay", [0.0, 0.9])
def test_a_model_of_several_markets_forecasts_as_the_pretrained_one(
    tmp_path: Path, pretrained_decay: float, run_decay: float
) -> None:
    """Whatever the others do, bit for bit, until the first step; with averaged weights on either side too."""
    alone, cpu = averaging(pretrained_decay), torch.device("cpu")
    learned, random = build_engine(alone, cpu, 1), torch.Generator().manual_seed(2)
    for module in (learned.model, learned.forecasting_model):
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.1, generator=random)
    store = PretrainedStore(DataFolder(tmp_path))
    metadata = {"schema": SCHEMA, "model": describe_model(alone.model), "engine": learned.scalars()}
    facts = {"interval_ms": MINUTE.duration_ms, "seen_until_ms": START_MS, "epoch": 1, "skill": 0.0}
    store.write(learned.tensors(), metadata, START_MS, facts)
    engine = build_engine(averaging(run_decay), cpu, 2, has_others=True)
    _, incidents = start_from_newest(engine, store, alone.model, MINUTE)
    assert [draft.kind for draft in incidents] == [IncidentKind.PRETRAINED_START]
    generator = np.random.default_rng(3)
    numbers = generator.normal(size=(4, alone.model.context, FEATURES + OTHERS)).astype(np.float32)
    is_real = np.ones(numbers.shape[:2], dtype=np.bool_)
    module = learned.forecasting_model if run_decay else learned.model
    wanted = learned.corrections(numbers[..., :FEATURES], is_real, module)
    assert np.abs(wanted).max() > 0.01
    np.testing.assert_array_equal(engine.corrections(numbers, is_real), wanted)


def test_a_run_of_several_markets_starts_from_it_and_learns(tmp_path: Path, pretrained: str) -> None:
    session = sessions.service_of_two(tmp_path, rigs.SMALL)
    assert ready(session).resumed_from == pretrained
    (said,) = incidents(session)
    assert said.kind is IncidentKind.PRETRAINED_START and "new optimizer" in said.what_was_done
    sessions.feed_two(session, LATER, random_walk(20, start_ms=LATER[0].open_time_ms))
    of_others = session._session.engine.tensors()["model.embed_others.weight"]
    assert session.status().step > 0 and bool(of_others.any())
    session.close()


@pytest.mark.parametrize("what", ["model", "interval"])
def test_an_incompatible_model_is_not_used(tmp_path: Path, pretrained: str, what: str) -> None:
    settings, interval = rigs.SMALL, "1m"
    if what == "model":
        settings = dataclasses.replace(settings, model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3))
    else:
        interval = "1h"
    market = Market("file", "TEST", Interval.parse(interval))
    session = TrainingService(sessions.spec(tmp_path, settings, market), sessions.SystemClock())
    assert ready(session).resumed_from is None
    (said,) = incidents(session)
    assert said.kind == "pretrained model not used" and said.severity is Severity.INFO
    session.close()


def test_the_newest_intact_model_is_used(tmp_path: Path, pretrained: str) -> None:
    rigs.run(tmp_path, tmp_path / "reverting.csv", epochs=1)
    store = PretrainedStore(DataFolder(tmp_path))
    newest, older = store.newest_first()
    assert older.checkpoint_id == pretrained
    description = (tmp_path / older.file).with_suffix(".json")
    in_2038 = dataclasses.replace(older, created_at_ms=2_150_000_000_000)
    description.write_text(json.dumps(dataclasses.asdict(in_2038)))
    assert store.newest_first() == [newest, in_2038], "the clock was wrong"
    path = tmp_path / newest.file
    path.write_bytes(path.read_bytes()[:-4] + b"evil")
    session = service(tmp_path)
    assert ready(session).resumed_from == pretrained
    assert [said.kind for said in incidents(session)] == [
        "pretrained model refused",
        "started from a pretrained model",
    ]
    session.close()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"file": "../../outside.safetensors"}'])
def test_an_unreadable_description_is_skipped(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "models" / "transformer" / "pretrained"
    folder.mkdir(parents=True)
    (folder / "pretrained-x.json").write_text(text)
    assert PretrainedStore(DataFolder(tmp_path)).newest_first() == []


@pytest.mark.parametrize(("name", "value"), [("interval_ms", 0), ("seen_until_ms", "soon"), ("skill", None)])
def test_an_altered_description_is_skipped(tmp_path: Path, pretrained: str, name: str, value: object) -> None:
    (path,) = (tmp_path / "models" / "transformer" / "pretrained").glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    assert PretrainedStore(DataFolder(tmp_path)).newest_first() == []


def test_unusable_moments_are_replaced_by_a_new_optimizer(tmp_path: Path, pretrained: str) -> None:
    store = PretrainedStore(DataFolder(tmp_path))
    kept = store.newest_first()[0]
    tensors, metadata = store.load(kept)
    tensors["optimizer.0.exp_avg"][0] = torch.nan
    facts = {name: metadata[name] for name in ("interval_ms", "seen_until_ms", "epoch", "skill")}
    store.write(tensors, metadata, kept.created_at_ms + 1, facts)
    session = service(tmp_path)
    (said,) = incidents(session)
    assert "new optimizer" in said.what_was_done
    assert session._session.engine.is_finite()
    sessions.feed(session, random_walk(20, start_ms=LATER[0].open_time_ms))
    assert session.status().step > 0
    session.close()
