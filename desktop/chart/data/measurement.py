"""How far it is from one place on the chart to another."""

from __future__ import annotations

from dataclasses import dataclass

from desktop.chart.data.model import ChartModel


@dataclass(frozen=True, slots=True)
class Mark:
    """A candle, by its opening time, and a price. Times stay right when candles come late; indices would not."""

    time_ms: int
    price: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """From one mark to another."""

    start: Mark
    end: Mark


@dataclass(frozen=True, slots=True)
class Measured:
    """What lies between: from the start's price to the end's, and over the candles from one to the other."""

    change: float
    share: float | None
    """The change as a share of the start's price; None where that is zero."""
    candles: int
    """Steps from one candle to the other, 0 for the same, and for less time than a candle lasts."""
    duration_ms: int
    volume: float | None
    """Of all candles that are touched, both ends too. None for less time than a candle lasts, as when what was
    measured over short candles is shown over long ones: the volume of a whole one would not be its."""

    @property
    def is_within_candle(self) -> bool:
        """Whether it lasts, but less than a candle."""
        return self.volume is None


def measured(measurement: Measurement, model: ChartModel) -> Measured:
    """The numbers of a measurement. Ahead of the newest candle nothing has been traded."""
    start, end = measurement.start, measurement.end
    change = end.price - start.price
    first, last = sorted((model.index_around(start.time_ms) or 0, model.index_around(end.time_ms) or 0))
    duration_ms = abs(end.time_ms - start.time_ms)
    is_short = model.series is not None and 0 < duration_ms < model.series.interval.duration_ms
    return Measured(
        change=change,
        share=change / start.price if start.price else None,
        candles=0 if is_short else last - first,
        duration_ms=duration_ms,
        volume=None if is_short else _volume(model, first, last),
    )


def _volume(model: ChartModel, first: int, last: int) -> float:
    closed = 0.0 if model.series is None else float(model.series.volume[first : last + 1].sum())
    is_forming_in = model.forming is not None and first <= model.count <= last
    return closed + (model.forming.volume if model.forming is not None and is_forming_in else 0.0)
