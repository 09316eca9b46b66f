"""Each clip mode against a plain implementation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from core.settings.tree import GradientSettings
from core.training.engine.clipping import RECENT_NORMS, Clipped, Clipper
from tests.core.training.engine.rigs import REFERENCE, batch, engine, gradients_of

ONE = torch.ones(())
GOES_ON = torch.zeros((), dtype=torch.bool)
SKIPPED = torch.ones((), dtype=torch.bool)


def gradients(seed: int = 0, scale: float = 1.0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [scale * torch.randn(shape, generator=generator) for shape in ((4, 3), (4,), (5, 5))]


def norm_of(members: list[Tensor]) -> Tensor:
    return torch.cat([member.reshape(-1) for member in members]).norm()


def clipper(layers: list[list[Tensor]] | None = None, **options: object) -> Clipper:
    return Clipper(GradientSettings(**options), torch.device("cpu"), layers or [])  # type: ignore[arg-type]


def did_clip(judge: Clipper, norm: Tensor, done: Clipped) -> bool:
    return judge.did_clip(float(norm), float(done.norm_after), float(done.threshold))


@pytest.mark.parametrize("clip_norm", [0.1, 100.0])
def test_by_norm(clip_norm: float) -> None:
    given, plain = gradients(), gradients()
    norm = norm_of(plain)
    done = clipper(clip_norm=clip_norm).clip(given, norm_of(given), GOES_ON, ONE)
    for mine, theirs in zip(given, plain, strict=True):
        torch.testing.assert_close(mine, theirs * min(1.0, clip_norm / float(norm)), rtol=1e-4, atol=1e-7)
    assert float(done.norm_after) == pytest.approx(min(clip_norm, float(norm)), rel=1e-4)
    assert did_clip(clipper(clip_norm=clip_norm), norm, done) is (float(norm) > clip_norm)


@pytest.mark.parametrize("clip_value", [0.3, 50.0])
def test_by_value(clip_value: float) -> None:
    given, plain = gradients(), gradients()
    done = clipper(clip_mode="value", clip_value=clip_value).clip(given, norm_of(given), GOES_ON, ONE)
    for mine, theirs in zip(given, plain, strict=True):
        assert torch.equal(mine, theirs.clamp(-clip_value, clip_value))
    assert float(done.norm_after) == pytest.approx(float(norm_of(given)), rel=1e-5)
    judge = clipper(clip_mode="value", clip_value=clip_value)
    assert did_clip(judge, norm_of(plain), done) is any(bool((part.abs() > clip_value).any()) for part in plain)


def test_by_layer_leaves_a_small_layer_alone() -> None:
    given, plain = gradients(), gradients()
    for members in (given, plain):
        members[2].mul_(1e-3)
    done = clipper([given[:2], given[2:]], clip_mode="layer", clip_norm=0.5).clip(given, norm_of(given), GOES_ON, ONE)
    assert float(norm_of(given[:2])) == pytest.approx(0.5, rel=1e-4)
    assert torch.equal(given[2], plain[2]) and did_clip(clipper(clip_mode="layer"), norm_of(plain), done)
    assert float(done.norm_after) == pytest.approx(float(norm_of(given)), rel=1e-5)


@pytest.mark.parametrize("mode", ["off", "observe"])
def test_off_and_observe_change_nothing(mode: str) -> None:
    given, plain = gradients(scale=10.0), gradients(scale=10.0)
    done = clipper(clip_mode=mode).clip(given, norm_of(given), GOES_ON, ONE)
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(given, plain, strict=True))
    assert did_clip(clipper(clip_mode=mode), norm_of(plain), done) is (mode == "observe")


def test_adaptive_uses_the_percentile_of_recent_valid_norms() -> None:
    adaptive = clipper(clip_mode="adaptive", clip_percentile=75.0, clip_norm=3.0)
    seen: list[float] = []
    for step in range(RECENT_NORMS + 40):
        given = gradients(step, scale=1.0 + step % 7)
        norm = norm_of(given)
        expected = 3.0 if len(seen) < 20 else float(np.percentile(seen[-RECENT_NORMS:], 75.0))
        is_skipped = step % 5 == 3
        shown = norm * torch.nan if is_skipped else norm
        done = adaptive.clip(given, shown, SKIPPED if is_skipped else GOES_ON, ONE)
        assert float(done.threshold) == pytest.approx(expected, rel=1e-4)
        if not is_skipped:
            seen.append(float(norm))
            assert float(done.norm_after) <= expected * (1.0 + 1e-4)


def test_the_adaptive_state_survives_a_checkpoint() -> None:
    first, second = (clipper(clip_mode="adaptive", clip_percentile=50.0) for _ in range(2))
    for step in range(30):
        first.clip(gradients(step), norm_of(gradients(step)), GOES_ON, ONE)
    saved = first.tensors()
    assert all(bool(torch.isfinite(tensor).all()) for tensor in saved.values())
    second.restore(saved)
    given = gradients(99)
    thresholds = [part.clip(gradients(99), norm_of(given), GOES_ON, ONE).threshold for part in (first, second)]
    assert torch.equal(*thresholds)


@pytest.mark.parametrize("mode", ["norm", "adaptive"])
def test_clipping_runs_once_per_step_between_backward_and_step(mode: str) -> None:
    """Clipped twice by the same norm, a gradient would come out smaller than the threshold."""
    limit = 0.05
    settings = GradientSettings(clip_mode=mode, clip_norm=limit)  # type: ignore[arg-type]
    assert float(norm_of(gradients_of(engine(settings), batch()))) == pytest.approx(limit, rel=1e-3)


def test_only_a_clipped_step_is_marked_as_clipped() -> None:
    assert engine(GradientSettings(clip_norm=1e-3)).step(batch(), REFERENCE).clipped
    assert not engine(GradientSettings(clip_norm=1e3)).step(batch(), REFERENCE).clipped
