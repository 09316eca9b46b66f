"""One optimizer step, guarded on the device: no non-finite number ever reaches the parameters.

Once the batch is on the device, nothing waits for it before a step's end. Whether a step counts is a flag on the
device, which the fused optimizer, the average and the clip statistics obey; the host reads all numbers of a step in one
piece, and waits only for that.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.domain.diagnosis import GradientStatistics, NonFiniteOrigin
from core.domain.quantities import QUANTITIES, FloatArray
from core.domain.regimes import RegimeProbabilities
from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.clipping import Clipper
from core.training.engine.cuda_graph import CudaGraphs, GraphedForecast, GraphedUpdate, Update
from core.training.engine.flat_parameters import FlatParameters
from core.training.engine.gradient_measure import GradientMeter, finite
from core.training.engine.guard import StepGuard, all_finite, origin_of, skip_reason
from core.training.engine.model_mode import set_mode
from core.training.engine.noise import restore_noise
from core.training.engine.objective import DeviceBatch, QuantileObjective
from core.training.engine.optimizer import AveragedWeights, build_optimizer, is_usable, load_optimizer, set_rate
from core.training.engine.precision import Precision
from core.training.engine.regime_head import RegimeHead, regime_logits
from core.training.engine.replicas import Replicas
from core.training.engine.samples import Batch
from core.training.engine.schedule import RateSchedule
from core.training.engine.staging import Staging
from models.transformer import CandleTransformer

_HEAD = 5
"""Numbers before the loss parts of a step's result: norm, norm after, threshold, skipped, loss scale."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step. A skipped step has no loss and names its reason; all state is unchanged, bit for bit.

    A completed step that left non-finite parameters has them as its origin.
    """

    loss: float | None
    gradient_norm: float | None
    """Total 2-norm before clipping."""
    clipped: bool
    threshold: float | None
    """The threshold used for clipping; None in mode off."""
    gradients: GradientStatistics | None
    skipped_because: str | None = None
    is_spike: bool = False
    """Far above the usual loss, and finite."""
    parameters_are_finite: bool = True
    learning_rate: float = 0.0

    @property
    def origin(self) -> NonFiniteOrigin | None:
        """The origin of a non-finite number, if any."""
        return None if self.gradients is None else self.gradients.non_finite

    def beside(self, anchor_loss: float | None) -> StepResult:
        """Add the loss of the same samples without the model's corrections."""
        if self.gradients is None:
            return self
        return replace(self, gradients=replace(self.gradients, anchor_loss=anchor_loss))

    def with_non_finite_parameters(self) -> StepResult:
        """Mark it as having left parameters that are not finite; its own numbers did not show it."""
        if self.gradients is None:
            return self
        return replace(self, gradients=replace(self.gradients, non_finite=NonFiniteOrigin.PARAMETERS))


class TrainingEngine:
    """Owns the model, its optimizer and all state that a step changes, on one device. Used from one thread only."""

    def __init__(
        self,
        model: nn.Module,
        device: torch.device,
        training: TrainingSettings,
        gradients: GradientSettings,
        seed: int = 0,
        spike_action: str = "mark",
        replicas: Replicas | None = None,
        graphs: CudaGraphs | None = None,
        penalty_power: int = 1,
    ) -> None:
        """graphs: the backend that captures whole steps; None runs every step eagerly. penalty_power: see
        `QuantileObjective`."""
        self.model = model.to(device)
        self.device = device
        self._learning_rate = training.learning_rate
        self.rate_factor = 1.0
        """Less than 1 after a rollback; saved in checkpoints."""
        self._micro_batches = gradients.accumulation
        self._gradient_settings = gradients
        self._flat = FlatParameters(self.model, training.weight_decay)
        self._replicas = replicas or Replicas(self.model)
        dtype = self._flat.values.dtype
        self._objective = QuantileObjective(device, dtype, training.shrinkage, penalty_power)
        self._staging = Staging(device, dtype, is_fixed=device.type == "cuda" or graphs is not None)
        self.optimizer = build_optimizer(self._flat, self.learning_rate)
        self._meter = GradientMeter(self._flat)
        self._clip_norm = gradients.clip_norm
        """The same number as the clipper's bound, to be read without waiting."""
        self._clipper = Clipper(gradients, device, self._flat.layer_gradients())
        self._precision = Precision(training.precision, device)
        self.schedule = RateSchedule(training)
        self._average = (
            AveragedWeights(self.model, self._flat, training.ema_decay) if training.ema_decay > 0.0 else None
        )
        self._seed = seed
        self._noise = torch.Generator(device).manual_seed(seed)
        # Not of a user's subclass, whose forward pass may leave no states.
        self._regimes = RegimeHead(model, dtype, device) if type(model) is CandleTransformer else None
        self._state = torch.empty(0, device=device)
        """The last states of the newest forecast, which the regime head reads; empty of another model."""
        self._guard = StepGuard(spike_action, self._replicas, dtype, device)
        self._run: Update = self._update
        self._graphed: GraphedUpdate | None = None
        self._graphed_forecast: GraphedForecast | None = None
        if graphs is not None:
            self._graphed_forecast = GraphedForecast(self._forecast, graphs)
        is_fixed = not self._precision.has_scaler and gradients.noise == 0.0
        if graphs is not None and is_fixed:  # the scaler's state is not in `live`, and noise cannot be compared
            self._run = self._graphed = GraphedUpdate(self._update, self.live, self._flat.clear, graphs)
        self.is_half_done = False
        """Whether the newest step, if it raised, had begun to change the state, so that a restore is needed."""

    @property
    def learning_rate(self) -> float:
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        """Set the rate, and reset the factor of rollbacks: a new rate is meant as given."""
        self._learning_rate = value
        self.rate_factor = 1.0

    @property
    def micro_batches(self) -> int:
        """Number of pieces a batch is split into; the result is the same."""
        return self._micro_batches

    @micro_batches.setter
    def micro_batches(self, count: int) -> None:
        self._micro_batches = count
        self._forget_graph()

    @property
    def keeps_graph(self) -> bool:
        """Whether steps are captured as a graph, which is of one size of batch."""
        return self._graphed is not None and self._graphed.refused_because is None

    @property
    def execution(self) -> str:
        """The mode in which steps run, for display."""
        if self._graphed is None:
            return "eager"
        if self._graphed.refused_because is not None:
            return f"eager: {self._graphed.refused_because}"
        return "CUDA graph" if self._graphed.is_captured else "eager so far"

    @property
    def clip_mode(self) -> str:
        return self._gradient_settings.clip_mode

    @property
    def clip_norm(self) -> float:
        """The threshold of the modes norm, layer and observe, and adaptive's first."""
        return self._clip_norm

    @clip_norm.setter
    def clip_norm(self, value: float) -> None:
        self._clip_norm = value
        self._clipper.bound.fill_(value)

    @property
    def rate_in_force(self) -> float:
        """The configured rate times the factor of rollbacks: the base of the schedule."""
        return self._learning_rate * self.rate_factor

    @property
    def rate_now(self) -> float:
        """The learning rate of the next step: the rate in force times the schedule's factor."""
        return self.rate_in_force * self.schedule.factor

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers' names, in the order of the statistics."""
        return self._flat.layers

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        return self._flat.values.numel()

    def expect_loss_below(self, limit: float | None) -> None:
        """Treat a loss above this as a spike from the next step on; None: none is."""
        self._guard.expect_loss_below(limit)

    @property
    def forecasting_model(self) -> nn.Module:
        """The model used for forecasts: the averaged weights if there are any, else the trained ones."""
        return self.model if self._average is None else self._average.model

    def corrections(self, features: np.ndarray, is_real: np.ndarray, model: nn.Module | None = None) -> FloatArray:
        """The model's corrections of normalised quantiles, in eval mode: [B, H, Q, L].

        model: another model of the same shape on the same device; None: the forecasting model.
        """
        forecast = self._graphed_forecast or self._forecast
        set_mode(model or self.forecasting_model, trains=False)
        placed = self._staging.place(features, is_real)
        with torch.inference_mode(), self._precision.autocast():
            if model is None:
                output, self._state = forecast(*placed)
            else:
                output = model(*placed)
        return output.cpu().double().numpy()

    def _forecast(self, features: Tensor, is_real: Tensor) -> tuple[Tensor, Tensor]:
        """The forecasting model's output, and its last states."""
        model = self.forecasting_model
        output: Tensor = model(features, is_real)
        return output, model.state if isinstance(model, CandleTransformer) else output[:0]

    def next_regimes(self, now: NDArray[np.float32]) -> list[RegimeProbabilities | None]:
        """The regime that the model forecasts for the next candle, for each sample of its newest `corrections`. now:
        the mixture's probabilities at the newest candle [B, 3], zeros where they are not known. None where there is no
        finite forecast, and of a model without a regime head."""
        if self._regimes is None:
            return [None] * len(now)
        (logits,) = self._staging.place(regime_logits(now))
        predicted = self._regimes.predict(self._state, logits).cpu().double().numpy()
        is_given = now.any(axis=1) & np.isfinite(predicted).all(axis=1)
        return [RegimeProbabilities(*row.tolist()) if is_given[place] else None for place, row in enumerate(predicted)]

    def step(self, batch: Batch, reference: FloatArray) -> StepResult:
        """Train on one batch, and wait for the result.

        reference: normalised quantiles that the model corrects: [H, Q, L] for all samples, or [B, H, Q, L]. Torch's
        errors are raised; then the gradients are cleared, and the state is unchanged unless `is_half_done`.

        The gradients are freed at the start of the next step: freed at the end of this one they would leave the top of
        the heap free, which the C library returns to the system, and each forward pass would page it in again (4 % of a
        step).
        """
        self.is_half_done = False
        self._flat.clear()
        set_mode(self.model, trains=True)
        rate = self.rate_now
        set_rate(self.optimizer, rate)
        try:
            packed = self._run(DeviceBatch(*self._staging.place(*batch.arrays, reference)))
        except BaseException:
            self._flat.clear()
            self._precision.reset()
            self._forget_graph()
            raise
        return self._unpack(packed.tolist(), rate)

    def reproduce(self, batch: Batch, reference: FloatArray) -> None:
        """Forward and backward without a step, to reproduce a failure. Torch's errors are raised."""
        set_mode(self.model, trains=True)
        try:
            self._backward(DeviceBatch(*self._staging.place(*batch.arrays, reference)))
        finally:
            self._flat.clear()

    def skipped_step(self, because: str, origin: NonFiniteOrigin | None) -> StepResult:
        """The result of a step that never computed gradients: its statistics are empty."""
        nothing = self._meter.nothing().statistics(math.nan, [math.nan] * QUANTITIES, None, origin)
        return StepResult(None, None, False, None, nothing, because, learning_rate=self.rate_now)

    def is_finite(self) -> bool:
        """Whether every parameter, moment and average is finite."""
        return all_finite([*self._weights(), *self._moments().values()])

    def live(self) -> list[Tensor]:
        """The tensors that a step changes, themselves, not copies."""
        return [*self._weights(), *self._moments().values(), *self._meter.live, *self._clipper.live]

    def _weights(self) -> list[Tensor]:
        """The trained weights in one tensor, their average, if any, in another, and the regime head's."""
        averages = [] if self._average is None else self._average.live
        return [self._flat.values, *averages, *(() if self._regimes is None else (self._regimes.weights,))]

    def _moments(self) -> dict[str, Tensor]:
        """The optimizer's state, by "optimizer.<group>.<name>"; empty before the first step."""
        entries = (self.optimizer.state.get(parameter, {}) for parameter, _, _ in self._flat.groups)  # in any order
        return {f"optimizer.{group}.{name}": value for group, of in enumerate(entries) for name, value in of.items()}

    def _forget_graph(self) -> None:
        for graphed in (self._graphed, self._graphed_forecast):
            if graphed is not None:
                graphed.forget()

    def _update(self, batch: DeviceBatch) -> Tensor:
        """Forward, backward, guard, clip, step, measure. Device work only."""
        self.is_half_done = False
        parts = self._backward(batch)
        self._flat.collect()
        self._precision.unscale(self.optimizer)
        scale = self._precision.scale()  # before the step, which may change it
        is_capturing = self.device.type == "cuda" and torch.cuda.is_current_stream_capturing()
        self.is_half_done = not is_capturing  # while a graph is captured, the device does nothing
        if self._gradient_settings.noise > 0.0:
            noise = torch.empty_like(self._flat.gradient).normal_(generator=self._noise)
            self._flat.gradient.add_(noise, alpha=self._gradient_settings.noise)
        norm = self._meter.gradients()
        is_skipped, clip_factor = self._guard.check(parts, norm)
        clipped = self._clipper.clip([self._flat.gradient], norm, is_skipped, clip_factor)
        self._precision.step(self.optimizer, is_skipped)
        if self._average is not None:
            self._average.follow(is_skipped)
        if self._regimes is not None:
            self._regimes.step(is_skipped)
        head = norm, clipped.norm_after, clipped.threshold, is_skipped.to(parts.dtype), scale.to(parts.dtype)
        return torch.cat((torch.stack(head), parts, self._meter.packed()))

    def _backward(self, batch: DeviceBatch) -> Tensor:
        """Gradients of the whole batch's loss, however it is split. Returns the loss's parts [Q]."""
        total_weight = self._replicas.share_of_weight(batch.weights.sum())
        micro_batches = batch.split(self._micro_batches)
        parts: Tensor | None = None
        if self._regimes is not None:
            self._regimes.begin()
        for index, micro_batch in enumerate(micro_batches):
            is_last = index == len(micro_batches) - 1
            with contextlib.nullcontext() if is_last else self._replicas.without_exchange():
                with self._precision.autocast():
                    corrections = self._replicas.model(micro_batch.features, micro_batch.is_real)
                own = self._objective.parts(corrections, micro_batch, total_weight)
                self._precision.backward(own.sum())
            if self._regimes is not None:
                self._regimes.observe(micro_batch.regimes, batch.size)
            parts = own.detach() if parts is None else parts + own.detach()
        assert parts is not None
        return self._replicas.mean(parts)

    def _unpack(self, numbers: list[float], rate: float) -> StepResult:
        norm, norm_after, threshold, is_skipped, scale = numbers[:_HEAD]
        parts, measurements = numbers[_HEAD : _HEAD + QUANTITIES], self._meter.unpack(numbers[_HEAD + QUANTITIES :])
        loss = sum(parts)
        is_spike = math.isfinite(loss) and loss > self._guard.limit
        parameters_are_finite = math.isfinite(measurements.parameter_norm)
        origin = origin_of(math.isfinite(loss), math.isfinite(norm), parameters_are_finite)
        if is_skipped:
            self._flat.clear()
        else:
            self.schedule.advance()
        return StepResult(
            loss=None if is_skipped else loss,
            gradient_norm=finite(norm),
            clipped=not is_skipped and self._clipper.did_clip(norm, norm_after, threshold),
            threshold=finite(threshold),
            gradients=measurements.statistics(norm_after, parts, scale if self._precision.has_scaler else None, origin),
            skipped_because=skip_reason(origin) if is_skipped else None,
            is_spike=is_spike and origin is None,
            parameters_are_finite=parameters_are_finite,
            learning_rate=rate,
        )

    def tensors(self) -> dict[str, Tensor]:
        """All tensors needed to resume, by name: weights, moments, average, clip statistics, noise."""
        parts: dict[str, dict[str, Tensor]] = {"model": self.model.state_dict(), "clip": self._clipper.tensors()}
        if self._average is not None:
            parts["average"] = self._average.tensors()
        if self._regimes is not None:
            parts["regimes"] = {"weights": self._regimes.weights}
        named = {f"{part}.{name}": tensor for part, state in parts.items() for name, tensor in state.items()}
        return {**named, **self._moments(), "noise": self._noise.get_state()}

    def pieces(self) -> dict[str, Tensor]:
        """The state of `tensors` with the weights, and their average, in one piece each: few tensors to copy."""
        weights = {f"weights.{index}": tensor for index, tensor in enumerate(self._weights())}
        clip = {"clip.recent": self._clipper.recent, "clip.seen": self._clipper.seen}
        return {**weights, **clip, **self._moments(), "noise": self._noise.get_state()}

    def scalars(self) -> dict[str, Any]:
        """The rest of the state, as JSON."""
        return {
            "learning_rate": self.learning_rate,
            "rate_factor": self.rate_factor,
            "clip_norm": self.clip_norm,
            "schedule": self.schedule.state(),
            "scaler": self._precision.state(),
            "noise_device": self.device.type,
        }

    def restore(self, tensors: dict[str, Tensor], scalars: dict[str, Any]) -> bool:
        """Take the state of `tensors` and `scalars`, except for the configured rate and threshold, which stay.

        The factor of rollbacks applies only to the rate it was found for: it is dropped if the rate was changed since.

        Returns False if the moments were missing or not finite, and a new optimizer replaced them.
        """
        self.model.load_state_dict(part_of(tensors, "model"))
        if self._regimes is not None:
            self._regimes.weights.copy_(tensors["regimes.weights"])
        if self._average is not None:
            self._average.restore(part_of(tensors, "average") or part_of(tensors, "model"))
        return self._restore_rest(tensors, scalars)

    def restore_pieces(self, pieces: dict[str, Tensor], scalars: dict[str, Any]) -> bool:
        """Take the state of `pieces` and `scalars`, as `restore` does."""
        for index, tensor in enumerate(self._weights()):
            tensor.copy_(pieces[f"weights.{index}"])
        return self._restore_rest(pieces, scalars)

    def _restore_rest(self, tensors: dict[str, Tensor], scalars: dict[str, Any]) -> bool:
        """All but the weights and their average."""
        if clip := part_of(tensors, "clip"):
            self._clipper.restore(clip)
        if "noise" in tensors:
            done = int(scalars["schedule"]["done"])
            restore_noise(self._noise, tensors["noise"], scalars["noise_device"], self._seed, done)
        is_same_rate = float(scalars["learning_rate"]) == self._learning_rate
        self.rate_factor = float(scalars["rate_factor"]) if is_same_rate else 1.0
        self.schedule.restore(scalars["schedule"])
        self._precision.restore(scalars["scaler"])
        self._meter.forget()
        self._forget_graph()
        moments = part_of(tensors, "optimizer")
        if is_usable(moments, self._flat):
            load_optimizer(self.optimizer, moments)
            return True
        self.optimizer = build_optimizer(self._flat, self.learning_rate)
        return not moments and not scalars["schedule"]["done"]


def part_of(tensors: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    """The tensors whose names start with `part` and a dot, without that prefix."""
    start = f"{part}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
