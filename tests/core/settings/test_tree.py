"""A settings file never prevents a start: invalid values are dropped and reported, the rest is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from core.settings.tree import GradientSettings, ModelSettings, Settings, from_dict, load, model_to_dict, save, to_dict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
GROUPS = st.sampled_from([*to_dict(Settings()), "unknown"])


def test_defaults_round_trip_through_a_file(tmp_path: Path) -> None:
    save(Settings(), tmp_path / "settings.json")
    assert load(tmp_path / "settings.json") == (Settings(), ())


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:11"])
def test_a_device_is_a_kind_or_a_gpu_by_number(device: str) -> None:
    settings, warnings = from_dict({"training": {"device": device}})
    assert settings.training.device == device and not warnings


@pytest.mark.parametrize("device", ["cuda:", "cuda:-1", "cuda:1 ", "CPU", "mps", "", "cuda:١", "cuda:1\n"])
def test_no_other_device_is_accepted(device: str) -> None:
    assert from_dict({"training": {"device": device}})[0].training.device == "auto"


@given(JSON)
def test_any_file_content_gives_settings(data: object) -> None:
    settings, _ = from_dict(data)
    assert isinstance(settings, Settings)


@given(st.dictionaries(GROUPS, st.dictionaries(st.text(max_size=12) | st.just("width"), JSON, max_size=4), max_size=4))
def test_any_group_content_gives_settings_and_a_warning_per_dropped_value(data: dict[str, object]) -> None:
    settings, warnings = from_dict(data)
    kept = to_dict(settings)
    for group, values in data.items():
        for name in values if isinstance(values, dict) else ():
            was_kept = group in kept and name in kept[group]
            assert was_kept or any(group in warning for warning in warnings)


@pytest.mark.parametrize(
    ("given_text", "named"),
    [
        ('{"training": {"learning_rate": -1, "seed": 7}}', "training.learning_rate"),
        ('{"training": {"no_such_thing": 1, "seed": 7}}', "training.no_such_thing"),
        ('{"no_such_group": {}, "training": {"seed": 7}}', "no_such_group"),
        (
            '{"training": {"device": "gpu", "seed": 7}}',
            "it is 'gpu', and has to be auto, cpu, cuda",
        ),
        ('{"model": {"heads": 3, "width": 64}, "training": {"seed": 7}}', "3 heads do not divide a width of 64"),
    ],
)
def test_an_invalid_key_is_named_and_the_rest_kept(tmp_path: Path, given_text: str, named: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(given_text)
    settings, (warning,) = load(path)
    assert named in warning and "Value error" not in warning
    assert settings.training.seed == 7
    assert settings.model == Settings().model


def test_a_broken_file_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{")
    settings, (warning,) = load(tmp_path / "settings.json")
    assert settings == Settings() and "settings.json" in warning


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"market": {"symbol": "ETH/USDT"}}', encoding="utf-8-sig")
    settings, warnings = load(path)
    assert warnings == ()
    assert settings.market.symbol == "ETH/USDT"


def test_no_two_settings_share_a_default_that_can_change() -> None:
    assert Settings().chart.pane_heights is not Settings().chart.pane_heights


def test_the_file_is_readable(tmp_path: Path) -> None:
    save(Settings(), tmp_path / "settings.json")
    text = (tmp_path / "settings.json").read_text()
    assert text.count("\n") > 40 and json.loads(text)["gradients"]["clip_norm"] == 1.0


def test_clip_modes_and_threshold_are_explained() -> None:
    fields = TypeAdapter(GradientSettings).json_schema()["properties"]
    modes = get_args(get_type_hints(GradientSettings)["clip_mode"])
    assert "off" in modes
    description = fields["clip_mode"]["description"]
    assert [mode for mode in modes if f"{mode}: " not in description] == []
    threshold = fields["clip_norm"]["description"].replace("2-norm", "")
    assert [mode for mode in ("norm", "layer", "adaptive", "observe") if mode not in threshold] == []


def test_saving_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content is synced before the rename, and the folder after it."""
    synced: list[int] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "new folder" / "settings.json"
    save(Settings(), path)
    assert synced[0] == path.stat().st_ino
    assert os.name == "nt" or synced[1] == path.parent.stat().st_ino
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("challengers", "sentence"),
    [
        (("gru", "gru"), "two models are called gru"),
        (("HAR",), "HAR is the name of a forecast that every run has"),
        (("own.py:model",), "model is the name of a forecast"),
        (("own.py:Har",), "Har is the name of a forecast"),
        (("combination=process:own",), "combination is the name of a forecast"),
        (("own.py:A_b", "a-b=process:own"), "two models are called a-b"),
        (("a b",), "'a b' is no model"),
        (tuple(f"m{number}" for number in range(9)), "at most 8"),
    ],
)
def test_challengers_without_a_name_of_their_own_are_refused(challengers: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        ModelSettings(challengers=challengers)


def test_settings_without_challengers_are_identified_as_before_there_were_any() -> None:
    assert "challengers" not in model_to_dict(ModelSettings())
    assert model_to_dict(ModelSettings(challengers=("gru",)))["challengers"] == ["gru"]
    assert from_dict(to_dict(Settings()))[0] == Settings()
