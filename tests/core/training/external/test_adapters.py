"""The adapters of docs/examples, each with a small module in place of the package that it needs."""

from __future__ import annotations

import io
import json
import math
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from core.domain.quantities import LEVELS, Quantity
from core.training.external.protocol import ForecastRequest, candle_line, forecast_of, history_line
from tests.support.candles import MINUTE, random_walk

FOLDER = Path(__file__).resolve().parents[4] / "docs" / "examples" / "adapters"
HORIZONS, MARKET = 3, "TEST"
NORMAL_DECILES = (-1.282, -0.842, -0.524, -0.253, 0.0, 0.253, 0.524, 0.842, 1.282)
CANDLES = random_walk(40)


def lines_to_read() -> list[bytes]:
    """A history and two candles."""
    before = [ForecastRequest((MARKET,), MINUTE, HORIZONS, 1000).greeting(), history_line(MARKET, CANDLES[:-2])]
    return [*before, *(candle_line(MARKET, candle) for candle in CANDLES[-2:])]


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> list[dict[str, Any]]:
    """What the adapter writes."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(b"".join(lines_to_read()).decode()))
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.syspath_prepend(FOLDER)
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    sys.modules.pop("serving")
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def module(name: str, **members: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    return made


def test_the_forecaster_of_the_docs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (FOLDER.parents[1] / "own-program.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "sys.stdin" in block]
    monkeypatch.setattr(sys, "stdin", io.StringIO(b"".join(lines_to_read()).decode()))
    exec(compile(code, "own-program.md", "exec"), {})
    ready, *answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ready == {"type": "ready", "protocol": 1} and len(answers) == 2
    table = forecast_of(answers[-1], HORIZONS).quantiles[Quantity.CLOSE]
    assert (np.diff(table, axis=1) > 0.0).all() and 1e-4 < table[0, -1] < 1e-2


class Chronos:
    """Repeats the newest value, with normal quantiles whose deviation is that of the series."""

    @classmethod
    def from_pretrained(cls, weights: str, device_map: str, torch_dtype: torch.dtype) -> Chronos:
        assert (weights, device_map, torch_dtype) == ("amazon/chronos-bolt-small", "cpu", torch.float32)
        return cls()

    def predict_quantiles(
        self, context: torch.Tensor, prediction_length: int, quantile_levels: list[float]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert context.shape == (2, len(context[0])) and quantile_levels == [n / 10 for n in range(1, 10)]
        spread = context.std(dim=1)[:, None, None] * torch.tensor(NORMAL_DECILES)
        quantiles = (context[:, -1, None, None] + spread).expand(2, prediction_length, 9)
        return quantiles, quantiles[..., 4]


class TimesFm:
    """The same, as TimesFM returns it: the mean, then the deciles."""

    @classmethod
    def from_pretrained(cls, weights: str) -> TimesFm:
        assert weights == "google/timesfm-2.5-200m-pytorch"
        return cls()

    def compile(self, config: SimpleNamespace) -> None:
        assert config.max_context == 1024 and not config.infer_is_positive

    def forecast(self, horizon: int, inputs: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        rows = [series[-1] + series.std(ddof=1) * np.array([0.0, *NORMAL_DECILES]) for series in inputs]
        tables = np.stack([np.tile(row, (horizon, 1)) for row in rows]).astype(np.float32)
        return tables[..., 5], tables


def check_of_close_and_range(written: list[dict[str, Any]]) -> None:
    """As the substitutes forecast: around the newest values, at all levels."""
    ready, *answers = written
    assert ready == {"type": "ready", "protocol": 1}
    assert [answer["open_time_ms"] for answer in answers] == [candle.open_time_ms for candle in CANDLES[-2:]]
    found = forecast_of(answers[-1], HORIZONS)
    assert set(found.quantiles) == {Quantity.CLOSE, Quantity.RANGE} and not found.was_sorted
    closes = np.log([candle.close for candle in CANDLES])
    normal = np.array((-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645))
    tolerance = 0.01 * closes.std()
    np.testing.assert_allclose(found.quantiles[Quantity.CLOSE][0], closes.std(ddof=1) * normal, atol=tolerance)
    newest = CANDLES[-1]
    expected = math.log(math.log(newest.high / newest.low))
    np.testing.assert_allclose(found.quantiles[Quantity.RANGE][:, 3], expected, rtol=1e-5)


def test_chronos_bolt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "chronos", module("chronos", BaseChronosPipeline=Chronos))
    check_of_close_and_range(run(monkeypatch, capsys, "chronos_bolt.py"))


def test_timesfm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    substitute = module("timesfm", TimesFM_2p5_200M_torch=TimesFm, ForecastConfig=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "timesfm", substitute)
    check_of_close_and_range(run(monkeypatch, capsys, "timesfm_2p5.py"))


class Predictor:
    """Each future is the newest candle, moved at random: from torch's generator, which the adapter seeds."""

    def __init__(self, model: object, tokenizer: object, device: str, max_context: int) -> None:
        assert (model, tokenizer, device, max_context) == ("weights", "weights", "cpu", 512)

    def predict_batch(self, past: list, times: list, next_times: list, pred_len: int, **options: object) -> list:
        assert len(past) == len(times) == len(next_times) == 32 and options["sample_count"] == 1
        assert len(times[0]) == len(past[0]) and next_times[0].diff().dt.total_seconds().iloc[1:].eq(60.0).all()
        moved = [past[0].tail(1) * (1.0 + 1e-3 * float(torch.randn(()))) for _ in past]
        return [future.loc[future.index.repeat(pred_len)] for future in moved]


def test_kronos(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    weights = SimpleNamespace(from_pretrained=lambda name: "weights")
    substitute = module("model", Kronos=weights, KronosTokenizer=weights, KronosPredictor=Predictor)
    monkeypatch.setitem(sys.modules, "model", substitute)
    state = torch.get_rng_state()
    written, again = (run(monkeypatch, capsys, "kronos.py") for _ in range(2))
    torch.set_rng_state(state)
    assert written == again
    found, newest = forecast_of(written[-1], HORIZONS).quantiles, CANDLES[-1]
    assert set(found) == set(Quantity)
    assert 5e-4 < found[Quantity.CLOSE][0, -1] - found[Quantity.CLOSE][0, 0] < 1e-2
    np.testing.assert_allclose(found[Quantity.BODY], math.log(newest.close / newest.open), rtol=1e-6)
    np.testing.assert_allclose(np.exp(found[Quantity.RANGE]), math.log(newest.high / newest.low), rtol=1e-6)


def test_impossible_futures_become_candles(monkeypatch: pytest.MonkeyPatch) -> None:
    substitute = module("model", Kronos=None, KronosTokenizer=None, KronosPredictor=None)
    monkeypatch.setitem(sys.modules, "model", substitute)
    monkeypatch.syspath_prepend(FOLDER)
    quantiles_of = runpy.run_path(str(FOLDER / "kronos.py"))["quantiles_of"]
    sys.modules.pop("serving")
    torn = np.array([[[1.0, 0.9, 1.2, 1.1, -3.0]], [[1.0, 0.5, 2.0, 0.98, 4.0]]])
    found = quantiles_of(torn, 1.0, tuple(LEVELS))
    assert set(forecast_of({name: table.tolist() for name, table in found.items()}, 1).quantiles) == set(Quantity)
    assert all(found[name].min() >= 0.0 for name in ("upper_wick", "lower_wick", "range", "volume"))


@pytest.mark.parametrize(
    ("name", "package"), [("chronos_bolt.py", "chronos"), ("timesfm_2p5.py", "timesfm"), ("kronos.py", "model")]
)
def test_without_its_package_an_adapter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.syspath_prepend(FOLDER)
    with pytest.raises(SystemExit, match=r"is not installed \(.*\)\. (Install it: pip|Clone https)"):
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    sys.modules.pop("serving")
