"""The chart's data: candles, forecasts and outcomes, by index."""
