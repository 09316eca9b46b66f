"""Technical indicators over a candle series: the registry, their parameters, and incrementally updated values."""
