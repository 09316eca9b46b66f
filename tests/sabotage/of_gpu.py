"""Faults that only a GPU shows: the same line is right on a CPU. The rehearsal (tests/rehearsal) finds them."""

from __future__ import annotations

from dataclasses import replace

from tests.sabotage.fault import Fault

_REHEARSAL = ("tests/rehearsal/test_steps.py", "tests/rehearsal/test_graphs.py")
_FAULTS = (
    Fault(
        "rate-as-a-number",
        "core/training/engine/optimizer.py",
        "rate = torch.tensor(learning_rate, device=flat.values.device) if is_cuda else learning_rate",
        "rate = learning_rate",
    ),
    Fault(
        "rate-in-a-new-tensor",
        "core/training/engine/optimizer.py",
        'group["lr"].fill_(rate)',
        'group["lr"] = torch.full_like(group["lr"], rate)',
    ),
    Fault(
        "optimizer-that-cannot-be-captured",
        "core/training/engine/optimizer.py",
        "fused=True, capturable=is_cuda",
        "fused=True, capturable=False",
    ),
    Fault(
        "levels-on-the-host",
        "core/training/engine/objective.py",
        "torch.tensor(LEVELS, dtype=dtype, device=device)",
        "torch.tensor(LEVELS, dtype=dtype)",
    ),
    Fault(
        "horizons-on-the-host",
        "core/training/engine/objective.py",
        "dtype=self._dtype, device=corrections.device)",
        "dtype=self._dtype)",
    ),
    Fault(
        "horizons-uploaded-in-each-step",
        "core/training/engine/objective.py",
        "torch.arange(1, corrections.shape[1] + 1, dtype",
        "torch.tensor(range(1, corrections.shape[1] + 1), dtype",
    ),
    Fault(
        "total-weight-read-by-the-host",
        "core/training/engine/objective.py",
        "weights / total_weight",
        "weights / float(total_weight)",
    ),
    Fault(
        "guard-that-reads",
        "core/training/engine/guard.py",
        'if self._spike_action == "skip":',
        'if self._spike_action == "skip" and bool(loss > self._limit):',
    ),
    Fault(
        "limit-baked-into-the-graph",
        "core/training/engine/guard.py",
        "factor = torch.where(loss > self._limit, _SPIKE_CLIPS_TO, self._one)",
        "factor = torch.where(loss > self.limit, _SPIKE_CLIPS_TO, self._one)",
    ),
    Fault(
        "limit-in-a-new-tensor",
        "core/training/engine/guard.py",
        "self._limit.fill_(self.limit)",
        "self._limit = torch.full_like(self._limit, self.limit)",
    ),
    Fault(
        "threshold-in-a-new-tensor",
        "core/training/engine/engine.py",
        "self._clipper.bound.fill_(value)",
        "self._clipper.bound = torch.full_like(self._clipper.bound, value)",
    ),
    Fault(
        "norm-remembered-by-indexing",
        "core/training/engine/clipping.py",
        "former = self.recent.index_select(0, place.view(1))",
        "former = self.recent[place].view(1)",
    ),
    Fault(
        "norms-counted-in-a-new-tensor",
        "core/training/engine/clipping.py",
        "self.seen.add_(torch.where(is_skipped, 0, 1))",
        "self.seen = self.seen + torch.where(is_skipped, 0, 1)",
    ),
    Fault(
        "value-bound-read-by-the-host",
        "core/training/engine/clipping.py",
        "torch.clamp(gradient, -bound, bound, out=gradient)",
        "torch.clamp(gradient, -float(bound), float(bound), out=gradient)",
    ),
    Fault(
        "lengths-on-the-host",
        "core/training/engine/gradient_measure.py",
        "torch.tensor(offsets, device=flat.device)",
        "torch.tensor(offsets)",
    ),
    Fault(
        "step-read-number-by-number",
        "core/training/engine/engine.py",
        "self._unpack(packed.tolist(), rate)",
        "self._unpack([float(number) for number in packed], rate)",
    ),
    Fault(
        "corrections-not-brought-to-the-host",
        "core/training/engine/engine.py",
        "output.cpu().double().numpy()",
        "output.double().numpy()",
    ),
    Fault(
        "batch-copied-from-pageable-memory",
        "core/training/engine/staging.py",
        "pin_memory=is_cuda",
        "pin_memory=False",
    ),
    Fault(
        "pinned-memory-written-during-its-copy",
        "core/training/engine/staging.py",
        "self._copied.synchronize()",
        "pass",
    ),
    Fault(
        "batch-at-another-address-each-time",
        "core/training/engine/staging.py",
        "_KEPT = 8",
        "_KEPT = 0",
    ),
    Fault(
        "forecast-graph-trusted-unseen",
        "core/training/engine/cuda_graph.py",
        "if is_same else None, not is_same",
        ", False",
    ),
    Fault(
        "forecast-graph-of-an-untrained-model",
        "core/training/engine/cuda_graph.py",
        "and bool(predicted[0].any())",
        "",
    ),
    Fault(
        "batch-left-zero-after-a-failed-capture",
        "core/training/engine/cuda_graph.py",
        "_copy_into(inputs, given)",
        "pass",
    ),
    Fault(
        "average-that-reads",
        "core/training/engine/optimizer.py",
        "torch.where(is_skipped, self._average, moved, out=self._average)",
        "self._average.copy_(self._average if is_skipped else moved)",
    ),
    Fault(
        "capture-that-stops-other-threads",
        "core/training/engine/cuda_graph.py",
        'capture_error_mode="thread_local"',
        'capture_error_mode="global"',
    ),
    Fault(
        "stream-of-a-failed-capture-kept",
        "core/training/engine/cuda_graph.py",
        "torch.cuda.set_stream(stream)",
        "pass",
    ),
    Fault(
        "random-state-read-in-a-capture",
        "models/transformer.py",
        "preserve_rng_state=False",
        "preserve_rng_state=True",
    ),
    Fault(
        "noise-of-the-other-device",
        "core/training/engine/engine.py",
        '"noise_device": self.device.type',
        '"noise_device": "cpu"',
    ),
    Fault(
        "padding-turned-on-the-host",
        "models/gru.py",
        "(torch.arange(length, device=features.device) - real)",
        "(torch.arange(length) - real)",
    ),
)
FAULTS = tuple(replace(fault, near=_REHEARSAL) for fault in _FAULTS)
