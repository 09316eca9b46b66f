"""The sizes that every model is built from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes of a model, and its non-linearity. `heads` divides `width`."""

    features: int
    context: int
    width: int
    layers: int
    heads: int
    horizons: int
    quantities: int
    levels: int
    activation: str = "gelu"
    others: int = 0
    """Further features, after the others: of the markets that are learned together with this one."""
    recompute: bool = False
    """Recompute the activations of the blocks in the backward pass instead of storing them (gradient checkpointing)."""

    @property
    def inputs(self) -> int:
        """All features of a candle."""
        return self.features + self.others
