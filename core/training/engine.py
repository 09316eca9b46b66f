"""One optimizer step, guarded: nothing that is not finite ever reaches the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from core.forecast.quantities import LEVELS, FloatArray
from core.training.samples import Batch
from models.losses import pinball, quantiles_of, weighted_mean


@dataclass(frozen=True, slots=True)
class StepResult:
    """What came of one step. A skipped step has no loss and names its reason; parameters are as before."""

    loss: float | None
    gradient_norm: float | None
    clipped: bool
    skipped_because: str | None = None


class TrainingEngine:
    """Owns the model and its optimizer, on one device. Used from one thread only."""

    def __init__(
        self, model: nn.Module, device: torch.device, learning_rate: float, weight_decay: float, clip_norm: float
    ) -> None:
        self.model = model.to(device)
        self.device = device
        self.clip_norm = clip_norm
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=learning_rate, weight_decay=weight_decay, betas=(0.9, 0.95), fused=True
        )
        self._levels = torch.tensor(LEVELS, dtype=torch.float32, device=device)

    @property
    def learning_rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = value

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def corrections(self, features: np.ndarray, is_real: np.ndarray) -> FloatArray:
        """The model's corrections of the reference's normalised quantiles, in eval mode: [B, H, Q, L]."""
        self.model.eval()
        with torch.inference_mode():
            output: Tensor = self.model(self._tensor(features), self._tensor(is_real))
        return output.double().cpu().numpy()

    def step(self, batch: Batch, reference: FloatArray) -> StepResult:
        """Train on one batch. reference: normalised quantiles [H, Q, L] that the model corrects.

        A failing backward pass is a skipped step, not a zero loss: a made-up loss would poison "best" and the curve.
        """
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        try:
            loss = self._loss(batch, reference)
            reason, norm = self._backward(loss)
        except RuntimeError as error:
            self.optimizer.zero_grad(set_to_none=True)
            return StepResult(None, None, False, f"the step failed: {error}")
        if reason is None:
            self._apply(norm)
        self.optimizer.zero_grad(set_to_none=True)
        if reason is not None or norm is None:
            return StepResult(None, None, False, reason)
        value, total = float(loss.detach()), float(norm)
        return StepResult(value, total, total > self.clip_norm)

    def is_finite(self) -> bool:
        """Whether every parameter and every moment is a finite number."""
        state = [value for entry in self.optimizer.state.values() for value in entry.values()]
        tensors = [*self.model.parameters(), *(value for value in state if isinstance(value, Tensor))]
        return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)

    def _loss(self, batch: Batch, reference: FloatArray) -> Tensor:
        corrections = self.model(self._tensor(batch.features), self._tensor(batch.is_real))
        base = torch.as_tensor(reference, dtype=torch.float32, device=self.device)
        quantiles = quantiles_of(base, corrections)
        losses = pinball(self._tensor(batch.targets), quantiles, self._levels)
        return weighted_mean(losses, self._tensor(batch.weights))

    def _backward(self, loss: Tensor) -> tuple[str | None, Tensor | None]:
        """Gradients and their total norm. Checked before clipping: clipping by a NaN norm makes every gradient NaN."""
        if not bool(torch.isfinite(loss)):
            return "the loss was not finite", None
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        norm = nn.utils.get_total_norm(gradients)
        if not bool(torch.isfinite(norm)):
            return "the gradients were not finite", None
        return None, norm

    def _apply(self, norm: Tensor | None) -> None:
        assert norm is not None
        nn.utils.clip_grads_with_norm_(self.model.parameters(), self.clip_norm, norm)
        self.optimizer.step()

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
